import { TIMED_OUT, withTimeout } from '../concurrency/deadline.js'
import type { VectorStore } from '../stores/vector-store.js'

type Check =
  | { status: 'ok', latencyMs: number }
  /** `cause` is only for the log. */
  | { status: 'failed', reason: 'unhealthy' | 'error' | 'timeout', cause?: unknown }

/**
 * Checks the health of the store within `timeoutMs`: a store that reports a fault, throws or hangs is down. Concurrent
 * checks share one probe, so that a slow store is not probed repeatedly. A probe that exceeds its timeout is discarded,
 * so that one that never settles does not hide that the store has recovered.
 */
export class HealthProbe {
  readonly #store: VectorStore
  readonly #timer: () => number
  #inFlight: Promise<Check> | undefined

  constructor (store: VectorStore, timer: () => number) {
    this.#store = store
    this.#timer = timer
  }

  async check (timeoutMs: number): Promise<Check> {
    const probe = this.#inFlight ??= this.#begin()
    const result = await withTimeout(probe, timeoutMs)
    if (result !== TIMED_OUT) return result
    this.#forget(probe)
    return { status: 'failed', reason: 'timeout' }
  }

  #begin (): Promise<Check> {
    const probe = this.#probe().finally(() => this.#forget(probe))
    return probe
  }

  #forget (probe: Promise<Check>): void {
    if (this.#inFlight === probe) this.#inFlight = undefined
  }

  async #probe (): Promise<Check> {
    const start = this.#timer()
    try {
      const { healthy, message } = await this.#store.health()
      return healthy
        ? { status: 'ok', latencyMs: this.#timer() - start }
        : { status: 'failed', reason: 'unhealthy', cause: message }
    } catch (cause) {
      return { status: 'failed', reason: 'error', cause }
    }
  }
}
