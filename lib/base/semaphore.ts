import { Deadline } from './deadline.js'

export interface SemaphoreOptions {
  /** Permits that can be held at a time. */
  permits: number
  /** Callers that may wait for a permit. Default: no limit. */
  maxWaiting?: number
  /** Milliseconds that a caller waits at most, unless it passes its own limit. Default: no limit. */
  waitMs?: number
  /** The error for a caller that got no permit within its time. */
  timeoutError: (waitMs: number) => Error
  /** The error for a caller that arrives while `maxWaiting` others wait. Default: that of a caller without time. */
  queueFullError?: () => Error
}

/** How to wait for a permit. */
interface AcquireOptions {
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds to wait at most; Infinity: no limit. Default: that of the semaphore. */
  waitMs?: number
}

interface Waiter {
  /** @returns whether the waiter takes the permit */
  tryGrant: () => boolean
  refuse: (error: unknown) => void
}

/**
 * A bounded number of permits with a bounded queue, served in the order of arrival. It is our own because p-limit,
 * p-queue, async-sema and cockatiel's bulkhead lack a bound on the wait, on the queue, or a way to leave it.
 */
export class Semaphore {
  readonly permits: number
  readonly #options: SemaphoreOptions
  /** In the order of their arrival. */
  readonly #waiters = new Set<Waiter>()
  #held = 0
  #closed: Error | undefined

  constructor (options: SemaphoreOptions) {
    this.#options = options
    this.permits = options.permits
  }

  /** Permits that are held. */
  get held (): number {
    return this.#held
  }

  /** Callers that wait for a permit. */
  get waiting (): number {
    return this.#waiters.size
  }

  /**
   * @returns releases the permit; a second call of it does nothing
   * @throws the reason of the signal; `queueFullError` and `timeoutError` of the options; the error of close()
   */
  async acquire ({ signal, waitMs = this.#options.waitMs ?? Infinity }: AcquireOptions = {}): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#closed !== undefined) throw this.#closed
    if (this.#held < this.permits) this.#held++
    else await this.#wait(signal, waitMs)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#held--
      // The permit passes directly to the next waiter, so that no later caller can overtake it.
      for (const waiter of this.#waiters) {
        this.#waiters.delete(waiter)
        if (waiter.tryGrant()) return
      }
    }
  }

  /**
   * Does the work with a permit.
   * @throws as acquire(); what the work throws
   */
  async run<T> (work: () => Promise<T>, options?: AcquireOptions): Promise<T> {
    const release = await this.acquire(options)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Refuses all waiting and all later callers with this error; permits that are held can still be released. */
  close (error: Error): void {
    this.#closed = error
    for (const waiter of this.#waiters) waiter.refuse(error)
  }

  async #wait (signal: AbortSignal | undefined, waitMs: number): Promise<void> {
    const { maxWaiting = Infinity, timeoutError: late, queueFullError: full = () => late(0) } = this.#options
    if (this.#waiters.size >= maxWaiting) throw full()
    const deadline = new Deadline(waitMs, { signal, expired: () => late(waitMs) })
    try {
      await new Promise<void>((resolve, reject) => {
        const waiter: Waiter = {
          tryGrant: () => {
            // A waiter whose time is over does not use the permit, so the next one gets it.
            const isInTime = deadline.remainingMs() > 0
            if (!isInTime) reject(late(waitMs))
            else {
              this.#held++
              resolve()
            }
            return isInTime
          },
          refuse: (error) => {
            this.#waiters.delete(waiter)
            reject(error)
          },
        }
        this.#waiters.add(waiter)
        deadline.signal.addEventListener('abort', () => { waiter.refuse(deadline.signal.reason) })
      })
    } finally {
      deadline.end()
    }
  }
}
