import { turns } from '../../concurrency/turn-budget.js'
import { ModelCallError } from './model-call-error.js'

export interface SlotsOptions {
  /** What is asked, for messages: `embedding endpoint`. */
  what: string
  /** How many hold a slot at a time. */
  slots: number
  /** How many may wait for one. */
  maxWaiting: number
  /** Milliseconds after which one that is refused does well to come back. */
  retryAfterMs: () => number
}

/** Those who wait together give up together: all of them share the event loop as one caller. */
const REFUSALS = ' refusals of models'

/**
 * A bound on what is under way, first come first served. Cockatiel's bulkhead is no use here: a waiter that is aborted keeps its
 * place there, and the slot that comes to it is lost to those behind it (3.2.1).
 */
export class Slots {
  readonly #options: SlotsOptions
  /** Each takes a slot and says whether it did. */
  readonly #waiting = new Set<() => boolean>()
  #free: number

  constructor (options: SlotsOptions) {
    this.#options = options
    this.#free = options.slots
  }

  /** How many hold a slot. */
  get taken (): number {
    return this.#options.slots - this.#free
  }

  get waiting (): number {
    return this.#waiting.size
  }

  /**
   * @param waitMs milliseconds to wait at most; Infinity: as long as it takes
   * @returns what gives the slot back; call it once
   * @throws ModelCallError overloaded; the signal's reason once it is aborted
   */
  async take (signal: AbortSignal, waitMs: number): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else if (!await this.#wait(signal, waitMs)) signal.throwIfAborted()
    return () => {
      for (const offer of this.#waiting) if (offer()) return
      this.#free++
    }
  }

  /** @returns whether the slot came, and not the abort */
  async #wait (signal: AbortSignal, waitMs: number): Promise<boolean> {
    const { what, slots, maxWaiting } = this.#options
    if (this.#waiting.size >= maxWaiting) throw this.#overloaded(`All ${slots} calls to the ${what} are under way and ${maxWaiting} wait`)
    return await new Promise<boolean>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        this.#waiting.delete(give)
      }
      const endsAt = performance.now() + waitMs
      const give = () => {
        // A call that has no time left would only take the slot, and the endpoint's work, from the next.
        if (performance.now() >= endsAt) {
          refuse()
          return false
        }
        leave()
        resolve(true)
        return true
      }
      const abort = () => { leave(); resolve(false) }
      const refuse = () => { leave(); reject(this.#overloaded(`None of the ${slots} calls to the ${what} ended within ${Math.round(waitMs)} ms`)) }
      const giveUp = async () => {
        await turns.next(REFUSALS)
        if (this.#waiting.has(give)) refuse()
      }
      const timer = waitMs === Infinity ? undefined : setTimeout(() => { void giveUp() }, waitMs)
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(give)
    })
  }

  #overloaded (message: string): ModelCallError {
    return new ModelCallError('overloaded', message, { retryAfterMs: this.#options.retryAfterMs() })
  }
}
