import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { serverConfig } from '../state/server-config.js'
import { adminToken, giveAdminToken, isAdminRefused } from '../state/session.js'
import { isSendable, NOT_SENDABLE } from '../text/header-value.js'
import { Field } from './field.js'

/** Shows its content to operators: where the server has an admin token, it is asked for first. */
export function AdminGate ({ what, children }: { what: string, children: ComponentChildren }) {
  const [typed, setTyped] = useState('')
  const fault = !isSendable(typed) ? NOT_SENDABLE : isAdminRefused.value ? 'The server has refused the admin token.' : undefined
  // A server that was started anew may ask for a token that it did not ask for before.
  const isAsked = serverConfig.value?.admin_token === true || isAdminRefused.value
  if (!isAsked || adminToken.value !== undefined) return <>{children}</>
  return (
    <form
      class='card admin-gate' onSubmit={(event) => {
        event.preventDefault()
        if (typed.trim() === '' || !isSendable(typed)) return
        giveAdminToken(typed.trim())
        // The form goes; what it was in the way of begins in its place.
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
