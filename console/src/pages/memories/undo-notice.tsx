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

/** How many memories were forgotten, with a button to undo it if that is possible. */
export function UndoNotice ({ forgotten, onUndone, onClose }: Props) {
  const { count, undo: undoData } = forgotten
  const container = useRef<HTMLDivElement>(null)
  // The forgotten memory may have had the focus.
  useEffect(() => { container.current?.focus() }, [forgotten])
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [remaining, setRemaining] = useState<number | undefined>(undefined)
  const restore = async () => {
    if (undoData === undefined) return
    setIsBusy(true)
    setError(undefined)
    try {
      await undo(undoData, setRemaining)
      announce('The forgotten memories are stored again')
      onUndone()
      onClose()
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
      // Some of them may be stored.
      onUndone()
    }
  }
  return (
    <div ref={container} class='card memories-undo' role='region' aria-label='Forgotten' tabIndex={-1}>
      <p role='status'>
        {formatCount(count, 'memory is', 'memories are')} forgotten.
        {undoData !== undefined && !undoData.isComplete &&
          ' Undo stores the contents again, as new memories with new ids.'}
      </p>
      {remaining !== undefined && remaining > 0 && (
        <p role='status'>
          {formatCount(remaining, 'memory is', 'memories are')} not stored again yet. Undo continues with{' '}
          {remaining === 1 ? 'it' : 'them'}.
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
      <div class='actions'>
        {undoData !== undefined && undoData.memories.length > 0 && (
          <button
            type='button'
            aria-disabled={isBusy}
            onClick={() => { if (!isBusy) void restore() }}
          >
            {isBusy ? 'Working…' : 'Undo'}
          </button>
        )}
        <button type='button' onClick={onClose}>Dismiss</button>
      </div>
    </div>
  )
}
