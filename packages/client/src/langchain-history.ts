import { BaseListChatMessageHistory } from '@langchain/core/chat_history'
import {
  AIMessage, type BaseMessage, ChatMessage, HumanMessage, SystemMessage,
} from '@langchain/core/messages'
import type { Conversation } from './conversation.js'
import type { ConversationMessage, StoredMessage } from './types.js'

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

/**
 * The messages of LangChain in the form of a conversation, for `append`: texts alone, without calls of tools and their
 * results.
 */
export function conversationMessages (messages: readonly BaseMessage[]): ConversationMessage[] {
  return messages.flatMap((message): ConversationMessage[] => {
    const { type, text, id, name } = message
    if (type === 'tool' || type === 'function' || type === 'remove' || text.trim() === '') return []
    const role = ChatMessage.isInstance(message) ? message.role : ROLES[type] ?? type
    return [{ role, content: text, ...id !== undefined && { id }, ...name !== undefined && { name } }]
  })
}

/** A conversation as the chat history of `RunnableWithMessageHistory`. It has texts alone: calls of tools are lost. */
export class MemoryGatewayChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ['memory_gateway', 'stores', 'message']
  readonly #conversation: Conversation

  constructor (conversation: Conversation) {
    super()
    this.#conversation = conversation
  }

  override async getMessages (): Promise<BaseMessage[]> {
    return (await this.#conversation.last()).map(toMessage)
  }

  override async addMessage (message: BaseMessage): Promise<void> {
    await this.addMessages([message])
  }

  /** Every message is new, even one that says what another said, so that each gets an id. */
  override async addMessages (messages: BaseMessage[]): Promise<void> {
    const added = conversationMessages(messages)
      .map((message) => ({ ...message, id: message.id ?? crypto.randomUUID() }))
    if (added.length > 0) await this.#conversation.append(added)
  }

  override async clear (): Promise<void> {
    await this.#conversation.delete()
  }
}

function toMessage ({ role, content, id, name }: StoredMessage): BaseMessage {
  const fields = { content, ...id !== null && { id }, ...name !== null && { name } }
  switch (role) {
    case 'user': return new HumanMessage(fields)
    case 'assistant': return new AIMessage(fields)
    case 'system': return new SystemMessage(fields)
    default: return new ChatMessage({ ...fields, role })
  }
}
