import { turns } from './turn-budget.js'

export interface SemaphoreOptions {
  /** How many hold a permit at a time. */
  permits: number
  /** How many may wait for one. */
  maxWaiting: number
  /** Milliseconds that a caller waits at most, unless it says otherwise. Default: as long as it takes. */
  waitMs?: number
  /** The error for a caller that arrives while `maxWaiting` others wait. */
  full: () => Error
  /** The error for a caller that was given no permit within its time. */
  late: (waitMs: number) => Error
}

interface Waiter {
  /** @returns whether the waiter takes the permit */
  give: () => boolean
  refuse: (error: Error) => void
}

/** Many waits can time out at the same moment, so all refusals are one flow of the event loop. */
const REFUSALS = ' refusals of semaphores'

/**
 * A bounded number of permits, first come first served, with a bounded queue of waiters. It is our own because p-limit,
 * p-queue, async-sema and cockatiel's bulkhead lack a bound on the wait, on the queue, or a way to leave it
 * (docs/decisions/waiting.md).
 */
export class Semaphore {
  readonly permits: number
  readonly #options: SemaphoreOptions
  readonly #waiters = new Set<Waiter>()
  #free: number
  #closed: Error | undefined

  constructor (options: SemaphoreOptions) {
    this.#options = options
    this.#free = this.permits = options.permits
  }

  /** How many hold a permit. */
  get held (): number {
    return this.permits - this.#free
  }

  /** How many wait for one. */
  get waiting (): number {
    return this.#waiters.size
  }

  /**
   * @param signal ends the wait with its reason
   * @param waitMs milliseconds to wait at most; Infinity: as long as it takes
   * @returns releases the permit; a second call of it does nothing
   * @throws the errors of the options `full` and `late`; the error of close()
   */
  async acquire (signal?: AbortSignal, waitMs = this.#options.waitMs ?? Infinity): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#closed !== undefined) throw this.#closed
    if (this.#free > 0) this.#free--
    else if (!await this.#wait(signal, waitMs)) signal?.throwIfAborted()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      // The permit passes directly to the next waiter, so that no later caller can overtake it.
      for (const waiter of this.#waiters) if (waiter.give()) return
      this.#free++
    }
  }

  /** Refuses all waiting and all later callers with this error; permits that are held can still be released. */
  close (error: Error): void {
    this.#closed = error
    for (const waiter of this.#waiters) waiter.refuse(error)
  }

  /** @returns true with the permit, false when the signal aborted */
  async #wait (signal: AbortSignal | undefined, waitMs: number): Promise<boolean> {
    const { maxWaiting, full, late } = this.#options
    if (this.#waiters.size >= maxWaiting) throw full()
    return await new Promise<boolean>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiters.delete(waiter)
      }
      const endsAt = performance.now() + waitMs
      const waiter: Waiter = {
        give: () => {
          // A waiter whose time is over does not use the permit, so the next one gets it.
          const isInTime = performance.now() < endsAt
          if (isInTime) {
            leave()
            resolve(true)
          } else waiter.refuse(late(waitMs))
          return isInTime
        },
        refuse: (error) => { leave(); reject(error) },
      }
      const abort = () => { leave(); resolve(false) }
      const expire = async () => {
        await turns.next(REFUSALS)
        if (this.#waiters.has(waiter)) waiter.refuse(late(waitMs))
      }
      const timer = waitMs === Infinity ? undefined : setTimeout(() => { void expire() }, waitMs)
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiters.add(waiter)
    })
  }
}
