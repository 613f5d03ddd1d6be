import { Type, type Static } from 'typebox'
import type { ProviderContext } from '../../providers/registry.js'

export type ModelContext = ProviderContext

export const integer = (minimum: number, maximum: number, description: string) => (
  Type.Optional(Type.Integer({ minimum, maximum, description }))
)

/** Settings of every embedding provider that computes on this machine. */
export const workerSettings = {
  threads: integer(1, 64, 'Number of worker threads. Each uses one processor core and has its own copy of the ' +
    'model. Default 1.'),
  max_queue: integer(
    1, 1_000_000, 'Maximum number of waiting texts, for memories and queries separately; further ones are ' +
      'refused. Default 10000.',
  ),
  cache_size: integer(
    0, 1_000_000,
    'Number of vectors that are cached in memory, so that a repeated text is not computed again. 0: none. ' +
      'Default 10000.',
  ),
  timeout_ms: integer(
    100, 600_000,
    'Maximum milliseconds of one computation; after that its texts fail and its thread is replaced. Default 30000.',
  ),
}

export const WORKER_DEFAULTS = { threads: 1, max_queue: 10_000, cache_size: 10_000, timeout_ms: 30_000 }

/** `embedding_provider_config` of `embedding_provider: local`. */
export const LocalEmbeddingSettings = Type.Object(workerSettings, { additionalProperties: false })

export type LocalEmbeddingSettings = Static<typeof LocalEmbeddingSettings>
