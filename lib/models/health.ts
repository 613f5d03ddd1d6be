import type { ModelCallRecord, Telemetry } from '../telemetry/telemetry.js'
import type { ModelStatus } from './status.js'

/**
 * What the calls to a model have shown:
 * - `ok`: the last one was answered
 * - `degraded`: the last one failed, or a circuit that was open is being tried again
 * - `failing`: the circuit is open, or calls failed in a row as often as would open one
 * - `unknown`: none was made yet
 */
export type ModelCondition = typeof MODEL_CONDITIONS[number]

export const MODEL_CONDITIONS = ['ok', 'degraded', 'failing', 'unknown'] as const

type Kind = ModelCallRecord['kind']

/** As many as open a circuit by default. */
const FAILURES_IN_A_ROW = 5

/** These say nothing about the model: the caller left, or the model was not asked. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['aborted', 'circuit_open', 'overloaded'])

/** Follows the calls to the models by what telemetry is told, so that how they fare is known without a call. */
export class ModelHealth {
  /** Hands on all that it is told. */
  readonly telemetry: Telemetry
  /** Failures since the last answer; absent before the first call that told something. */
  readonly #failures = new Map<Kind, number>()

  constructor (telemetry: Telemetry) {
    this.telemetry = {
      stage: (name, durationMs) => { telemetry.stage(name, durationMs) },
      refused: (what) => { telemetry.refused(what) },
      modelCall: (record) => {
        this.#note(record)
        telemetry.modelCall(record)
      },
    }
  }

  /** @param status as the provider tells it; undefined when it cannot */
  conditionOf (kind: Kind, { breaker, asksNobody }: ModelStatus = {}): ModelCondition {
    if (asksNobody === true) return 'ok'
    if (breaker?.state === 'open') return 'failing'
    if (breaker?.state === 'half_open') return 'degraded'
    const failures = this.#failures.get(kind)
    if (failures === undefined) return 'unknown'
    if (failures === 0) return 'ok'
    // A circuit that is closed after so many failures has seen answers, or faults of the requests alone.
    return failures >= FAILURES_IN_A_ROW && breaker === undefined ? 'failing' : 'degraded'
  }

  #note ({ kind, outcome }: ModelCallRecord): void {
    if (SAYS_NOTHING.has(outcome)) return
    this.#failures.set(kind, outcome === 'ok' ? 0 : (this.#failures.get(kind) ?? 0) + 1)
  }
}
