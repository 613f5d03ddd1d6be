import type { StoredMessage } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { ConfirmDialog } from '../../components/dialog.js'
import { MissingPermission, usePermissions } from '../../components/permission.js'
import { SafeText } from '../../components/safe-text.js'
import { EmptyState, Failure, Loading } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { hrefOf, navigate } from '../../state/router.js'
import { client } from '../../state/session.js'
import { usePages } from '../../state/use-pages.js'
import { formatCount } from '../../text/format.js'

const PAGE_SIZE = 50
const SHOWN_CHARACTERS = 2000

/** One conversation: its last messages, and those before them on request. */
export function Conversation ({ bank, id }: { bank: string, id: string }) {
  const [isDeleting, setIsDeleting] = useState(false)
  const mayForget = usePermissions(bank)('forget')
  // The newest first, because pages lead from the end to the beginning.
  const { items, error, isLoading, hasMore, loadMore, reload } = usePages(async (before, signal) => {
    const { messages, next_cursor: next } = await client.value.listMessages(
      { bank_id: bank, conversation_id: id, limit: PAGE_SIZE, before }, { signal })
    return { items: [...messages].reverse(), cursor: next }
  }, [bank, id])
  const isEmpty = items.length === 0 && !isLoading && error === undefined
  return (
    <>
      <p><a href={hrefOf('conversations', { bank })}>All conversations</a></p>
      <div class='memories-head'>
        <h2 tabIndex={-1}><SafeText text={id} isExpandable={false} truncateAt={120} /></h2>
        <p role='status'>
          {items.length > 0 && `${hasMore ? 'the last ' : ''}${formatCount(items.length, 'message')}`}
        </p>
        <button type='button' class='small' onClick={reload}>Reload</button>
        <button
          type='button' class='small danger'
          // Not `disabled`: such a button has no focus, so that a keyboard would not lead to the reason.
          {...(!mayForget && { 'aria-disabled': true, 'aria-describedby': 'needs-forget' })}
          onClick={() => { if (mayForget) setIsDeleting(true) }}
        >
          Delete…
        </button>
      </div>
      {!mayForget && <MissingPermission id='needs-forget' permission='forget' action='delete the conversation' />}
      {error !== undefined && <Failure error={error} retry={loadMore} />}
      {isLoading && <Loading label='Loading messages' />}
      {hasMore && (
        <p><button type='button' aria-disabled={isLoading} onClick={loadMore}>Show earlier messages</button></p>
      )}
      {isEmpty && (
        <EmptyState title='This conversation has no messages.'>
          <p>They were deleted or forgotten, or there was none under this id.</p>
        </EmptyState>
      )}
      {items.length > 0 && (
        <ol class='plain-list conversation' aria-label='Messages'>
          {[...items].reverse().map((message) => (
            <Message key={message.memory_id} bank={bank} message={message} />
          ))}
        </ol>
      )}
      <DeleteDialog bank={bank} id={id} isOpen={isDeleting} onClose={() => { setIsDeleting(false) }} />
    </>
  )
}

function Message ({ bank, message }: { bank: string, message: StoredMessage }) {
  const { memory_id: memory, role, name, content, created_at: at } = message
  return (
    <li class={role === 'user' ? 'card of-user' : 'card'}>
      <p class='memories-facts'>
        <strong><SafeText text={name ?? role} isExpandable={false} truncateAt={60} /></strong>
        {name !== null && <span class='tag'><SafeText text={role} isExpandable={false} truncateAt={40} /></span>}
        <Time at={at} />
        <a href={hrefOf('memories', { bank, memory })} aria-label={`Open memory ${memory}`}>memory</a>
      </p>
      <SafeText text={content} truncateAt={SHOWN_CHARACTERS} />
    </li>
  )
}

interface DeleteProps {
  bank: string
  id: string
  isOpen: boolean
  onClose: () => void
}

function DeleteDialog ({ bank, id, isOpen, onClose }: DeleteProps) {
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const remove = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      const { deleted_count: count } = await client.value.deleteConversation({ bank_id: bank, conversation_id: id })
      announce(`Deleted: ${formatCount(count, 'message')}`)
      navigate('conversations', { bank })
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  return (
    <ConfirmDialog
      title='Delete the conversation' isOpen={isOpen} isBusy={isBusy} action='Delete it'
      onConfirm={() => { void remove() }} onClose={() => {
        setError(undefined)
        onClose()
      }}
    >
      <p>
        All its messages are deleted, also those that are not shown, with their versions, and the facts that were
        derived from them alone. Other memories stay. This cannot be undone.
      </p>
      {error !== undefined && <Failure error={error} />}
    </ConfirmDialog>
  )
}
