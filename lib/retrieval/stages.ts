import type { Telemetry } from '../telemetry/telemetry.js'
import { traced } from '../telemetry/tracing.js'

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

  async run<T> (name: string, work: () => T | Promise<T>): Promise<T> {
    const startedAt = this.#timer()
    try {
      return await traced(`recall.${name}`, {}, async () => await work())
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
