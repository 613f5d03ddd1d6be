import type { ModelCondition, ModelHealth, ModelStatus } from '../models/health.js'
import { statusOf } from '../models/bounded-models.js'
import type { ModelCallRecord } from '../telemetry/telemetry.js'
import type { PoolStatus } from '../stores/vector-store.js'
import type { Dependencies } from './dependencies.js'

/** The current state of the service for metrics, from data in this process, without network requests. */
export interface MemoryStatus {
  models: Array<{ kind: ModelCallRecord['kind'], status: ModelStatus }>
  /** Undefined for a store without connections. */
  pool: PoolStatus | undefined
  /** Memories known to lack vectors. Undefined when vectors are always written with the memory. */
  vectorsPending: number | undefined
}

/** A provider whose status method throws is left out. */
export function memoryStatus ({
  store, embeddings, languageModel, reranker, backfill,
}: Pick<Dependencies, 'store' | 'embeddings' | 'languageModel' | 'reranker' | 'backfill'>): MemoryStatus {
  const models = [
    { kind: 'embedding' as const, provider: embeddings },
    { kind: 'llm' as const, provider: languageModel },
    ...(reranker === undefined ? [] : [{ kind: 'reranker' as const, provider: reranker }]),
  ].flatMap(({ kind, provider }) => {
    const status = attempt(() => statusOf(provider))
    return status === undefined ? [] : [{ kind, status }]
  })
  return { models, pool: attempt(() => store.poolStatus?.()), vectorsPending: backfill?.pending }
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
