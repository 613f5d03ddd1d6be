import { MemoryGatewayError } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { EmptyState, ListingEnd } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { firstPage } from '../../state/first-page.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { usePages } from '../../state/use-pages.js'
import { formatCount, formatNumber } from '../../text/format.js'

const PAGE_SIZE = 100

/** The conversations of a bank. */
export function ConversationList ({ bank }: { bank: string }) {
  const { items, error, isLoading, hasMore, loadMore, reload } = usePages(async (cursor, signal) => {
    const { conversations, next_cursor: next } = await firstPage(
      client.value.listConversations({ bank_id: bank, limit: PAGE_SIZE, cursor }, { signal }))
    return { items: conversations, cursor: next }
  }, [bank])
  if (error instanceof MemoryGatewayError && error.code === 'not_supported') {
    return <EmptyState title='The store of this server keeps no conversations.' />
  }
  return (
    <>
      <div class='memories-head'>
        <h2 tabIndex={-1}>All conversations</h2>
        <p role='status'>{items.length > 0 && `${formatNumber(items.length)}${hasMore ? ' and more' : ''}, by id`}</p>
        <button type='button' class='small' onClick={reload}>Reload</button>
      </div>
      {items.length > 0 && (
        <ul class='plain-list card conversations' aria-label='Conversations'>
          {items.map(({ conversation_id: id, message_count: count, last_message_at: at }) => (
            <li key={id}>
              <a href={hrefOf('conversations', { bank, conversation: id })}>
                <SafeText text={id} isExpandable={false} truncateAt={120} />
              </a>
              <p class='memories-facts'>
                <span>{formatCount(count, 'message')}</span><span>the last one stored <Time at={at} /></span>
              </p>
            </li>
          ))}
        </ul>
      )}
      {items.length === 0 && !isLoading && error === undefined && (
        <EmptyState title='The bank has no conversations.'>
          <p>
            An application that sends its messages to{' '}
            <code>POST /v1/banks/{bank}/conversations/{'{conversation_id}'}/messages</code> has each stored once, as a
            memory. It may send the whole conversation after every turn.
          </p>
        </EmptyState>
      )}
      <ListingEnd error={error} isLoading={isLoading} hasMore={hasMore} loadMore={loadMore} />
    </>
  )
}
