import { MemoryGatewayError, type ImportBankAnswer } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { useUnsavedInput } from '../../components/form-dialog.js'
import { Failure } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { createCallerClient } from '../../state/session.js'
import { formatBytes, formatNumber } from '../../text/format.js'
import { uploadFetch } from './upload-fetch.js'

const IMPORT_TIMEOUT_MS = 3_600_000
/** What a stop means: it comes too late when the server has received the whole file. */
export const STOPPED_IMPORT = 'Nothing of the file is stored, unless the server is already storing it.'

interface Props {
  bank: string
  onImported: () => void
  onClose: () => void
}

/** Imports a file of an export. Either all of its memories are stored, or none, and errors name the line. */
export function ImportPanel ({ bank, onImported, onClose }: Props) {
  const [file, setFile] = useState<File | undefined>(undefined)
  const [conflict, setConflict] = useState<'skip' | 'overwrite'>('skip')
  const [fraction, setFraction] = useState<number | undefined>(undefined)
  const [answer, setAnswer] = useState<ImportBankAnswer | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => { controller.current?.abort() }, [])
  const [isStopped, setIsStopped] = useState(false)
  const isBusy = fraction !== undefined
  useUnsavedInput(isBusy)

  const run = async () => {
    if (file === undefined) return
    const { signal } = controller.current = new AbortController()
    setError(undefined)
    setIsStopped(false)
    setFraction(0)
    try {
      const imported = await createCallerClient(uploadFetch(setFraction)).importBank(
        { bank_id: bank, on_conflict: conflict, lines: file }, { signal, timeoutMs: IMPORT_TIMEOUT_MS })
      setAnswer(imported)
      setIsStopped(false)
      announce('The import is complete')
      onImported()
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    } finally {
      setFraction(undefined)
    }
  }

  const stop = () => {
    controller.current?.abort()
    setIsStopped(true)
  }

  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      void run()
    }}
    >
      <Field label='File' hint={file === undefined ? 'An NDJSON file from an export.' : formatBytes(file.size)}>
        {(attributes) => (
          <input
            {...attributes} type='file' accept='.ndjson,.jsonl,application/x-ndjson' disabled={isBusy}
            onChange={({ currentTarget }) => {
              setFile(currentTarget.files?.[0])
              setAnswer(undefined)
              setError(undefined)
              setIsStopped(false)
            }}
          />
        )}
      </Field>
      <Field label='When the bank already has the id of a memory'>
        {(attributes) => (
          <select
            {...attributes} value={conflict} disabled={isBusy}
            onChange={({ currentTarget }) => {
              setConflict(currentTarget.value === 'overwrite' ? 'overwrite' : 'skip')
              setAnswer(undefined)
            }}
          >
            <option value='skip'>keep the stored memory</option>
            <option value='overwrite'>overwrite the stored memory</option>
          </select>
        )}
      </Field>
      <p class='hint'>The import stores all memories of the file, or none.</p>
      {fraction !== undefined && (
        <>
          <progress class='memories-progress' aria-label='Import' max={1} {...(fraction < 1 && { value: fraction })} />
          <p role='status'>{fraction < 1
            ? `Sending: ${Math.floor(fraction * 100)} %`
            : 'The server is storing the memories…'}
          </p>
        </>
      )}
      {error !== undefined && (
        <>
          <Failure error={error} />
          {isLineError(error) && (
            <p class='hint'>
              Nothing of the file is stored. The check ends at the first invalid line: the lines after it have not
              been checked.
            </p>
          )}
        </>
      )}
      {isStopped && <p class='hint' role='status'>The import is stopped. {STOPPED_IMPORT}</p>}
      {answer !== undefined && (
        <p class='notice good' role='status'>
          Imported: {formatNumber(answer.imported)}; skipped: {formatNumber(answer.skipped)};
          {' '}overwritten: {formatNumber(answer.overwritten)}.
        </p>
      )}
      <div class='actions'>
        <button
          type='submit'
          class='primary'
          disabled={file === undefined || isBusy || answer !== undefined}
        >
          Import
        </button>
        <button type='button' onClick={isBusy ? stop : onClose}>{isBusy ? 'Stop' : 'Close'}</button>
      </div>
    </form>
  )
}

/** Whether an error concerns a line of the file. */
function isLineError (error: unknown): boolean {
  if (!(error instanceof MemoryGatewayError)) return false
  return /^line \d/i.test(error.message) || (error.body?.errors ?? []).some(({ field }) => (
    /^line \d/.test(String(field))
  ))
}
