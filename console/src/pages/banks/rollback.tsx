import type { RollbackAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { DateTimeField } from '../../components/date-time-field.js'
import { ConfirmDialog } from '../../components/dialog.js'
import { MissingPermission, usePermissions } from '../../components/permission.js'
import { Failure } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { client } from '../../state/session.js'
import { formatCount } from '../../text/format.js'

/** Sets a bank back to an instant, after a count of what that changes. */
export function Rollback ({ bank, onDone }: { bank: string, onDone: () => void }) {
  const isGranted = usePermissions(bank)
  return (
    <section class='card' aria-labelledby='rollback'>
      <h3 id='rollback'>Set back to an instant</h3>
      <p>
        The current memories are again those of that instant, with the contents of then; what came later is retired.
        Nothing is deleted, so that it can be set back again.
      </p>
      {isGranted('admin')
        ? <RollbackForm bank={bank} onDone={onDone} />
        : <MissingPermission permission='admin' action='set it back' />}
    </section>
  )
}

interface State { counts?: RollbackAnswer, done?: RollbackAnswer, error?: unknown, isBusy?: boolean }

function RollbackForm ({ bank, onDone }: { bank: string, onDone: () => void }) {
  const [to, setTo] = useState('')
  const [state, setState] = useState<State>({})
  const { counts, done, error, isBusy = false } = state
  const run = async (isDryRun: boolean) => {
    setState({ ...(counts !== undefined && { counts }), isBusy: true })
    try {
      const answer = await client.value.rollbackBank({ bank_id: bank, to, dry_run: isDryRun })
      setState(isDryRun ? { counts: answer } : { done: answer })
      if (isDryRun) return
      announce('The bank is set back')
      onDone()
    } catch (failure) {
      setState({ ...(!isDryRun && counts !== undefined && { counts }), error: failure })
    }
  }
  return (
    <>
      <form
        aria-labelledby='rollback' onSubmit={(event) => {
          event.preventDefault()
          if (to !== '' && !isBusy) void run(true)
        }}
      >
        <div class='fields'>
          <DateTimeField
            label='Instant' hint='In your time zone.' value={to}
            onChange={(at) => {
              setTo(at)
              setState({})
            }}
          />
        </div>
        {error !== undefined && counts === undefined && <Failure error={error} />}
        {done !== undefined && <div class='notice good' role='status'><Counts counts={done} isDone /></div>}
        <div class='actions'>
          <button type='submit' disabled={to === ''} aria-disabled={isBusy}>
            {isBusy ? 'Working…' : 'Show what would change…'}
          </button>
        </div>
      </form>
      <ConfirmDialog
        title='Set the bank back' isOpen={counts !== undefined} isBusy={isBusy} action='Set it back'
        isReady={counts !== undefined && counts.restored + counts.retired > 0}
        onConfirm={() => { void run(false) }} onClose={() => { setState({}) }}
      >
        {counts !== undefined && <><p>To <Time at={to} />:</p><Counts counts={counts} /></>}
        {error !== undefined && <Failure error={error} />}
      </ConfirmDialog>
    </>
  )
}

function Counts ({ counts, isDone = false }: { counts: RollbackAnswer, isDone?: boolean }) {
  const { restored, retired, unrecoverable } = counts
  const would = (one: string, several: string, count: number) => isDone ? (count === 1 ? one : several) : 'would be'
  const memories = (count: number) => formatCount(count, 'memory', 'memories')
  return (
    <>
      {restored + retired === 0 && <p>Nothing {isDone ? 'was' : 'would be'} changed.</p>}
      <ul>
        <li>{memories(restored)} {would('is', 'are', restored)} restored: current again, or again as then.</li>
        <li>{memories(retired)} {would('is', 'are', retired)} retired: stored or changed later.</li>
        <li>{memories(unrecoverable)} cannot be recovered: forgotten, or their versions of then emptied.</li>
      </ul>
    </>
  )
}
