import type { ForgetAnswer, ForgetRequest, Memory } from 'memory-gateway-client'
import { useEffect, useState } from 'preact/hooks'
import { ConfirmDialog } from '../../components/dialog.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { client, credentials } from '../../state/session.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { MOST_UNDONE, readAll, wayBackOf, type Undo, type WayBack } from './undo.js'

/** What to forget, without the bank. */
export type Selection =
  | { memory_ids: string[] }
  | { tags: string[], tags_match: 'any' | 'all' }
  | { scope: 'all' }

interface Props {
  bank: string
  selection: Selection | undefined
  onDone: (count: number, undo: Undo | undefined) => void
  onClose: () => void
}

/** Shows what would be forgotten, and forgets it when the reader confirms. */
export function ForgetDialog ({ bank, selection, onDone, onClose }: Props) {
  const [preview, setPreview] = useState<ForgetAnswer | undefined>(undefined)
  const [wayBack, setWayBack] = useState<WayBack>('none')
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const key = JSON.stringify(selection)
  useEffect(() => {
    setPreview(undefined)
    setError(undefined)
    if (selection === undefined || credentials.value === undefined) return
    const controller = new AbortController()
    const request: ForgetRequest = { bank_id: bank, ...selection, dry_run: true }
    const { signal } = controller
    const look = async () => {
      const [given, way] = await Promise.all([client.value.forget(request, { signal }), wayBackOf(bank, signal)])
      setWayBack(given.sample !== undefined && given.deleted_count <= MOST_UNDONE ? way : 'none')
      setPreview(given)
    }
    look().catch((failure: unknown) => { if (!signal.aborted) setError(failure) })
    return () => { controller.abort() }
  }, [bank, key, credentials.value])

  const isWhole = selection !== undefined && 'scope' in selection
  const forget = async () => {
    if (selection === undefined || preview === undefined) return
    setIsBusy(true)
    setError(undefined)
    try {
      const memories = wayBack === 'none' ? [] : await readAll(bank, preview.memory_ids, preview.sample ?? [])
      // Exactly the memories shown: those retained meanwhile with the same tags are kept.
      const chosen = 'tags' in selection && preview.deleted_count <= preview.memory_ids.length
        ? { memory_ids: preview.memory_ids }
        : selection
      const { deleted_count: count, memory_ids: gone } = await client.value.forget({ bank_id: bank, ...chosen })
      announce(`Forgotten: ${formatCount(count, 'memory', 'memories')}`)
      // An undo must not restore memories that somebody else has forgotten meanwhile.
      const ours = memories.filter(({ memory_id: id }) => gone.includes(id))
      onDone(count, wayBack === 'none' ? undefined : { bank, memories: ours, isWhole: wayBack === 'whole' })
    } catch (failure) {
      setError(failure)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <ConfirmDialog
      title={isWhole ? 'Forget the whole bank' : 'Forget'} isOpen={selection !== undefined} isBusy={isBusy}
      isReady={preview !== undefined && preview.deleted_count > 0}
      action={preview === undefined ? 'Forget' : `Forget ${formatCount(preview.deleted_count, 'memory', 'memories')}`}
      {...(isWhole && { expected: bank })} onConfirm={() => { void forget() }} onClose={onClose}
    >
      {error !== undefined && <Failure error={error} />}
      {preview === undefined && error === undefined && <Loading what='Looking at what would go' />}
      {preview !== undefined && <Preview preview={preview} wayBack={wayBack} />}
    </ConfirmDialog>
  )
}

function Preview ({ preview, wayBack }: { preview: ForgetAnswer, wayBack: WayBack }) {
  const { deleted_count: count, sample } = preview
  if (count === 0) return <p>Nothing would be forgotten.</p>
  return (
    <>
      <p><strong>{formatCount(count, 'memory', 'memories')}</strong> would be forgotten.</p>
      {sample === undefined
        ? <p class='hint'>You may not read the bank, so they are not shown.</p>
        : <Sample sample={sample} count={count} />}
      <p class='notice'>{wayBackText(wayBack)}</p>
    </>
  )
}

function wayBackText (wayBack: WayBack): string {
  switch (wayBack) {
    case 'none': return 'This cannot be undone: nothing is kept of it. Only up to ' +
      `${formatNumber(MOST_UNDONE)} memories that you may read and store can be put back.`
    case 'content': return 'As long as the page stays open, this can be undone in part: contents, tags and metadata are ' +
      'stored again, as new memories with new ids and of now. To bring back ids and times takes admin on the bank.'
    case 'whole': return 'As long as the page stays open, this can be undone: it keeps what goes and stores it again.'
  }
}

function Sample ({ sample, count }: { sample: readonly Memory[], count: number }) {
  return (
    <>
      <ul class='memories-sample' aria-label='What would go'>
        {sample.map(({ memory_id: id, text }) => (
          <li key={id}><SafeText text={text} shown={160} isExpandable={false} /></li>
        ))}
      </ul>
      {count > sample.length && <p class='hint'>and {formatNumber(count - sample.length)} more.</p>}
    </>
  )
}
