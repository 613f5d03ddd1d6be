import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { PageTitle } from '../../components/page-title.js'
import { Failure } from '../../components/states.js'
import { signInWithPopup } from '../../state/oidc-popup.js'
import { redirectToProvider } from '../../state/oidc.js'
import { serverConfig, type OidcConfig, type ServerConfig } from '../../state/server-config.js'
import { isValidHeaderValue, INVALID_HEADER_VALUE } from '../../text/header-value.js'
import { isExpired, isRemembered, signIn, type Credentials } from '../../state/session.js'

const PRINCIPAL = /^[^\s:]+:\S+$/
/** The client encodes other characters of a principal so that a header can contain them. */
const CONTROL_CHARACTER = /\p{Cc}/u

/** Asks for the credentials of the auth mode. The URL stays, so that the user returns to the same page. */
export function SignInPage () {
  const config = serverConfig.value
  if (config === undefined) return null
  return (
    <div class='narrow'>
      <PageTitle title='Sign in' about={ABOUT[config.auth_mode]} />
      {isExpired.value &&
        <p
          class='notice'
          role='status'
        >
          The server no longer accepts your credentials. After you sign in, the page is as you left it.
        </p>}
      {config.oidc !== undefined && <ProviderForm oidc={config.oidc} />}
      <CredentialsForm config={config} />
    </div>
  )
}

const ABOUT: Record<ServerConfig['auth_mode'], string> = {
  dev: 'This server is in dev mode: it accepts any principal without proof.',
  api_key: 'This server asks for its API key and the principal that you act as.',
  jwt_hs256: 'This server asks for a signed token.',
  jwt_oidc: 'This server asks for a token of its identity provider.',
  host: 'The app that this server is part of identifies you: sign in there first.',
}

function RememberCheckbox ({ value, onChange }: { value: boolean, onChange: (value: boolean) => void }) {
  return (
    <label class='check'>
      <input type='checkbox' checked={value} onChange={({ currentTarget }) => { onChange(currentTarget.checked) }} />
      Stay signed in when this tab is loaded again
    </label>
  )
}

/** An expired sign-in is renewed in a separate window, so that the page keeps its input. */
function ProviderForm ({ oidc }: { oidc: OidcConfig }) {
  const [remember, setRemember] = useState(isRemembered.value)
  const [error, setError] = useState<unknown>(undefined)
  const [isWaiting, setIsWaiting] = useState(false)
  const controller = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => { controller.current?.abort() }, [])
  const redirect = () => {
    setError(undefined)
    redirectToProvider(oidc, location.pathname + location.search, remember).catch(setError)
  }
  const openPopup = async () => {
    controller.current?.abort()
    const { signal } = controller.current = new AbortController()
    setError(undefined)
    setIsWaiting(true)
    try {
      await signIn({ token: await signInWithPopup(oidc, signal) }, remember)
    } catch (failure) {
      if (signal.aborted) return
      setError(failure)
      setIsWaiting(false)
    }
  }
  const title = `Sign in at ${new URL(oidc.issuer).host}`
  return (
    <div class='card'>
      {error !== undefined && <Failure error={error} />}
      <RememberCheckbox value={remember} onChange={setRemember} />
      {isWaiting && <p role='status'>Continue in the window that was opened. If it is closed, open it again.</p>}
      <div class='actions'>
        {isExpired.value
          ? (
            <>
              <button
                type='button'
                class='primary'
                onClick={() => { void openPopup() }}
              >
                {isWaiting ? 'Open the window again' : title}
              </button>
              <button type='button' onClick={redirect}>Sign in in this tab (discards your input)</button>
            </>
            )
          : <button type='button' class='primary' onClick={redirect}>{title}</button>}
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
  const needsPrincipal = mode === 'dev' || mode === 'api_key'
  const needsSecret = mode !== 'dev' && mode !== 'host'
  const isKey = mode === 'api_key'
  const isPrincipalInvalid = CONTROL_CHARACTER.test(principal)
  const principalError = isPrincipalInvalid
    ? INVALID_HEADER_VALUE
    : principal !== '' && !PRINCIPAL.test(principal) ? 'Usually <type>:<id>, for example user:alice.' : undefined

  const submit = async () => {
    const credentials: Credentials = {
      ...(needsPrincipal && principal !== '' && { principal }),
      ...(needsSecret && (isKey ? { apiKey: secret } : { token: secret.replace(/^bearer\s+/i, '') })),
    }
    if (isPrincipalInvalid || !isValidHeaderValue(secret)) return
    setIsBusy(true)
    setError(undefined)
    try {
      await signIn(credentials, remember)
    } catch (failure) {
      setError(failure)
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
      {needsSecret && (
        <Field
          label={isKey ? 'API key' : 'Token'} error={isValidHeaderValue(secret) ? undefined : INVALID_HEADER_VALUE}
          hint={isKey ? 'SERVICE_API_KEY of the server.' : 'A JWT, without "Bearer".'}
        >
          {(attributes) => (
            <input
              {...attributes} type='password' required autocomplete='off' value={secret}
              onInput={({ currentTarget }) => { setSecret(currentTarget.value.trim()) }}
            />
          )}
        </Field>
      )}
      {needsPrincipal && (
        <Field
          label='Principal' hint={mode === 'dev'
            ? 'For example user:alice. Empty: anonymous.'
            : 'For example user:alice.'}
          error={principalError}
        >
          {(attributes) => (
            <input
              {...attributes} aria-invalid={false} required={isKey} autocomplete='username' spellcheck={false}
              value={principal}
              onInput={({ currentTarget }) => { setPrincipal(currentTarget.value.trim()) }}
            />
          )}
        </Field>
      )}
      <RememberCheckbox value={remember} onChange={setRemember} />
      <div class='actions'>
        <button type='submit' class='primary' disabled={isBusy}>{isBusy ? 'Signing in…' : 'Sign in'}</button>
      </div>
    </form>
  )
}
