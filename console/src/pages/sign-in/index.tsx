import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { PageTitle } from '../../components/page-title.js'
import { Failure } from '../../components/states.js'
import { beginSignIn } from '../../state/oidc.js'
import { serverConfig, type ServerConfig } from '../../state/server-config.js'
import { clientOf, isExpired, signIn, type Credentials } from '../../state/session.js'

const PRINCIPAL = /^[^\s:]+:\S+$/

/** Asks for what the auth mode needs. The place in the URL stays, so that the reader is there afterwards. */
export function SignInPage () {
  const config = serverConfig.value
  if (config === undefined) return null
  return (
    <div class='narrow'>
      <PageTitle title='Sign in' about={ABOUT[config.auth_mode]} />
      {isExpired.value && <p class='notice' role='status'>The server no longer takes your credentials. After the sign-in you are where you were.</p>}
      {config.oidc !== undefined && <ProviderForm config={config} />}
      <CredentialsForm config={config} />
    </div>
  )
}

const ABOUT: Record<ServerConfig['auth_mode'], string> = {
  dev: 'This server is in dev mode: it believes whoever you say you are.',
  api_key: 'This server asks for its API key, and whom you act as.',
  jwt_hs256: 'This server asks for a signed token.',
  jwt_oidc: 'This server asks for a token of its identity provider.',
}

function Remember ({ value, onChange }: { value: boolean, onChange: (value: boolean) => void }) {
  return (
    <label class='check'>
      <input type='checkbox' checked={value} onChange={({ currentTarget }) => { onChange(currentTarget.checked) }} />
      Stay signed in when this tab is loaded again
    </label>
  )
}

function ProviderForm ({ config }: { config: ServerConfig }) {
  const [remember, setRemember] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const { oidc } = config
  if (oidc === undefined) return null
  const begin = () => {
    setIsBusy(true)
    beginSignIn(oidc, location.pathname + location.search, remember).catch((reason: unknown) => {
      setError(reason)
      setIsBusy(false)
    })
  }
  return (
    <div class='card'>
      {error !== undefined && <Failure error={error} />}
      <Remember value={remember} onChange={setRemember} />
      <div class='actions'>
        <button type='button' class='primary' disabled={isBusy} onClick={begin}>Sign in at {new URL(oidc.issuer).host}</button>
      </div>
    </div>
  )
}

function CredentialsForm ({ config: { auth_mode: mode, oidc } }: { config: ServerConfig }) {
  const [principal, setPrincipal] = useState('')
  const [secret, setSecret] = useState('')
  const [remember, setRemember] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const wantsPrincipal = mode === 'dev' || mode === 'api_key'
  const wantsSecret = mode !== 'dev'
  const isKey = mode === 'api_key'
  const isPrincipalOdd = principal !== '' && !PRINCIPAL.test(principal)

  const submit = async () => {
    const given: Credentials = {
      ...(wantsPrincipal && principal !== '' && { principal }),
      ...(wantsSecret && (isKey ? { apiKey: secret } : { token: secret.replace(/^bearer\s+/i, '') })),
    }
    setIsBusy(true)
    setError(undefined)
    try {
      const { principal: name, tenant_id: tenant, on_behalf_of: other } = await clientOf(given).whoami()
      signIn(given, remember, JSON.stringify([name, tenant, other]))
    } catch (reason) {
      setError(reason)
      setIsBusy(false)
    }
  }
  return (
    <form
      class='card' onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {oidc !== undefined && <h2>Or with a token</h2>}
      {error !== undefined && <Failure error={error} />}
      {wantsSecret && (
        <Field label={isKey ? 'API key' : 'Token'} hint={isKey ? 'SERVICE_API_KEY of the server.' : 'A JWT, as it stands behind "Bearer".'}>
          {(attributes) => (
            <input
              {...attributes} type='password' required autocomplete='off' value={secret}
              onInput={({ currentTarget }) => { setSecret(currentTarget.value.trim()) }}
            />
          )}
        </Field>
      )}
      {wantsPrincipal && (
        <Field
          label='Principal' hint={mode === 'dev' ? 'For example user:alice. Empty: anonymous.' : 'For example user:alice.'}
          error={isPrincipalOdd ? 'Usually <type>:<id>, for example user:alice.' : undefined}
        >
          {(attributes) => (
            <input
              {...attributes} aria-invalid={false} required={isKey} autocomplete='username' spellcheck={false} value={principal}
              onInput={({ currentTarget }) => { setPrincipal(currentTarget.value.trim()) }}
            />
          )}
        </Field>
      )}
      <Remember value={remember} onChange={setRemember} />
      <div class='actions'><button type='submit' class='primary' disabled={isBusy}>{isBusy ? 'Signing in…' : 'Sign in'}</button></div>
    </form>
  )
}
