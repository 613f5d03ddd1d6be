import { MemoryGatewayError, type ImportBankAnswer } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { Failure } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { callerBy } from '../../state/session.js'
import { formatBytes, formatNumber } from '../../text/format.js'
import { uploadFetch } from './upload-fetch.js'

const IMPORT_TIMEOUT_MS = 3_600_000

interface Props {
  bank: string
  onImported: () => void
  onClose: () => void
}

/** Imports an export, all of it or nothing; errors are reported with their lines. */
export function ImportPanel ({ bank, onImported, onClose }: Props) {
  const [file, setFile] = useState<File | undefined>(undefined)
  const [conflict, setConflict] = useState<'skip' | 'overwrite'>('skip')
  const [share, setShare] = useState<number | undefined>(undefined)
  const [answer, setAnswer] = useState<ImportBankAnswer | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => { controller.current?.abort() }, [])
  const isBusy = share !== undefined

  const run = async () => {
    if (file === undefined) return
    const { signal } = controller.current = new AbortController()
    setError(undefined)
    setShare(0)
    try {
      const given = await callerBy(uploadFetch(setShare)).importBank(
        { bank_id: bank, on_conflict: conflict, lines: file }, { signal, timeoutMs: IMPORT_TIMEOUT_MS })
      setAnswer(given)
      announce('The import is complete')
      onImported()
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    } finally {
      setShare(undefined)
    }
  }

  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      void run()
    }}
    >
      <Field label='File' hint={file === undefined ? 'NDJSON, as an export gives it.' : formatBytes(file.size)}>
        {(attributes) => (
          <input
            {...attributes} type='file' accept='.ndjson,.jsonl,application/x-ndjson' disabled={isBusy}
            onChange={({ currentTarget }) => {
              setFile(currentTarget.files?.[0])
              setAnswer(undefined)
              setError(undefined)
            }}
          />
        )}
      </Field>
      <Field label='A memory whose id the bank has already'>
        {(attributes) => (
          <select
            {...attributes} value={conflict} disabled={isBusy}
            onChange={({ currentTarget }) => {
              setConflict(currentTarget.value === 'overwrite' ? 'overwrite' : 'skip')
              setAnswer(undefined)
            }}
          >
            <option value='skip'>stays as it is</option>
            <option value='overwrite'>is overwritten</option>
          </select>
        )}
      </Field>
      <p class='hint'>All of the file is taken, or none of it.</p>
      {share !== undefined && (
        <>
          <progress class='memories-progress' aria-label='Import' max={1} {...(share < 1 && { value: share })} />
          <p role='status'>{share < 1 ? `Sending: ${Math.floor(share * 100)} %` : 'The server stores them…'}</p>
        </>
      )}
      {error !== undefined && (
        <>
          <Failure error={error} />
          {namesLine(error) && (
            <p class='hint'>
              Nothing of the file is stored. The check ends at the first line that is wrong: those behind it have not
              been looked at.
            </p>
          )}
        </>
      )}
      {answer !== undefined && (
        <p class='notice' role='status'>
          Imported: {formatNumber(answer.imported)}; skipped: {formatNumber(answer.skipped)};
          {' '}overwritten: {formatNumber(answer.overwritten)}.
        </p>
      )}
      <div class='actions'>
        <button type='submit' class='primary' disabled={file === undefined || isBusy || answer !== undefined}>Import</button>
        <button type='button' onClick={onClose}>{isBusy ? 'Cancel' : 'Close'}</button>
      </div>
    </form>
  )
}

/** Whether an error concerns a line of the file. */
function namesLine (error: unknown): boolean {
  if (!(error instanceof MemoryGatewayError)) return false
  return /^line \d/i.test(error.message) || (error.body?.errors ?? []).some(({ field }) => /^line \d/.test(String(field)))
}
