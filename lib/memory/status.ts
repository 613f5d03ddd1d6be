import { statusOf } from '../models/observed.js'
import type { ModelStatus } from '../models/status.js'
import type { ModelCallRecord } from '../telemetry.js'
import type { PoolStatus } from '../stores/vector-store.js'
import type { Dependencies } from './dependencies.js'

/** How the service stands at a moment, for metrics; known in the process, so that nothing is asked over the network. */
export interface MemoryStatus {
  models: Array<{ kind: ModelCallRecord['kind'], status: ModelStatus }>
  /** Absent for a store without connections. */
  pool?: PoolStatus
  /** Memories known to wait for their vectors. Absent when no vectors come after the write. */
  vectorsPending?: number
}

/** A provider that fails to say how it stands is left out. */
export function memoryStatus ({ store, embeddings, languageModel, reranker, filler }: Pick<Dependencies, 'store' | 'embeddings' | 'languageModel' | 'reranker' | 'filler'>): MemoryStatus {
  const models = [
    { kind: 'embedding' as const, provider: embeddings },
    { kind: 'llm' as const, provider: languageModel },
    ...(reranker === undefined ? [] : [{ kind: 'reranker' as const, provider: reranker }]),
  ].flatMap(({ kind, provider }) => {
    const status = attempt(() => statusOf(provider))
    return status === undefined ? [] : [{ kind, status }]
  })
  const pool = attempt(() => store.poolStatus?.())
  return { models, ...(pool !== undefined && { pool }), ...(filler !== undefined && { vectorsPending: filler.pending }) }
}

function attempt<T> (ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
