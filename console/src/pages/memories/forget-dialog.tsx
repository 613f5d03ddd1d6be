import type { ForgetAnswer, ForgetRequest, Memory } from 'memory-gateway-client'
import { useEffect, useState } from 'preact/hooks'
import { ConfirmDialog } from '../../components/dialog.js'
import { MissingPermission, type Permission } from '../../components/permission.js'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { StateBadge } from '../../components/state-badge.js'
import { Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { client, credentials } from '../../state/session.js'
import { formatCount, formatNumber } from '../../text/format.js'
import type { ForgetFilters } from './filters.js'
import { MAX_UNDO, readMemories, undoScopeOf, type Undo, type UndoScope } from './undo.js'

/** Which memories of the bank are forgotten. */
export type Selection =
  | { memory_ids: string[] }
  | { filters: ForgetFilters }
  | { scope: 'all' }

interface Props {
  bank: string
  isGranted: (permission: Permission) => boolean
  selection: Selection | undefined
  onDone: (count: number, undo: Undo | undefined) => void
  onClose: () => void
}

/** Shows the memories that would be forgotten, and forgets them when the user confirms. */
export function ForgetDialog ({ bank, isGranted, selection, onDone, onClose }: Props) {
  const [preview, setPreview] = useState<ForgetAnswer | undefined>(undefined)
  const [undoScope, setUndoScope] = useState<UndoScope>('none')
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const key = JSON.stringify(selection)
  const isAllowed = isGranted('forget')
  useEffect(() => {
    setPreview(undefined)
    setError(undefined)
    if (selection === undefined || !isAllowed || credentials.value === undefined) return
    const controller = new AbortController()
    const request: ForgetRequest = { bank_id: bank, ...fieldsOf(selection), dry_run: true }
    const { signal } = controller
    const loadPreview = async () => {
      const [answer, scope] = await Promise.all([client.value.forget(request, { signal }), undoScopeOf(bank, signal)])
      setUndoScope(answer.sample !== undefined && answer.deleted_count <= MAX_UNDO ? scope : 'none')
      setPreview(answer)
    }
    loadPreview().catch((failure: unknown) => { if (!signal.aborted) setError(failure) })
    return () => { controller.abort() }
  }, [bank, key, isAllowed, credentials.value])

  const isWholeBank = selection !== undefined && 'scope' in selection
  const forget = async () => {
    if (selection === undefined || preview === undefined) return
    setIsBusy(true)
    setError(undefined)
    try {
      const memories = undoScope === 'none' ? [] : await readMemories(bank, preview.memory_ids, preview.sample ?? [])
      // Only the memories of the preview: those retained since then that pass the same filters are kept.
      const chosen = 'filters' in selection && preview.deleted_count <= preview.memory_ids.length
        ? { memory_ids: preview.memory_ids }
        : fieldsOf(selection)
      const { deleted_count: count, memory_ids: forgottenIds } = await client.value.forget({ bank_id: bank, ...chosen })
      announce(`Forgotten: ${formatCount(count, 'memory', 'memories')}`)
      // An undo must not restore memories that another user has forgotten in the meantime.
      // As a new memory it would be current.
      const restorable = memories.filter(({ memory_id: id, state }) => (
        forgottenIds.includes(id) && (undoScope === 'all' || state === 'current')
      ))
      onDone(count, undoScope === 'none' ? undefined : { bank, memories: restorable, isComplete: undoScope === 'all' })
    } catch (failure) {
      setError(failure)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <ConfirmDialog
      title={isWholeBank ? 'Forget the whole bank' : 'Forget'} isOpen={selection !== undefined} isBusy={isBusy}
      isReady={preview !== undefined && preview.deleted_count > 0}
      action={preview === undefined ? 'Forget' : `Forget ${formatCount(preview.deleted_count, 'memory', 'memories')}`}
      {...(isWholeBank && { expected: bank })} onConfirm={() => { void forget() }} onClose={onClose}
    >
      {error !== undefined && <Failure error={error} />}
      {!isAllowed && <MissingPermission permission='forget' action='forget' />}
      {isAllowed && preview === undefined && error === undefined && <Loading label='Loading the preview' />}
      {preview !== undefined && <Preview preview={preview} undoScope={undoScope} />}
    </ConfirmDialog>
  )
}

function fieldsOf (selection: Selection) {
  return 'filters' in selection ? selection.filters : selection
}

function Preview ({ preview, undoScope }: { preview: ForgetAnswer, undoScope: UndoScope }) {
  const { deleted_count: count, sample } = preview
  if (count === 0) return <p>Nothing would be forgotten.</p>
  return (
    <>
      <p><strong>{formatCount(count, 'memory', 'memories')}</strong> would be forgotten.</p>
      {sample === undefined
        ? <p class='hint'>You may not read the bank, so the memories are not shown.</p>
        : <Sample sample={sample} count={count} />}
      <p class='notice'>{undoNoticeText(undoScope)}</p>
    </>
  )
}

function undoNoticeText (undoScope: UndoScope): string {
  switch (undoScope) {
    case 'none': return 'This cannot be undone. Only up to ' +
      `${formatNumber(MAX_UNDO)} memories that you may read and store can be restored.`
    case 'content': return 'As long as the page stays open, this can be undone in part: contents, tags and metadata ' +
      'are stored again, as new memories with new ids and the current time. Restoring ids and times requires admin ' +
      'on the bank.'
    case 'all': return 'As long as the page stays open, this can be undone: it keeps the memories and can store ' +
      'them again, without their earlier versions.'
  }
}

function Sample ({ sample, count }: { sample: readonly Memory[], count: number }) {
  return (
    <>
      <ul class='memories-sample' aria-label='Memories that would be forgotten'>
        {sample.map((memory) => (
          <li key={memory.memory_id}>
            <Said memory={memory} /> <StateBadge memory={memory} /><br />
            <SafeText text={memory.text} truncateAt={160} isExpandable={false} />
          </li>
        ))}
      </ul>
      {count > sample.length && <p class='hint'>and {formatNumber(count - sample.length)} more.</p>}
    </>
  )
}
