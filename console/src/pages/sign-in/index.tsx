import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { PageTitle } from '../../components/page-title.js'
import { Failure } from '../../components/states.js'
import { signInBeside } from '../../state/oidc-window.js'
import { beginSignIn } from '../../state/oidc.js'
import { serverConfig, type OidcConfig, type ServerConfig } from '../../state/server-config.js'
import { isSendable, NOT_SENDABLE } from '../../text/header-value.js'
import { isExpired, isRemembered, signIn, type Credentials } from '../../state/session.js'

const PRINCIPAL = /^[^\s:]+:\S+$/

/** Asks for the credentials of the auth mode. The URL stays, so that the reader returns to the same place. */
export function SignInPage () {
  const config = serverConfig.value
  if (config === undefined) return null
  return (
    <div class='narrow'>
      <PageTitle title='Sign in' about={ABOUT[config.auth_mode]} />
      {isExpired.value && <p class='notice' role='status'>The server no longer takes your credentials. After the sign-in you are where you were.</p>}
      {config.oidc !== undefined && <ProviderForm oidc={config.oidc} />}
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

/** An expired sign-in is renewed in a separate window, so that the page keeps what was typed on it. */
function ProviderForm ({ oidc }: { oidc: OidcConfig }) {
  const [remember, setRemember] = useState(isRemembered.value)
  const [error, setError] = useState<unknown>(undefined)
  const [isWaiting, setIsWaiting] = useState(false)
  const controller = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => { controller.current?.abort() }, [])
  const leave = () => {
    setError(undefined)
    beginSignIn(oidc, location.pathname + location.search, remember).catch(setError)
  }
  const open = async () => {
    controller.current?.abort()
    const { signal } = controller.current = new AbortController()
    setError(undefined)
    setIsWaiting(true)
    try {
      await signIn({ token: await signInBeside(oidc, signal) }, remember)
    } catch (reason) {
      if (signal.aborted) return
      setError(reason)
      setIsWaiting(false)
    }
  }
  const title = `Sign in at ${new URL(oidc.issuer).host}`
  return (
    <div class='card'>
      {error !== undefined && <Failure error={error} />}
      <Remember value={remember} onChange={setRemember} />
      {isWaiting && <p role='status'>Sign in in the window that was opened. Was it closed? Then open it again.</p>}
      <div class='actions'>
        {isExpired.value
          ? (
            <>
              <button type='button' class='primary' onClick={() => { void open() }}>{isWaiting ? 'Open it again' : title}</button>
              <button type='button' onClick={leave}>Sign in in this tab: what was typed is lost</button>
            </>
            )
          : <button type='button' class='primary' onClick={leave}>{title}</button>}
      </div>
    </div>
  )
}

function CredentialsForm ({ config: { auth_mode: mode, oidc } }: { config: ServerConfig }) {
  const [principal, setPrincipal] = useState('')
  const [secret, setSecret] = useState('')
  const [remember, setRemember] = useState(isRemembered.value)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const wantsPrincipal = mode === 'dev' || mode === 'api_key'
  const wantsSecret = mode !== 'dev'
  const isKey = mode === 'api_key'
  const principalFault = !isSendable(principal)
    ? NOT_SENDABLE
    : principal !== '' && !PRINCIPAL.test(principal) ? 'Usually <type>:<id>, for example user:alice.' : undefined

  const submit = async () => {
    const given: Credentials = {
      ...(wantsPrincipal && principal !== '' && { principal }),
      ...(wantsSecret && (isKey ? { apiKey: secret } : { token: secret.replace(/^bearer\s+/i, '') })),
    }
    if (!isSendable(principal) || !isSendable(secret)) return
    setIsBusy(true)
    setError(undefined)
    try {
      await signIn(given, remember)
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
        <Field
          label={isKey ? 'API key' : 'Token'} error={isSendable(secret) ? undefined : NOT_SENDABLE}
          hint={isKey ? 'SERVICE_API_KEY of the server.' : 'A JWT, as it stands behind "Bearer".'}
        >
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
          error={principalFault}
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
