import { useEffect, useRef, useState } from 'preact/hooks'
import { useUnsavedInput } from '../../components/form-dialog.js'
import { Failure } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { client } from '../../state/session.js'
import { formatBytes, formatCount } from '../../text/format.js'

/** Lines between two updates of the progress. */
const LINES_PER_BATCH = 500
const EXPORT_TIMEOUT_MS = 3_600_000

interface Progress { lines: number, bytes: number, total: number | undefined }

interface Props {
  bank: string
  /** Ends the export without a question. */
  onStop: () => void
  onClose: () => void
}

/** Downloads a bank as NDJSON: it is read with the caller's credentials, and then given to the browser as a file. */
export function ExportPanel ({ bank, onStop, onClose }: Props) {
  const [progress, setProgress] = useState<Progress | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [file, setFile] = useState<string | undefined>(undefined)
  const isBusy = progress !== undefined && file === undefined
  // The browser does not say whether a file is saved: the click on its link has to suffice.
  const [isSaved, setIsSaved] = useState(false)
  useUnsavedInput(isBusy || (file !== undefined && !isSaved))
  const controller = useRef<AbortController | undefined>(undefined)
  const objectUrl = useRef<string | undefined>(undefined)
  useEffect(() => () => {
    controller.current?.abort()
    if (objectUrl.current !== undefined) URL.revokeObjectURL(objectUrl.current)
  }, [])
  const name = `${bank.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.ndjson`

  const run = async () => {
    const { signal } = controller.current = new AbortController()
    setError(undefined)
    setProgress({ lines: 0, bytes: 0, total: undefined })
    try {
      const { memory_count: total } = await client.value.getBank({ bank_id: bank }, { signal })
      const parts: Blob[] = []
      let batch: string[] = []
      let lines = -1
      let bytes = 0
      const flush = () => {
        const part = new Blob(batch)
        bytes += part.size
        parts.push(part)
        batch = []
        setProgress({ lines: Math.max(0, lines), bytes, total })
      }
      for await (const line of client.value.exportBank({ bank_id: bank }, { signal, timeoutMs: EXPORT_TIMEOUT_MS })) {
        batch.push(line, '\n')
        if (++lines % LINES_PER_BATCH === 0) flush()
      }
      flush()
      objectUrl.current = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }))
      setFile(objectUrl.current)
      announce('The export is complete')
    } catch (failure) {
      if (!signal.aborted) setError(failure)
      setProgress(undefined)
    }
  }
  useEffect(() => { void run() }, [])

  return (
    <>
      {error !== undefined && <Failure error={error} retry={() => { void run() }} />}
      {progress !== undefined && (
        <>
          <progress
            class='memories-progress'
            aria-label='Export'
            max={Math.max(1, progress.total ?? 1)}
            value={file === undefined ? progress.lines : Math.max(1, progress.total ?? 1)}
          />
          <p role='status'>{formatCount(
            progress.lines, 'memory', 'memories',
          )}, {formatBytes(progress.bytes)}{file !== undefined && ': complete'}
          </p>
        </>
      )}
      <div class='actions'>
        {file !== undefined && (
          <a class='memories-download' href={file} download={name} onClick={() => { setIsSaved(true) }}>Save {name}</a>
        )}
        <button type='button' onClick={isBusy ? onStop : onClose}>{isBusy ? 'Stop' : 'Close'}</button>
      </div>
    </>
  )
}
