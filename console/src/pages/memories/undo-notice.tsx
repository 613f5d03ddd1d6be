import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { formatCount } from '../../text/format.js'
import { undo, type Undo } from './undo.js'

export interface Forgotten {
  count: number
  undo: Undo | undefined
}

interface Props {
  forgotten: Forgotten
  onUndone: () => void
  onClose: () => void
}

/** What was forgotten, and a way to undo it if there is one. */
export function UndoNotice ({ forgotten, onUndone, onClose }: Props) {
  const { count, undo: kept } = forgotten
  const box = useRef<HTMLDivElement>(null)
  // The forgotten memory may have had the focus.
  useEffect(() => { box.current?.focus() }, [forgotten])
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const putBack = async () => {
    if (kept === undefined) return
    setIsBusy(true)
    setError(undefined)
    try {
      await undo(kept)
      announce('What was forgotten is stored again')
      onUndone()
      onClose()
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  return (
    <div ref={box} class='card memories-undo' role='region' aria-label='Forgotten' tabIndex={-1}>
      <p role='status'>
        {formatCount(count, 'memory is', 'memories are')} forgotten.
        {kept !== undefined && !kept.isWhole && ' Undo stores the contents again, as new memories with new ids.'}
      </p>
      {error !== undefined && <Failure error={error} />}
      <div class='actions'>
        {kept !== undefined && kept.memories.length > 0 && (
          <button type='button' aria-disabled={isBusy} onClick={() => { if (!isBusy) void putBack() }}>{isBusy ? 'Working…' : 'Undo'}</button>
        )}
        <button type='button' onClick={onClose}>Dismiss</button>
      </div>
    </div>
  )
}
