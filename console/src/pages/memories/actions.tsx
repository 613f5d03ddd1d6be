import { MissingPermission, type Permission } from '../../components/permission.js'

export type MemoryAction = 'retain' | 'forget' | 'export' | 'import'

const ACTIONS: ReadonlyArray<{ name: MemoryAction, label: string, permission: Permission }> = [
  { name: 'retain', label: 'Retain…', permission: 'write' },
  { name: 'forget', label: 'Forget…', permission: 'forget' },
  { name: 'export', label: 'Export…', permission: 'admin' },
  { name: 'import', label: 'Import…', permission: 'admin' },
]

interface Props {
  isGranted: (permission: Permission) => boolean
  onAction: (action: MemoryAction) => void
}

/** The buttons of what can be done with a bank, and below them what the caller may not do and why. */
export function MemoryActions ({ isGranted, onAction }: Props) {
  const missing = [...new Set(ACTIONS.map(({ permission }) => permission))].filter((one) => !isGranted(one))
  return (
    <div>
      <div class='actions'>
        {ACTIONS.map(({ name, label, permission }) => (
          <button
            key={name} type='button'
            // Not `disabled`: such a button has no focus, so that a keyboard would not lead to the reason.
            {...(!isGranted(permission) && { 'aria-disabled': true, 'aria-describedby': `needs-${permission}` })}
            onClick={() => { if (isGranted(permission)) onAction(name) }}
          >
            {label}
          </button>
        ))}
      </div>
      {missing.map((permission) => (
        <MissingPermission
          key={permission} id={`needs-${permission}`} permission={permission}
          action={ACTIONS.filter((action) => action.permission === permission).map(({ name }) => name).join(' or ')}
        />
      ))}
    </div>
  )
}
