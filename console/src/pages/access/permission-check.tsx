import type { AccessDecision } from 'memory-gateway-client'
import { useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { admin } from '../../state/session.js'
import { identityOf } from './identity.js'
import { PERMISSIONS, Principal, type Permission } from './permission-matrix.js'

interface CheckInput { principal: string, tenant: string, onBehalfOf: string, bank: string, permission: Permission }
interface CheckResult { input: CheckInput, decision?: AccessDecision, error?: unknown }

const FIELDS = [
  ['principal', 'Principal', 'Empty: an anonymous caller, in dev mode.'],
  ['bank', 'Bank', 'The bank need not exist.'],
  ['tenant', 'Tenant', 'Empty: without a tenant.'],
  ['onBehalfOf', 'On behalf of', 'Empty: for nobody else.'],
] as const

/** For operators: whether a caller would be allowed an operation. Nothing is executed. */
export function PermissionCheck () {
  const [input, setInput] = useState<CheckInput>({
    principal: '', tenant: '', onBehalfOf: '', bank: '', permission: 'read',
  })
  const [result, setResult] = useState<CheckResult | undefined>(undefined)
  const [isChecking, setIsChecking] = useState(false)
  const requestCount = useRef(0)

  const check = async () => {
    const requestNumber = ++requestCount.current
    setIsChecking(true)
    const { principal, tenant, onBehalfOf, bank, permission } = input
    const identity = identityOf(principal.trim(), tenant.trim(), onBehalfOf.trim())
    let next: CheckResult
    try {
      const decision = await admin.value.checkAccess({ ...identity, bank_id: bank.trim(), permission })
      next = { input, decision }
      announce(decision.allowed ? 'Allowed' : 'Denied')
    } catch (error) {
      next = { input, error }
    }
    if (requestNumber !== requestCount.current) return
    setResult(next)
    setIsChecking(false)
  }
  return (
    <section class='card' aria-labelledby='access-check'>
      <h2 id='access-check'>Check a permission</h2>
      <form onSubmit={(event) => {
        event.preventDefault()
        void check()
      }}
      >
        <div class='fields'>
          {FIELDS.map(([name, label, hint]) => (
            <Field key={name} label={label} hint={hint}>
              {(attributes) => (
                <input
                  {...attributes} autocomplete='off' spellcheck={false} required={name === 'bank'} value={input[name]}
                  onInput={({ currentTarget }) => { setInput({ ...input, [name]: currentTarget.value }) }}
                />
              )}
            </Field>
          ))}
          <Field label='Permission'>
            {(attributes) => (
              <select
                {...attributes} value={input.permission} onChange={({ currentTarget: { value } }) => {
                  setInput({ ...input, permission: PERMISSIONS.find((name) => name === value) ?? 'read' })
                }}
              >
                {PERMISSIONS.map((name) => <option key={name} value={name}>{name}</option>)}
              </select>
            )}
          </Field>
        </div>
        <div class='actions'><button type='submit' class='primary'>Check</button></div>
      </form>
      {isChecking && <Loading label='Checking' />}
      {!isChecking && result?.error !== undefined && <Failure error={result.error} />}
      {!isChecking && result?.decision !== undefined && <Decision input={result.input} decision={result.decision} />}
    </section>
  )
}

function Decision ({ input, decision }: { input: CheckInput, decision: AccessDecision }) {
  const { allowed, reason } = decision
  return (
    <div class='access-verdict'>
      <p>
        <span class={allowed ? 'badge good' : 'badge danger'}>{allowed ? 'Allowed' : 'Denied'}</span>{' '}
        <Principal principal={input.principal.trim()} /> · {input.permission} ·{' '}
        <SafeText text={input.bank.trim()} isExpandable={false} />
      </p>
      <p><SafeText text={reason} /></p>
    </div>
  )
}
