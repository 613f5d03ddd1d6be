import { runSyncOrInTurns, type Steps } from '../concurrency/steps.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { openSpan, traced } from '../telemetry/tracing.js'

export interface Stage {
  readonly name: string
  /** When it began, by the timer. */
  readonly startedAt: number
  readonly durationMs: number
}

/** Runs the stages of one recall. Each is timed, reported to telemetry, and has its own span `recall.<name>`. */
export class Stages {
  /** In the order in which they ended. */
  readonly done: Stage[]
  readonly #timer: () => number
  readonly #telemetry: Pick<Telemetry, 'stage'>

  /** @param done earlier stages of the same recall */
  constructor (timer: () => number, telemetry: Pick<Telemetry, 'stage'>, done: readonly Stage[] = []) {
    this.#timer = timer
    this.#telemetry = telemetry
    this.done = [...done]
  }

  /**
   * Runs a stage that computes. The result is a promise only when the stage has to yield the event loop.
   * @param caller as in TurnBudget.next
   */
  compute<T> (name: string, steps: Steps<T>, caller: string): T | Promise<T> {
    const startedAt = this.#timer()
    const span = openSpan(`recall.${name}`)
    const end = (result: T) => {
      span.end()
      this.#end(name, startedAt)
      return result
    }
    const fail = (error: unknown): never => {
      span.end(error)
      this.#end(name, startedAt)
      throw error
    }
    let result: T | Promise<T>
    try {
      result = runSyncOrInTurns(steps, caller)
    } catch (error) {
      return fail(error)
    }
    return result instanceof Promise ? result.then(end, fail) : end(result)
  }

  /** Runs a stage that waits for I/O or a worker. */
  async wait<T> (name: string, work: () => Promise<T>): Promise<T> {
    const startedAt = this.#timer()
    try {
      return await traced(`recall.${name}`, {}, work)
    } finally {
      this.#end(name, startedAt)
    }
  }

  #end (name: string, startedAt: number): void {
    const durationMs = this.#timer() - startedAt
    this.done.push({ name, startedAt, durationMs })
    this.#telemetry.stage(name, durationMs)
  }
}
