import { giveWay, isDue } from '../base/event-loop.js'
import { beginningOf } from '../base/shorten.js'
import { countTokens } from '../text/tokens.js'

/**
 * The tokens (o200k_base) that an answer may have. A model pays for every answer with its context, so answers are cut
 * and say so. Counting stops where the budget ends, so that its cost does not depend on the length of what is cut.
 */
export class TokenBudget {
  #remaining: number

  constructor (tokens: number) {
    this.#remaining = tokens
  }

  get remaining (): number {
    return this.#remaining
  }

  /**
   * Takes the tokens of a value's JSON.
   * @param reserved the tokens that must remain
   * @returns whether they fit; otherwise nothing is taken
   */
  async take (value: unknown, reserved = 0): Promise<boolean> {
    const limit = this.#remaining - reserved
    if (limit < 0) return false
    if (isDue()) await giveWay()
    const tokens = countTokens(JSON.stringify(value) ?? 'null', limit)
    if (tokens > limit) return false
    this.#remaining -= tokens
    return true
  }

  /** Takes all values. @returns whether they fit; otherwise nothing is taken */
  async takeAll (values: readonly unknown[]): Promise<boolean> {
    const before = this.#remaining
    for (const value of values) {
      if (await this.take(value)) continue
      this.#remaining = before
      return false
    }
    return true
  }

  /** Takes the values that fit, in order, up to the first that does not. */
  async takeMany<T> (values: readonly T[]): Promise<T[]> {
    const taken: T[] = []
    for (const value of values) {
      if (!await this.take(value)) break
      taken.push(value)
    }
    return taken
  }

  /**
   * Takes a page of a list. A truncated page would have no valid cursor, so a shorter page is read until it fits.
   * @returns the page and whether it fits; one of a single entry may not, and nothing is taken
   */
  async takePage<Page> (
    limit: number, read: (limit: number) => Promise<Page>, entriesOf: (page: Page) => readonly unknown[],
  ): Promise<{ page: Page, fits: boolean }> {
    for (let size = limit; ;) {
      const page = await read(size)
      const { length } = entriesOf(page)
      const fits = await this.take(page)
      if (fits || length <= 1) return { page, fits }
      size = Math.floor(length / 2)
    }
  }

  /** Takes as much of a text as fits, from its beginning. @returns undefined when the whole text fits */
  async cut (text: string): Promise<string | undefined> {
    if (await this.take(text)) return undefined
    // A token is four characters of English text. Other texts have more tokens and are halved until they fit.
    for (let length = Math.min(text.length - 1, 4 * this.#remaining); length > 0; length = Math.floor(length / 2)) {
      const start = beginningOf(text, length)
      if (await this.take(start)) return start
    }
    return ''
  }
}
