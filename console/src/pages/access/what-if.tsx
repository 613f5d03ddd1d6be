import type { AccessDecision } from 'memory-gateway-client'
import { useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { admin } from '../../state/session.js'
import { identityOf } from './identity.js'
import { PERMISSIONS, Principal, type Permission } from './matrix.js'

interface Asked { principal: string, tenant: string, onBehalfOf: string, bank: string, permission: Permission }
interface Decided { asked: Asked, decision?: AccessDecision, error?: unknown }

const FIELDS = [
  ['principal', 'Principal', 'Empty: an anonymous caller.'],
  ['bank', 'Bank', 'It need not exist.'],
  ['tenant', 'Tenant', 'Empty: none.'],
  ['onBehalfOf', 'On behalf of', 'Empty: nobody.'],
] as const

/** For operators: whether a caller would be allowed an operation. Nothing is executed. */
export function WhatIf () {
  const [asked, setAsked] = useState<Asked>({ principal: '', tenant: '', onBehalfOf: '', bank: '', permission: 'read' })
  const [decided, setDecided] = useState<Decided | undefined>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const round = useRef(0)

  const check = async () => {
    const mine = ++round.current
    setIsBusy(true)
    const { principal, tenant, onBehalfOf, bank, permission } = asked
    const identity = identityOf(principal.trim(), tenant.trim(), onBehalfOf.trim())
    let next: Decided
    try {
      const decision = await admin.value.checkAccess({ ...identity, bank_id: bank.trim(), permission })
      next = { asked, decision }
      announce(decision.allowed ? 'Allowed' : 'Denied')
    } catch (error) {
      next = { asked, error }
    }
    if (mine !== round.current) return
    setDecided(next)
    setIsBusy(false)
  }
  return (
    <section class='card' aria-labelledby='access-what-if'>
      <h2 id='access-what-if'>What if</h2>
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
                  {...attributes} autocomplete='off' spellcheck={false} required={name === 'bank'} value={asked[name]}
                  onInput={({ currentTarget }) => { setAsked({ ...asked, [name]: currentTarget.value }) }}
                />
              )}
            </Field>
          ))}
          <Field label='Permission'>
            {(attributes) => (
              <select
                {...attributes} value={asked.permission} onChange={({ currentTarget: { value } }) => {
                  setAsked({ ...asked, permission: PERMISSIONS.find((name) => name === value) ?? 'read' })
                }}
              >
                {PERMISSIONS.map((name) => <option key={name} value={name}>{name}</option>)}
              </select>
            )}
          </Field>
        </div>
        <div class='actions'><button type='submit' class='primary'>Decide</button></div>
      </form>
      {isBusy && <Loading what='Deciding' />}
      {!isBusy && decided?.error !== undefined && <Failure error={decided.error} />}
      {!isBusy && decided?.decision !== undefined && <Verdict asked={decided.asked} decision={decided.decision} />}
    </section>
  )
}

function Verdict ({ asked, decision }: { asked: Asked, decision: AccessDecision }) {
  const { allowed, reason } = decision
  return (
    <div class='access-verdict'>
      <p>
        <span class={allowed ? 'badge good' : 'badge danger'}>{allowed ? 'Allowed' : 'Denied'}</span>{' '}
        <Principal principal={asked.principal.trim()} /> · {asked.permission} ·{' '}
        <SafeText text={asked.bank.trim()} isExpandable={false} />
      </p>
      <p><SafeText text={reason} /></p>
    </div>
  )
}
