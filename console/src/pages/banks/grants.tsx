import { useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { Table } from '../../components/table.js'
import type { Grant } from './settings-draft.js'

const PERMISSIONS = ['read', 'write', 'forget', 'admin'] as const

interface Props {
  /** The bank's own grants, as they are being edited. */
  grants: readonly Grant[]
  /** The bank's own grants that are saved. */
  own: readonly Grant[]
  /** All grants in force, those of the server's file first. */
  effective: readonly Grant[]
  errorOf: (path: string) => string | undefined
  onChange: (grants: readonly Grant[]) => void
}

/** Who may do what with the bank: a row for each principal, in which each permission can be ticked. */
export function Grants ({ grants, own, effective, errorOf, onChange }: Props) {
  const [typed, setTyped] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const ownTexts = new Set(own.map((grant) => JSON.stringify(grant)))
  const others = effective.filter((grant) => !ownTexts.has(JSON.stringify(grant)))
  const rows = [
    ...others.map((grant, index) => ({ grant, index, isOwn: false })),
    ...grants.map((grant, index) => ({ grant, index, isOwn: true })),
  ]
  const add = () => {
    const principal = typed.trim()
    if (principal === '') return
    setTyped('')
    onChange([...grants, { principal, permissions: ['read'] }])
    input.current?.focus()
  }
  const toggle = (index: number, permission: typeof PERMISSIONS[number], isOn: boolean) => {
    onChange(grants.map((grant, at) => at === index ? withPermission(grant, permission, isOn) : grant))
  }
  const problems = grants.flatMap(({ principal }, index) => (
    ['', '.principal', '.permissions'].flatMap((member) => {
      const message = errorOf(`access[${index}]${member}`) ?? errorOf(`access.${index}${member}`)
      return message === undefined ? [] : [`${principal}: ${message}`]
    })
  ))
  const general = errorOf('access')
  return (
    <fieldset class='settings-group'>
      <legend>Grants</legend>
      <p class='hint'>
        Who may use this bank, besides its owner. Grants only add rights; one * at the end of a principal stands for any
        text.
      </p>
      {rows.length > 0 && (
        <Table
          caption='Grants on this bank' rows={rows} keyOf={({ isOwn, index }) => `${isOwn ? 'own' : 'file'} ${index}`}
          columns={[
            {
              title: 'Principal',
              isHeader: true,
              cell: ({ grant, isOwn }) => (
                <><SafeText text={grant.principal} isExpandable={false} />{!isOwn && <small> (server's file)</small>}</>
              ),
            },
            ...PERMISSIONS.map((permission) => ({
              title: permission,
              cell: ({ grant, index, isOwn }: typeof rows[number]) => (
                <input
                  type='checkbox' aria-label={`${permission} for ${grant.principal}`} disabled={!isOwn}
                  checked={grant.permissions.includes(permission) || grant.permissions.includes('*')}
                  onChange={({ currentTarget }) => { toggle(index, permission, currentTarget.checked) }}
                />
              ),
            })),
            {
              title: 'Remove',
              cell: ({ grant, index, isOwn }: typeof rows[number]) => isOwn && (
                <button
                  type='button' class='small' aria-label={`Remove ${grant.principal}`} onClick={() => {
                    onChange(grants.filter((_, at) => at !== index))
                    // The button disappears with its row.
                    input.current?.focus()
                  }}
                >
                  Remove
                </button>
              ),
            },
          ]}
        />
      )}
      {[...problems, ...(general === undefined ? [] : [general])].map((problem) => (
        <p key={problem} class='field-error' role='alert'><SafeText text={problem} /></p>
      ))}
      <div class='settings-add'>
        <Field label='Add a principal' hint='Such as user:bob or agent:*. It begins with the right to read.'>
          {(attributes) => (
            <input
              {...attributes} ref={input} value={typed} autocomplete='off' spellcheck={false}
              onInput={({ currentTarget }) => { setTyped(currentTarget.value) }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return
                event.preventDefault()
                add()
              }}
            />
          )}
        </Field>
        <button type='button' disabled={typed.trim() === ''} onClick={add}>Add</button>
      </div>
    </fieldset>
  )
}

/** A grant with one permission more or less; `*` becomes the four that it stands for. */
function withPermission (
  { principal, permissions }: Grant, permission: typeof PERMISSIONS[number], isOn: boolean,
): Grant {
  const held = PERMISSIONS.filter((one) => permissions.includes(one) || permissions.includes('*'))
  return { principal, permissions: PERMISSIONS.filter((one) => one === permission ? isOn : held.includes(one)) }
}
