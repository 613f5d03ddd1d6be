import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { serverConfig } from '../state/server-config.js'
import { adminToken, setAdminToken, isAdminRefused } from '../state/session.js'
import { isValidHeaderValue, INVALID_HEADER_VALUE } from '../text/header-value.js'
import { Field } from './field.js'

/** Shows its content to operators: if the server has an admin token, a form asks for it first. */
export function AdminGate ({ feature, children }: { feature: string, children: ComponentChildren }) {
  const [token, setToken] = useState('')
  const error = !isValidHeaderValue(token)
    ? INVALID_HEADER_VALUE
    : isAdminRefused.value ? 'The server has refused the admin token.' : undefined
  // A restarted server may require a token that it did not require before.
  const isTokenRequired = serverConfig.value?.admin_token === true || isAdminRefused.value
  if (!isTokenRequired || adminToken.value !== undefined) return <>{children}</>
  return (
    <form
      class='card admin-gate' onSubmit={(event) => {
        event.preventDefault()
        if (token.trim() === '' || !isValidHeaderValue(token)) return
        setAdminToken(token.trim())
        // The form disappears, so the focus moves to the content that replaces it.
        document.getElementById('main')?.focus()
      }}
    >
      <p>{feature} needs the admin token (SERVICE_ADMIN_TOKEN), regardless of your sign-in.</p>
      <Field label='Admin token' error={error}>
        {(attributes) => (
          <input
            {...attributes} type='password' autocomplete='off' value={token}
            onInput={({ currentTarget }) => { setToken(currentTarget.value) }}
          />
        )}
      </Field>
      <div class='actions'><button type='submit' class='primary'>Use the token</button></div>
    </form>
  )
}
