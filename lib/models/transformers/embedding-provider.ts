import { ProviderError, type ProviderConfig } from '../../providers/registry.js'
import { settingsCheck } from '../../providers/settings.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import { requirePackages } from '../local/packages.js'
import { QueuedEmbeddings } from '../local/queued-embeddings.js'
import { WORKER_DEFAULTS, type ModelSurroundings } from '../local/settings.js'
import { WorkerQueue } from '../local/worker-queue.js'
import { modelOptions, TransformersEmbeddingSettings } from './settings.js'

const NAME = 'embedding_provider: transformers'
export const TRANSFORMERS_PACKAGE = '@huggingface/transformers'
/** What is behind them is not seen; the model's own limit, in tokens, is most often lower. */
const MAX_CHARACTERS = 8000
/** A model of a gigabyte over a slow line. */
export const LOAD_TIMEOUT_MS = 3_600_000
export const ENGINE = new URL('./engine.mjs', import.meta.url).href

/** What a test puts in place. */
export interface TransformersInternals {
  module?: string
}

const check = settingsCheck('embedding_provider_config', TransformersEmbeddingSettings)

/**
 * `embedding_provider: transformers`: vectors of unit length by a model of the Hugging Face hub, which is downloaded once, or one in
 * a folder. The package is the operator's to install. Equal texts get vectors that differ in the last digits when they are computed
 * in other company, unless `batch_size` is 1.
 * @throws ProviderError for wrong settings, without the package, and when the model is asked for its dimensions and cannot be loaded
 */
export async function transformersEmbeddings (config: ProviderConfig, { baseDirectory, warn }: ModelSurroundings, { module = TRANSFORMERS_PACKAGE }: TransformersInternals = {}): Promise<EmbeddingProvider> {
  const checked = check(config)
  const settings = { ...WORKER_DEFAULTS, ...checked }
  const { pooling = 'mean', query_prefix: queryPrefix = '', document_prefix: documentPrefix = '', fusion_weight: fusionWeight = 1.5 } = settings
  const [url] = requirePackages(NAME, [module] as const)
  const queue = new WorkerQueue<string>({
    name: NAME,
    engine: ENGINE,
    engineOptions: { task: 'embed', ...modelOptions(NAME, url, checked, baseDirectory), pooling, dimensions: settings.dimensions },
    threads: settings.threads,
    maxWaiting: settings.max_queue,
    batchSize: settings.batch_size ?? 8,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    warn: settings.dimensions === undefined ? undefined : warn,
  })
  return new QueuedEmbeddings({
    // Without the query's prefix, which changes no vector that is stored.
    model: [TRANSFORMERS_PACKAGE, settings.model, settings.dtype ?? 'default', pooling, ...(documentPrefix === '' ? [] : [JSON.stringify(documentPrefix)])].join(':'),
    dimensions: settings.dimensions ?? await probe(queue),
    fusionWeight,
    cacheSize: settings.cache_size,
    prepare: (text, purpose) => (purpose === 'query' ? queryPrefix : documentPrefix) + text.slice(0, MAX_CHARACTERS),
    queue,
  })
}

/** @returns the length of the model's vectors */
async function probe (queue: WorkerQueue<string>): Promise<number> {
  try {
    const [job] = queue.add(['dimensions'], true)
    return (await job!.done).length
  } catch (cause) {
    await queue.close()
    throw new ProviderError(cause instanceof Error ? cause.message : String(cause), cause)
  }
}
