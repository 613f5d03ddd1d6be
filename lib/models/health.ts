import type { BreakerState } from '../base/circuit-breaker.js'
import type { ModelCallRecord, Telemetry } from '../base/telemetry.js'
import { RemoteEmbeddingSettings } from '../config/providers/schemas/endpoints.js'

/** The current state of a provider, for metrics. The counts of the cache only rise. */
export interface ModelStatus {
  breaker?: {
    state: BreakerState
    /** Tenants whose own circuit is not closed. */
    tenantsOpen: number
  }
  /** Calls in progress, and calls that wait for a permit. */
  running?: number
  waiting?: number
  /** Set for a provider that computes in this thread and so cannot be down. */
  alwaysAvailable?: true
  cache?: { hits: number, misses: number }
}

/**
 * The condition of a model, by its latest calls:
 * - `ok`: the last call was answered
 * - `degraded`: the last call failed, or the circuit is half open
 * - `failing`: the circuit is open, or, without a circuit, as many calls failed in a row as would open one
 * - `unknown`: no call was made yet
 */
export type ModelCondition = typeof MODEL_CONDITIONS[number]

export const MODEL_CONDITIONS = ['ok', 'degraded', 'failing', 'unknown'] as const

type Kind = ModelCallRecord['kind']

/** The default threshold of the circuit breaker of an endpoint. */
const FAILURES_IN_A_ROW = RemoteEmbeddingSettings.properties.breaker.properties.threshold.default

/** Outcomes that do not count: the caller disconnected, or the model was not called. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['aborted', 'circuit_open', 'overloaded'])

/** Derives the condition of the models from the telemetry of their calls, so that a health check makes none. */
export class ModelHealth {
  /** Counts the calls and passes everything on. */
  readonly telemetry: Telemetry
  /** Failures since the last answer; absent before the first call that counts. */
  readonly #failures = new Map<Kind, number>()

  constructor (telemetry: Telemetry) {
    this.telemetry = {
      stage: (name, durationMs) => { telemetry.stage(name, durationMs) },
      refused: (kind) => { telemetry.refused(kind) },
      extracted: (outcome, memories) => { telemetry.extracted(outcome, memories) },
      modelCall: (record) => {
        this.#note(record)
        telemetry.modelCall(record)
      },
    }
  }

  /** @param status of the provider; undefined when it reports none */
  conditionOf (kind: Kind, { breaker, alwaysAvailable }: ModelStatus = {}): ModelCondition {
    if (alwaysAvailable === true) return 'ok'
    if (breaker?.state === 'open') return 'failing'
    if (breaker?.state === 'half_open') return 'degraded'
    const failures = this.#failures.get(kind)
    if (failures === undefined) return 'unknown'
    if (failures === 0) return 'ok'
    // The circuit breaker does not count failures that a request causes, so its closed state overrides this count.
    return failures >= FAILURES_IN_A_ROW && breaker === undefined ? 'failing' : 'degraded'
  }

  #note ({ kind, outcome }: ModelCallRecord): void {
    if (NOT_COUNTED.has(outcome)) return
    this.#failures.set(kind, outcome === 'ok' ? 0 : (this.#failures.get(kind) ?? 0) + 1)
  }
}
