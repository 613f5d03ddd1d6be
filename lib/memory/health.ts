import type { VectorStore } from '../stores/vector-store.js'

export type Check =
  | { status: 'ok', latencyMs: number }
  /** `cause` is for the log. */
  | { status: 'failed', reason: 'unhealthy' | 'error' | 'timeout', cause?: unknown }

/**
 * Asks the store, and waits no longer than `timeoutMs`: a store that says no, one that throws and one that hangs are all down.
 * Probes that come while one is under way share it, so that a hanging store is not asked again and again.
 */
export class HealthProbe {
  readonly #store: VectorStore
  readonly #timer: () => number
  #underWay: Promise<Check> | undefined

  constructor (store: VectorStore, timer: () => number) {
    this.#store = store
    this.#timer = timer
  }

  async check (timeoutMs: number): Promise<Check> {
    this.#underWay ??= this.#ask().finally(() => { this.#underWay = undefined })
    let timeout: NodeJS.Timeout | undefined
    const late = new Promise<Check>((resolve) => {
      timeout = setTimeout(() => resolve({ status: 'failed', reason: 'timeout' }), timeoutMs)
    })
    try {
      return await Promise.race([this.#underWay, late])
    } finally {
      clearTimeout(timeout)
    }
  }

  async #ask (): Promise<Check> {
    const start = this.#timer()
    try {
      const { healthy, message } = await this.#store.health()
      return healthy ? { status: 'ok', latencyMs: this.#timer() - start } : { status: 'failed', reason: 'unhealthy', cause: message }
    } catch (cause) {
      return { status: 'failed', reason: 'error', cause }
    }
  }
}
