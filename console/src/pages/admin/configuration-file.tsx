import type { ReloadAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { admin } from '../../state/session.js'
import { formatCount } from '../../text/format.js'

/** Reloads the configuration file. */
export function ConfigurationFile () {
  const [isBusy, setIsBusy] = useState(false)
  const [answer, setAnswer] = useState<ReloadAnswer | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const reload = async () => {
    setIsBusy(true)
    setError(undefined)
    setAnswer(undefined)
    try {
      const next = await admin.value.reloadConfiguration()
      setAnswer(next)
      announce(next.changed.length === 0 ? 'Nothing has changed' : 'The changes are in effect')
    } catch (cause) {
      setError(cause)
    }
    setIsBusy(false)
  }
  return (
    <section class='card' aria-labelledby='reload'>
      <h2 id='reload'>Configuration file</h2>
      <p>Applies all changes of the file or none: if any change is invalid or requires a restart, nothing changes.</p>
      <div class='actions'>
        <button type='button' class='primary' aria-disabled={isBusy} onClick={() => { if (!isBusy) void reload() }}>
          Reload the file
        </button>
      </div>
      {isBusy && <Loading label='Reading the file' />}
      {error !== undefined && <Failure error={error} />}
      {answer !== undefined && <ChangeList changed={answer.changed} />}
    </section>
  )
}

function ChangeList ({ changed }: ReloadAnswer) {
  if (changed.length === 0) return <p>Nothing has changed since the file was last read.</p>
  return (
    <>
      <p>{formatCount(changed.length, 'change is', 'changes are')} in effect:</p>
      <ul class='admin-changed'>
        {changed.map((path) => <li key={path}><code><SafeText text={path} isExpandable={false} /></code></li>)}
      </ul>
    </>
  )
}
