import type { CallOptions, WriteOptions } from './options.js'
import type * as T from './types.js'

/** The operations that a conversation is made of. */
export interface ConversationOperations {
  appendMessages: (request: T.AppendMessagesRequest, options?: WriteOptions) => Promise<T.AppendMessagesAnswer>
  listMessages: (request: T.ListMessagesRequest, options?: CallOptions) => Promise<T.MessagesPage>
  popMessages: (request: T.PopMessagesRequest, options?: WriteOptions) => Promise<T.PoppedMessages>
  deleteConversation: (request: T.DeleteConversationRequest, options?: CallOptions) => Promise<T.DeletedMessages>
}

/** One conversation of a bank. */
export class Conversation {
  readonly bank: string
  readonly id: string
  readonly #client: ConversationOperations

  constructor (client: ConversationOperations, bank: string, id: string) {
    this.#client = client
    this.bank = bank
    this.id = id
  }

  /**
   * Appends the messages that the conversation does not have: a whole transcript may be sent each time, or what is new.
   * At most 1,000: of a longer transcript, send the end.
   */
  async append (messages: readonly T.ConversationMessage[], options?: WriteOptions): Promise<T.AppendMessagesAnswer> {
    return await this.#client.appendMessages({ ...this.#names, messages: [...messages] }, options)
  }

  /** The newest messages, oldest first, or those before or after a place. */
  async messages (
    query: Omit<T.ListMessagesRequest, 'bank_id' | 'conversation_id'> = {}, options?: CallOptions,
  ): Promise<T.MessagesPage> {
    return await this.#client.listMessages({ ...query, ...this.#names }, options)
  }

  /** The last messages, oldest first. @param limit default: all */
  async last (limit = Infinity, options?: CallOptions): Promise<T.StoredMessage[]> {
    const found: T.StoredMessage[][] = []
    let missing = limit
    for (let before: string | undefined; missing > 0;) {
      const page = await this.messages({ limit: Math.min(missing, 200), before }, options)
      found.unshift(page.messages)
      missing -= page.messages.length
      if (page.next_cursor === null) break
      before = page.next_cursor
    }
    return found.flat()
  }

  /** Deletes the last messages. */
  async pop (count = 1, options?: WriteOptions): Promise<T.PoppedMessages> {
    return await this.#client.popMessages({ ...this.#names, count }, options)
  }

  /** Deletes all of its messages. */
  async delete (options?: CallOptions): Promise<T.DeletedMessages> {
    return await this.#client.deleteConversation(this.#names, options)
  }

  get #names (): { bank_id: string, conversation_id: string } {
    return { bank_id: this.bank, conversation_id: this.id }
  }
}
