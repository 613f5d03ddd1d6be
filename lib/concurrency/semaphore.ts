import { turns } from './turn-budget.js'

export interface SemaphoreOptions {
  /** Permits that can be held at a time. */
  permits: number
  /** Callers that may wait for a permit. */
  maxWaiting: number
  /** Milliseconds that a caller waits at most, unless it passes its own limit. Default: no limit. */
  waitMs?: number
  /** The error for a caller that arrives while `maxWaiting` others wait. */
  queueFullError: () => Error
  /** The error for a caller that got no permit within its time. */
  timeoutError: (waitMs: number) => Error
}

interface Waiter {
  /** @returns whether the waiter takes the permit */
  tryGrant: () => boolean
  reject: (error: Error) => void
}

/** Many waits can time out at the same moment, so all refusals are one flow of the event loop. */
const REFUSAL_FLOW = ' refusals of semaphores'

/** How to wait for a permit. */
export interface AcquireOptions {
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds to wait at most; Infinity: no limit. Default: that of the semaphore. */
  waitMs?: number
  /** Whom the permit is for. Flows that wait share the permits evenly. Default: one flow for all. */
  flow?: string | undefined
}

/**
 * A bounded number of permits with a bounded queue of waiters. A released permit goes to the flow that holds fewest,
 * and within a flow to the first to arrive. It is our own because p-limit, p-queue, async-sema and cockatiel's bulkhead
 * lack flows, a bound on the wait, on the queue, or a way to leave it (docs/decisions/waiting.md).
 */
export class Semaphore {
  readonly permits: number
  readonly #options: SemaphoreOptions
  /** By flow; the flow that was served last is at the end. */
  readonly #waiters = new Map<string, Set<Waiter>>()
  /** How many permits each flow holds, without those that hold none. */
  readonly #permitsByFlow = new Map<string, number>()
  #waiting = 0
  #free: number
  #closed: Error | undefined

  constructor (options: SemaphoreOptions) {
    this.#options = options
    this.#free = this.permits = options.permits
  }

  /** Permits that are held. */
  get held (): number {
    return this.permits - this.#free
  }

  /** Callers that wait for a permit. */
  get waiting (): number {
    return this.#waiting
  }

  /**
   * @returns releases the permit; a second call of it does nothing
   * @throws the reason of the signal; `queueFullError` and `timeoutError` of the options; the error of close()
   */
  async acquire (
    { signal, waitMs = this.#options.waitMs ?? Infinity, flow = '' }: AcquireOptions = {},
  ): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#closed !== undefined) throw this.#closed
    if (this.#free > 0) this.#take(flow)
    else if (!await this.#wait(flow, signal, waitMs)) signal?.throwIfAborted()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#release(flow)
    }
  }

  /** Refuses all waiting and all later callers with this error; permits that are held can still be released. */
  close (error: Error): void {
    this.#closed = error
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.reject(error)
  }

  #take (flow: string): void {
    this.#free--
    this.#permitsByFlow.set(flow, this.#permitsOf(flow) + 1)
  }

  #release (flow: string): void {
    this.#free++
    const remaining = this.#permitsOf(flow) - 1
    if (remaining > 0) this.#permitsByFlow.set(flow, remaining)
    else this.#permitsByFlow.delete(flow)
    // The permit passes directly to the next waiter, so that no later caller can overtake it.
    for (let next = this.#nextFlow(); next !== undefined; next = this.#nextFlow()) {
      const waiters = this.#waiters.get(next)!
      const [waiter] = waiters
      if (!waiter!.tryGrant()) continue
      this.#take(next)
      if (waiters.size > 0) {
        this.#waiters.delete(next)
        this.#waiters.set(next, waiters)
      }
      return
    }
  }

  #permitsOf (flow: string): number {
    return this.#permitsByFlow.get(flow) ?? 0
  }

  /** The flow with waiters that holds fewest permits; of equal ones the one that was served longest ago. */
  #nextFlow (): string | undefined {
    let next: string | undefined
    for (const flow of this.#waiters.keys()) {
      if (next === undefined || this.#permitsOf(flow) < this.#permitsOf(next)) next = flow
    }
    return next
  }

  /** Makes room in a full queue for a flow by refusing the last waiter of a flow with more. @throws queueFullError() */
  #makeRoom (flow: string): void {
    const { maxWaiting, queueFullError: full } = this.#options
    if (this.#waiting < maxWaiting) return
    let longest = this.#waiters.get(flow) ?? new Set<Waiter>()
    const allowed = longest.size + 1
    for (const waiters of this.#waiters.values()) if (waiters.size > longest.size) longest = waiters
    if (longest.size <= allowed) throw full()
    const last = [...longest].at(-1)
    last?.reject(full())
  }

  /** @returns true with the permit, false when the signal aborted */
  async #wait (flow: string, signal: AbortSignal | undefined, waitMs: number): Promise<boolean> {
    this.#makeRoom(flow)
    const { timeoutError: late } = this.#options
    const waiters = this.#waiters.get(flow) ?? new Set<Waiter>()
    return await new Promise<boolean>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        if (!waiters.delete(waiter)) return
        this.#waiting--
        if (waiters.size === 0) this.#waiters.delete(flow)
      }
      const endsAt = performance.now() + waitMs
      const waiter: Waiter = {
        tryGrant: () => {
          // A waiter whose time is over does not use the permit, so the next one gets it.
          const isInTime = performance.now() < endsAt
          if (isInTime) {
            leave()
            resolve(true)
          } else waiter.reject(late(waitMs))
          return isInTime
        },
        reject: (error) => { leave(); reject(error) },
      }
      const abort = () => { leave(); resolve(false) }
      const expire = async () => {
        await turns.next(REFUSAL_FLOW)
        if (waiters.has(waiter)) waiter.reject(late(waitMs))
      }
      const timer = waitMs === Infinity ? undefined : setTimeout(() => { void expire() }, waitMs)
      signal?.addEventListener('abort', abort, { once: true })
      waiters.add(waiter)
      this.#waiters.set(flow, waiters)
      this.#waiting++
    })
  }
}
