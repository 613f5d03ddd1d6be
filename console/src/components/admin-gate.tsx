import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { serverConfig } from '../state/server-config.js'
import { adminToken, giveAdminToken, isAdminRefused } from '../state/session.js'
import { isSendable, NOT_SENDABLE } from '../text/header-value.js'
import { Field } from './field.js'

/** Shows its content to operators: if the server has an admin token, a form asks for it first. */
export function AdminGate ({ what, children }: { what: string, children: ComponentChildren }) {
  const [typed, setTyped] = useState('')
  const fault = !isSendable(typed) ? NOT_SENDABLE : isAdminRefused.value ? 'The server has refused the admin token.' : undefined
  // A restarted server may require a token that it did not require before.
  const isAsked = serverConfig.value?.admin_token === true || isAdminRefused.value
  if (!isAsked || adminToken.value !== undefined) return <>{children}</>
  return (
    <form
      class='card admin-gate' onSubmit={(event) => {
        event.preventDefault()
        if (typed.trim() === '' || !isSendable(typed)) return
        giveAdminToken(typed.trim())
        // The form disappears, so the focus moves to the content that replaces it.
        document.getElementById('main')?.focus()
      }}
    >
      <p>{what} needs the admin token (SERVICE_ADMIN_TOKEN), whoever you are signed in as.</p>
      <Field label='Admin token' error={fault}>
        {(attributes) => (
          <input
            {...attributes} type='password' autocomplete='off' value={typed}
            onInput={({ currentTarget }) => { setTyped(currentTarget.value) }}
          />
        )}
      </Field>
      <div class='actions'><button type='submit' class='primary'>Use it</button></div>
    </form>
  )
}
