import { MemoryGatewayError } from './errors.js'

interface Page { next_cursor: string | null }

/** A listing. Iterating it yields one item after the other and fetches further pages as needed. */
export class Listing<Item, Answer extends Page> implements AsyncIterable<Item> {
  readonly #fetchPage: (cursor: string | undefined) => Promise<Answer>
  readonly #itemsOf: (page: Answer) => readonly Item[]

  constructor (fetchPage: (cursor: string | undefined) => Promise<Answer>, itemsOf: (page: Answer) => readonly Item[]) {
    this.#fetchPage = fetchPage
    this.#itemsOf = itemsOf
  }

  /**
   * The answers, one per page. The `next_cursor` of one, sent as `cursor`, continues after it at any later time.
   * @throws MemoryGatewayError when a cursor is repeated: the listing would never end
   */
  async * pages (): AsyncGenerator<Answer, void> {
    let cursor: string | undefined
    // An earlier cursor, replaced after twice as many pages each time (R. P. Brent's detection of cycles): a cycle of
    // any length returns to it.
    let earlier: string | undefined
    for (let pages = 1, replacedAt = 1; ; pages++) {
      const page = await this.#fetchPage(cursor)
      const next = page.next_cursor ?? undefined
      if (next !== undefined && (next === cursor || next === earlier)) {
        throw new MemoryGatewayError('unusable_answer', 'A page has the cursor of an earlier one')
      }
      yield page
      if (next === undefined) return
      cursor = next
      if (pages === replacedAt) {
        earlier = next
        replacedAt *= 2
      }
    }
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Item, void> {
    for await (const page of this.pages()) yield * this.#itemsOf(page)
  }
}

/** The query of the page after a cursor. */
export function withCursor (query: object, cursor: string | undefined): object {
  return cursor === undefined ? query : { ...query, cursor }
}
