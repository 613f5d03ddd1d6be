import type { BankConfigAnswer } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ConfirmDialog } from '../../components/dialog.js'
import { SafeText } from '../../components/safe-text.js'
import { Empty, Failure, Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { hrefOf } from '../../state/router.js'
import { admin } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { Effective } from './effective.js'

interface Props {
  bank: string
  /** Null: the bank of callers without a tenant. */
  tenant: string | null
}

/** The configuration of a bank, which an operator may reset. */
export function BankConfiguration ({ bank, tenant }: Props) {
  const request = { bank_id: bank, ...(tenant !== null && { tenant_id: tenant }) }
  const loaded = useLoad(async (signal) => await admin.value.getBankConfig(request, { signal }), [])
  const [isAsking, setIsAsking] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  const [resets, setResets] = useState(0)
  const heading = useRef<HTMLHeadingElement>(null)
  // The button for it disappears, so the focus needs another place.
  useEffect(() => { if (resets > 0) heading.current?.focus() }, [resets])
  const [error, setError] = useState<unknown>(undefined)
  const takeBack = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      await admin.value.resetBankConfig(request)
      announce('The configuration is taken back')
      setIsAsking(false)
      setResets((count) => count + 1)
      loaded.reload()
    } catch (cause) {
      setError(cause)
    }
    setIsBusy(false)
  }
  const close = () => {
    setIsAsking(false)
    setError(undefined)
  }
  return (
    <>
      <p><a href={hrefOf('admin')}>All of administration</a></p>
      <h2 ref={heading} tabIndex={-1}>
        Configuration of <SafeText text={bank} isExpandable={false} />
        {tenant !== null && <> of the tenant <SafeText text={tenant} isExpandable={false} /></>}
      </h2>
      <Loadable loaded={loaded}>
        {(answer) => (
          <>
            <Own answer={answer} onTakeBack={() => { setIsAsking(true) }} />
            <Effective answer={answer} />
          </>
        )}
      </Loadable>
      <ConfirmDialog
        title='Take the configuration back' isOpen={isAsking} expected={bank} action='Take back' isBusy={isBusy}
        onConfirm={() => { void takeBack() }} onClose={close}
      >
        <p>What the admins of the bank have set is taken back.</p>
        <p>So are the grants in it: whoever has access by them loses it.</p>
        <p>The history of the bank's configuration keeps what was set, and its admins can set it again.</p>
        {error !== undefined && <Failure error={error} />}
      </ConfirmDialog>
    </>
  )
}

function Own ({ answer, onTakeBack }: { answer: BankConfigAnswer, onTakeBack: () => void }) {
  const { config, updated_at: updatedAt, updated_by: updatedBy, etag } = answer
  const text = JSON.stringify(config, null, 2)
  return (
    <section class='card' aria-labelledby='own-config'>
      <div class='admin-head'>
        <h3 id='own-config'>Set by the admins of the bank</h3>
        {updatedAt !== null && <button type='button' class='small danger' onClick={onTakeBack}>Take back…</button>}
      </div>
      {updatedAt === null
        ? <Empty title='Nothing.'><p>The bank goes by the configuration file and the defaults.</p></Empty>
        : (
          <>
            <dl class='facts'>
              <dt>Set</dt><dd><Time at={updatedAt} /></dd>
              <dt>By</dt><dd>{updatedBy === null ? <em>anonymous</em> : <SafeText text={updatedBy} />}</dd>
              <dt>Entity tag</dt><dd><code>{etag}</code></dd>
            </dl>
            <pre class='admin-json' tabIndex={0} role='region' aria-label='What the admins have set'>
              <SafeText text={text} shown={4000} />
            </pre>
          </>
          )}
    </section>
  )
}
