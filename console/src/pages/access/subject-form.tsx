import { useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { changeParams } from '../../state/router.js'
import { MAX_PRINCIPALS, type Subjects } from './identity.js'

/** Principals, a tenant, and for whom they act. The choice is kept in the URL. */
export function SubjectForm ({ subjects }: { subjects: Subjects }) {
  const [names, setNames] = useState(subjects.principals.join(', '))
  const [tenant, setTenant] = useState(subjects.tenant)
  const [onBehalfOf, setOnBehalfOf] = useState(subjects.onBehalfOf)
  const principals = [...new Set(names.split(/[\s,]+/).filter((name) => name !== ''))]
  const isTooMany = principals.length > MAX_PRINCIPALS
  return (
    <form
      class='access-subjects' onSubmit={(event) => {
        event.preventDefault()
        if (isTooMany) return
        const changes = { principal: principals, tenant: tenant.trim(), on_behalf_of: onBehalfOf.trim() }
        changeParams(changes, { replace: false })
      }}
    >
      <div class='fields'>
        <Field
          label='Principals' hint='Separated by commas.'
          error={isTooMany ? `At most ${MAX_PRINCIPALS} at a time.` : undefined}
        >
          {(attributes) => (
            <input
              {...attributes} autocomplete='off' spellcheck={false} value={names}
              onInput={({ currentTarget }) => { setNames(currentTarget.value) }}
            />
          )}
        </Field>
        <Field label='Tenant' hint='Empty: callers without a tenant.'>
          {(attributes) => (
            <input
              {...attributes} autocomplete='off' spellcheck={false} value={tenant}
              onInput={({ currentTarget }) => { setTenant(currentTarget.value) }}
            />
          )}
        </Field>
        <Field label='On behalf of' hint='Empty: for nobody else.'>
          {(attributes) => (
            <input
              {...attributes} autocomplete='off' spellcheck={false} value={onBehalfOf}
              onInput={({ currentTarget }) => { setOnBehalfOf(currentTarget.value) }}
            />
          )}
        </Field>
      </div>
      <div class='actions'><button type='submit' class='primary'>Show</button></div>
    </form>
  )
}
