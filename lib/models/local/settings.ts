import { Type, type Static } from 'typebox'
import type { ProviderSurroundings } from '../../providers/registry.js'

/** What a provider of models may say at its start and later. */
export type ModelSurroundings = ProviderSurroundings

/** What every embedding provider that computes on this machine can be told. */
export const workerSettings = {
  threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 64, description: 'Threads that compute, each with a processor and the whole model in memory of its own. Default 1.' })),
  max_queue: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Texts that may wait, documents and queries each; beyond it no more are taken. Default 10000.' })),
  cache_size: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Vectors that are kept in memory, so that a text that comes again is not computed again. 0: none. Default 10000.' })),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000, description: 'Milliseconds that one computation may take; then its texts fail and its thread is replaced. Default 30000.' })),
}

export const WORKER_DEFAULTS = { threads: 1, max_queue: 10_000, cache_size: 10_000, timeout_ms: 30_000 }

/** `embedding_provider_config` of `embedding_provider: local`. */
export const LocalEmbeddingSettings = Type.Object(workerSettings, { additionalProperties: false })

export type LocalEmbeddingSettings = Static<typeof LocalEmbeddingSettings>
