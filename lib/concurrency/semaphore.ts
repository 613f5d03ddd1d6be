import { FlowTree, type Flow } from './flow-tree.js'
import { systemFlow } from './system-flow.js'
import { NO_CALLER, turns } from './turn-budget.js'

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

interface Waiter {
  /** @returns whether the waiter takes the permit */
  tryGrant: () => boolean
  reject: (error: Error) => void
}

/** Many waits can time out at the same moment, so all refusals are one flow of the event loop. */
const REFUSAL_FLOW = systemFlow('refusals of semaphores')

/** How to wait for a permit. */
interface AcquireOptions {
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds to wait at most; Infinity: no limit. Default: that of the semaphore. */
  waitMs?: number
  /** Whom the permit is for. Default: one flow for all. */
  flow?: Flow | undefined
}

const COMMON_FLOW: Flow = [NO_CALLER]

/**
 * A bounded number of permits with a bounded queue of waiters. A released permit goes to the flow that holds fewest,
 * and within a flow to the first to arrive. It is our own because p-limit, p-queue, async-sema and cockatiel's bulkhead
 * lack flows, a bound on the wait, on the queue, or a way to leave it.
 */
export class Semaphore {
  readonly permits: number
  readonly #options: SemaphoreOptions
  readonly #flows = new FlowTree<Waiter>()
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
    return this.#flows.waiting
  }

  /**
   * @returns releases the permit; a second call of it does nothing
   * @throws the reason of the signal; `queueFullError` and `timeoutError` of the options; the error of close()
   */
  async acquire (
    { signal, waitMs = this.#options.waitMs ?? Infinity, flow = COMMON_FLOW }: AcquireOptions = {},
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
    for (const waiter of [...this.#flows]) waiter.reject(error)
  }

  #take (flow: Flow): void {
    this.#free--
    this.#flows.hold(flow, 1)
  }

  #release (flow: Flow): void {
    this.#free++
    this.#flows.hold(flow, -1)
    // The permit passes directly to the next waiter, so that no later caller can overtake it.
    for (let next = this.#flows.next(); next !== undefined; next = this.#flows.next()) if (next.tryGrant()) return
  }

  /** Makes room in a full queue for a flow by refusing the last waiter of a flow with more. @throws queueFullError() */
  #makeRoom (flow: Flow): void {
    const { maxWaiting = Infinity, timeoutError, queueFullError: full = () => timeoutError(0) } = this.#options
    if (this.#flows.waiting < maxWaiting) return
    const last = this.#flows.replaceableBy(flow)
    if (last === undefined) throw full()
    last.reject(full())
  }

  /** @returns true with the permit, false when the signal aborted */
  async #wait (flow: Flow, signal: AbortSignal | undefined, waitMs: number): Promise<boolean> {
    this.#makeRoom(flow)
    const { timeoutError: late } = this.#options
    return await new Promise<boolean>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#flows.delete(flow, waiter)
      }
      const endsAt = performance.now() + waitMs
      const waiter: Waiter = {
        tryGrant: () => {
          // A waiter whose time is over does not use the permit, so the next one gets it.
          const isInTime = performance.now() < endsAt
          if (isInTime) {
            this.#flows.noteServed(flow)
            this.#take(flow)
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
        if (this.#flows.has(flow, waiter)) waiter.reject(late(waitMs))
      }
      const timer = waitMs === Infinity ? undefined : setTimeout(() => { void expire() }, waitMs)
      signal?.addEventListener('abort', abort, { once: true })
      this.#flows.add(flow, waiter)
    })
  }
}
