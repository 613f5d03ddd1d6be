import type { Flow } from './flow-tree.js'

/**
 * When work last began, for the caller whose work began last and for all the others together: enough to tell whether a
 * caller was alone for a time.
 */
export class RecentCallers {
  #last: string | undefined
  #lastAt = -Infinity
  #othersAt = -Infinity

  /** @param now milliseconds, by a clock that never goes back */
  note ([caller]: Flow, now: number): void {
    if (caller !== this.#last) {
      this.#othersAt = this.#lastAt
      this.#last = caller
    }
    this.#lastAt = now
  }

  /** Whether work of another caller began since then. */
  hasOthersSince ([caller]: Flow, since: number): boolean {
    return (caller === this.#last ? this.#othersAt : this.#lastAt) >= since
  }
}
