import { TIMED_OUT, withTimeout } from '../base/deadline.js'
import type { ModelCallRecord } from '../base/telemetry.js'
import { statusOf } from '../models/bounded-models.js'
import type { ModelCondition, ModelHealth, ModelStatus } from '../models/health.js'
import type { VectorStore, PoolStatus } from '../stores/vector-store.js'
import type { Dependencies } from './dependencies.js'

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

/** The current state of the service for metrics, from data in this process, without network requests. */
export interface MemoryStatus {
  models: Array<{ kind: ModelCallRecord['kind'], status: ModelStatus }>
  /** Undefined for a store without connections. */
  pool: PoolStatus | undefined
  /** Memories known to lack vectors. Undefined when vectors are always written with the memory. */
  vectorsPending: number | undefined
  /** Undefined when rate limits have no place of their own. */
  ratesUp: boolean | undefined
}

/** A provider whose status method throws is left out. */
export function memoryStatus ({
  store, embeddings, languageModel, reranker, backfill, rates,
}: Pick<Dependencies, 'store' | 'embeddings' | 'languageModel' | 'reranker' | 'backfill' | 'rates'>): MemoryStatus {
  const models = [
    { kind: 'embedding' as const, provider: embeddings },
    { kind: 'llm' as const, provider: languageModel },
    ...(reranker === undefined ? [] : [{ kind: 'reranker' as const, provider: reranker }]),
  ].flatMap(({ kind, provider }) => {
    const status = attempt(() => statusOf(provider))
    return status === undefined ? [] : [{ kind, status }]
  })
  return {
    models,
    pool: attempt(() => store.poolStatus?.()),
    vectorsPending: backfill?.pending,
    ratesUp: rates.status?.().isUp,
  }
}

/** The conditions of the models. `reranker` is undefined when none is configured. */
export interface ModelConditions {
  embedding: ModelCondition
  language_model: ModelCondition
  reranker: ModelCondition | undefined
}

/** Derived from past calls and circuit breakers; no call is made. */
export function modelConditions ({
  embeddings, languageModel, reranker,
}: Pick<Dependencies, 'embeddings' | 'languageModel' | 'reranker'>, models: ModelHealth): ModelConditions {
  const conditionOf = (kind: ModelCallRecord['kind'], provider: { status? (): ModelStatus }) => (
    models.conditionOf(kind, attempt(() => statusOf(provider)))
  )
  return {
    embedding: conditionOf('embedding', embeddings),
    language_model: conditionOf('llm', languageModel),
    reranker: reranker && conditionOf('reranker', reranker),
  }
}

function attempt<T> (ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
