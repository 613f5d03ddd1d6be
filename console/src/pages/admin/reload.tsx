import type { ReloadAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { admin } from '../../state/session.js'
import { formatCount } from '../../text/format.js'

/** Reloads the configuration file. */
export function Reload () {
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
      announce(next.changed.length === 0 ? 'Nothing has changed' : 'The changes are in force')
    } catch (cause) {
      setError(cause)
    }
    setIsBusy(false)
  }
  return (
    <section class='card' aria-labelledby='reload'>
      <h2 id='reload'>Configuration file</h2>
      <p>Applies all changes of the file or none: one that has a problem, or needs a restart, changes nothing.</p>
      <div class='actions'>
        <button type='button' class='primary' aria-disabled={isBusy} onClick={() => { if (!isBusy) void reload() }}>
          Apply the file as it is now
        </button>
      </div>
      {isBusy && <Loading what='The file is read' />}
      {error !== undefined && <Failure error={error} />}
      {answer !== undefined && <Changed changed={answer.changed} />}
    </section>
  )
}

function Changed ({ changed }: ReloadAnswer) {
  if (changed.length === 0) return <p>Nothing has changed since it was last read.</p>
  return (
    <>
      <p>{formatCount(changed.length, 'change is', 'changes are')} in force:</p>
      <ul class='admin-changed'>
        {changed.map((path) => <li key={path}><code><SafeText text={path} isExpandable={false} /></code></li>)}
      </ul>
    </>
  )
}
