import { useEffect, useRef } from 'preact/hooks'
import { NoBank } from '../../components/bank-choice.js'
import { currentBank } from '../../state/current-bank.js'
import { route } from '../../state/router.js'
import { isBankId } from '../../text/bank-id.js'
import '../memories/memories.css'
import { Conversation } from './conversation.js'
import './conversations.css'
import { ConversationList } from './list.js'

/** The conversations of the current bank, or the one that the URL names. */
export default function ConversationsPage () {
  const bank = currentBank.value
  const id = route.value.params.get('conversation') ?? ''
  const shown = useRef(id)
  // The link or button that led here is gone.
  useEffect(() => {
    if (shown.current !== id) document.querySelector<HTMLElement>('main h2')?.focus()
    shown.current = id
  }, [id])
  if (!isBankId(bank)) return <NoBank />
  return id === ''
    ? <ConversationList key={bank} bank={bank} />
    : <Conversation key={`${bank} ${id}`} bank={bank} id={id} />
}
