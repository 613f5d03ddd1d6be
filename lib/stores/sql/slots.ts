import { ServiceError } from '../../errors/service-error.js'
import type { PoolStatus } from '../vector-store.js'
import { SqlError } from './executor.js'

export interface SlotOptions {
  /** How many hold one at a time. */
  slots: number
  /** How many may wait for one. */
  maxWaiting: number
  /** How long one waits, in milliseconds. */
  waitMs: number
}

interface Waiting {
  give: () => void
  refuse: (error: unknown) => void
}

/**
 * A bound on what is under way, first come first served. What would wait too long, or behind too many, is refused at once, so that
 * a slow database makes callers come back later instead of piling up here.
 */
export class Slots {
  readonly #options: SlotOptions
  readonly #waiting = new Set<Waiting>()
  #free: number
  #closed = false

  constructor (options: SlotOptions) {
    this.#options = options
    this.#free = options.slots
  }

  /**
   * @param signal gives the wait up
   * @returns what gives the slot back; a second call of it does nothing
   * @throws SqlError busy, connection after close(); the signal's reason
   */
  async take (signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#closed) throw new SqlError('connection', 'The store is closed')
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    let held = true
    return () => {
      if (!held) return
      held = false
      const [next] = this.#waiting
      if (next === undefined) this.#free++
      else next.give()
    }
  }

  get status (): PoolStatus {
    const { slots } = this.#options
    return { size: slots, inUse: slots - this.#free, waiting: this.#waiting.size }
  }

  /** Refuses those that wait. */
  close (): void {
    this.#closed = true
    for (const { refuse } of this.#waiting) refuse(new SqlError('connection', 'The store is closed'))
  }

  async #wait (signal: AbortSignal | undefined): Promise<void> {
    const { slots, maxWaiting, waitMs } = this.#options
    if (this.#waiting.size >= maxWaiting) throw new SqlError('busy', `All ${slots} connections are in use and ${maxWaiting} callers wait`)
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        this.#waiting.delete(waiting)
      }
      const giveUp = () => { waiting.refuse(signal?.reason) }
      const waiting: Waiting = {
        give: () => { leave(); resolve() },
        refuse: (error) => { leave(); reject(error) },
      }
      const timer = setTimeout(() => { waiting.refuse(new SqlError('busy', `None of the ${slots} connections came free within ${waitMs} ms`)) }, waitMs)
      signal?.addEventListener('abort', giveUp)
      this.#waiting.add(waiting)
    })
  }
}

/** Seconds after which a caller who met a busy store should come back. */
const RETRY_AFTER = 1

/** What a client is told of a database's fault: never more than that the store is unavailable, and when to come back. */
export function toServiceError (error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  const busy = error.kind === 'busy'
  return new ServiceError('dependency_unavailable', busy ? 'The vector store is busy' : 'The vector store is unavailable', {
    // As where the gateway itself has no room: then no connection is kept for later either.
    ...(busy && { headers: { 'retry-after': String(RETRY_AFTER), connection: 'close' }, members: { retry_after_seconds: RETRY_AFTER } }),
    cause: error,
  })
}
