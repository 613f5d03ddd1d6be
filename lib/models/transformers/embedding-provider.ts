import { ProviderError, type ProviderConfig, type ProviderContext } from '../../providers/registry.js'
import { TransformersEmbeddingSettings } from '../../providers/schemas/workers.js'
import { settingsCheck } from '../../providers/settings.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import { requirePackages } from '../packages.js'
import { QueuedEmbeddings } from '../workers/queued-embeddings.js'
import { WorkerQueue } from '../workers/worker-queue.js'
import { modelOptions } from './settings.js'

const NAME = 'embedding_provider: transformers'
export const TRANSFORMERS_PACKAGE = '@huggingface/transformers'
/** Longer texts are cut; the model's own limit, in tokens, is usually lower. */
const MAX_CHARACTERS = 8000
/** Time to download a model of a gigabyte over a slow connection. */
export const LOAD_TIMEOUT_MS = 3_600_000
export const ENGINE = new URL('./engine.mjs', import.meta.url).href

/** Replacements for tests. */
export interface TransformersInternals {
  module?: string
}

const check = settingsCheck('embedding_provider_config', TransformersEmbeddingSettings)

/**
 * `embedding_provider: transformers`: vectors of unit length by a model of the Hugging Face hub, which is downloaded
 * once, or by one in a folder. The operator installs the package. The vector of a text can differ in the last digits
 * between batches, unless `batch_size` is 1.
 * @throws ProviderError for wrong settings, without the package, and when the dimensions are not set and the model
 *   cannot be loaded
 */
export async function transformersEmbeddings (
  config: ProviderConfig,
  { baseDirectory, warn }: ProviderContext,
  { module = TRANSFORMERS_PACKAGE }: TransformersInternals = {},
): Promise<EmbeddingProvider> {
  const settings = check(config)
  const { pooling, dtype = 'default', query_prefix: queryPrefix, document_prefix: documentPrefix } = settings
  const [url] = requirePackages(NAME, [module] as const)
  const queue = new WorkerQueue<string>({
    name: NAME,
    engine: ENGINE,
    engineOptions: {
      task: 'embed', ...modelOptions(NAME, url, settings, baseDirectory), pooling, dimensions: settings.dimensions,
    },
    threads: settings.threads,
    maxWaiting: settings.max_queue,
    batchSize: settings.batch_size,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    warn: settings.dimensions === undefined ? undefined : warn,
  })
  const prefixPart = documentPrefix === '' ? [] : [JSON.stringify(documentPrefix)]
  return new QueuedEmbeddings({
    // The query's prefix is no part of the name, because it changes no stored vector.
    model: [TRANSFORMERS_PACKAGE, settings.model, dtype, pooling, ...prefixPart].join(':'),
    dimensions: settings.dimensions ?? await probe(queue),
    fusionWeight: settings.fusion_weight,
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
