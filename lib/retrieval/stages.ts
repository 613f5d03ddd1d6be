import type { Telemetry } from '../telemetry.js'
import { traced } from '../tracing.js'

export interface Stage {
  name: string
  durationMs: number
}

/** The stages of one recall: each is timed, told, and a span of its own, `recall.<name>`. */
export class Stages {
  /** In the order in which they ended. */
  readonly done: Stage[]
  readonly #timer: () => number
  readonly #telemetry: Pick<Telemetry, 'stage'>

  /** @param done stages of the same recall that have been before */
  constructor (timer: () => number, telemetry: Pick<Telemetry, 'stage'>, done: readonly Stage[] = []) {
    this.#timer = timer
    this.#telemetry = telemetry
    this.done = [...done]
  }

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
    this.done.push({ name, durationMs })
    this.#telemetry.stage(name, durationMs)
  }
}
