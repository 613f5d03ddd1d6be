import type { BankConfigAnswer } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ConfirmDialog } from '../../components/dialog.js'
import { SafeText } from '../../components/safe-text.js'
import { EmptyState, Failure, Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { hrefOf } from '../../state/router.js'
import { admin } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { EffectiveSettings } from './effective-settings.js'

interface Props {
  bank: string
  /** Null: the bank of callers without a tenant. */
  tenant: string | null
}

/** The configuration of a bank, which an operator may reset. */
export function BankConfiguration ({ bank, tenant }: Props) {
  const request = { bank_id: bank, ...(tenant !== null && { tenant_id: tenant }) }
  const loaded = useLoad(async (signal) => await admin.value.getBankConfig(request, { signal }), [])
  const [isConfirming, setIsConfirming] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  const [resetCount, setResetCount] = useState(0)
  const heading = useRef<HTMLHeadingElement>(null)
  // The reset removes its button, so the focus moves to the heading.
  useEffect(() => { if (resetCount > 0) heading.current?.focus() }, [resetCount])
  const [error, setError] = useState<unknown>(undefined)
  const reset = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      await admin.value.resetBankConfig(request)
      announce('The configuration is reset')
      setIsConfirming(false)
      setResetCount((count) => count + 1)
      loaded.reload()
    } catch (cause) {
      setError(cause)
    }
    setIsBusy(false)
  }
  const close = () => {
    setIsConfirming(false)
    setError(undefined)
  }
  return (
    <>
      <p><a href={hrefOf('admin')}>Back to all banks</a></p>
      <h2 ref={heading} tabIndex={-1}>
        Configuration of <SafeText text={bank} isExpandable={false} />
        {tenant !== null && <> of the tenant <SafeText text={tenant} isExpandable={false} /></>}
      </h2>
      <Loadable loaded={loaded}>
        {(answer) => (
          <>
            <BankSettings answer={answer} onReset={() => { setIsConfirming(true) }} />
            <EffectiveSettings answer={answer} />
          </>
        )}
      </Loadable>
      <ConfirmDialog
        title='Reset the configuration' isOpen={isConfirming} expected={bank} action='Reset' isBusy={isBusy}
        onConfirm={() => { void reset() }} onClose={close}
      >
        <p>All values that the admins of the bank have set are removed.</p>
        <p>This includes their grants: whoever has access through them loses it.</p>
        <p>The history of the bank's configuration keeps these values, and its admins can set them again.</p>
        {error !== undefined && <Failure error={error} />}
      </ConfirmDialog>
    </>
  )
}

function BankSettings ({ answer, onReset }: { answer: BankConfigAnswer, onReset: () => void }) {
  const { config, updated_at: updatedAt, updated_by: updatedBy, etag } = answer
  const text = JSON.stringify(config, null, 2)
  return (
    <section class='card' aria-labelledby='own-config'>
      <div class='admin-head'>
        <h3 id='own-config'>Set by the admins of the bank</h3>
        {updatedAt !== null && <button type='button' class='small danger' onClick={onReset}>Reset…</button>}
      </div>
      {updatedAt === null
        ? (
          <EmptyState title='Nothing is set.'>
            <p>The bank uses the values of the configuration file and the defaults.</p>
          </EmptyState>
          )
        : (
          <>
            <dl class='facts'>
              <dt>Set</dt><dd><Time at={updatedAt} /></dd>
              <dt>By</dt><dd>{updatedBy === null ? <em>anonymous</em> : <SafeText text={updatedBy} />}</dd>
              <dt>Entity tag</dt><dd><code>{etag}</code></dd>
            </dl>
            <pre class='admin-json' tabIndex={0} role='region' aria-label='What the admins have set'>
              <SafeText text={text} truncateAt={4000} />
            </pre>
          </>
          )}
    </section>
  )
}
