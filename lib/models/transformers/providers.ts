import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { unlessAborted } from '../../base/aborting.js'
import { ProviderError, type ProviderConfig, type ProviderContext } from '../../config/providers/registry.js'
import { TransformersEmbeddingSettings, TransformersRerankerSettings } from '../../config/providers/schemas/workers.js'
import { settingsCheck } from '../../config/providers/settings.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import { requirePackages } from '../packages.js'
import type { Reranker } from '../reranker.js'
import { QueuedEmbeddings } from '../workers/queued-embeddings.js'
import { WorkerQueue } from '../workers/worker-queue.js'

const TRANSFORMERS_PACKAGE = '@huggingface/transformers'
/** Longer texts are cut; the model's own limit, in tokens, is usually lower. */
const MAX_CHARACTERS = 8000
/** Time to download a model of a gigabyte over a slow connection. */
const LOAD_TIMEOUT_MS = 3_600_000
const ENGINE = new URL('./engine.mjs', import.meta.url).href

/** Replacements for tests. */
export interface TransformersInternals {
  module?: string
}

const checkEmbedding = settingsCheck('embedding_provider_config', TransformersEmbeddingSettings)

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
  const settings = checkEmbedding(config)
  const { dimensions, pooling, dtype = 'default' } = settings
  const { query_prefix: queryPrefix, document_prefix: documentPrefix } = settings
  const queue = openQueue<string>('embedding_provider: transformers', module, settings, baseDirectory, {
    engine: { task: 'embed', pooling, dimensions }, warn: dimensions === undefined ? undefined : warn,
  })
  const prefixPart = documentPrefix === '' ? [] : [JSON.stringify(documentPrefix)]
  return new QueuedEmbeddings({
    // The query's prefix is no part of the name, because it changes no stored vector.
    model: [TRANSFORMERS_PACKAGE, settings.model, dtype, pooling, ...prefixPart].join(':'),
    dimensions: dimensions ?? await probe(queue),
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

/** The model cuts a pair at its end, so a long query would leave no room for the text. */
const MAX_QUERY_CHARACTERS = 1000

type Pair = [query: string, text: string]

const checkReranker = settingsCheck('reranker_config', TransformersRerankerSettings)

/**
 * `reranker: transformers`: scores by a cross-encoder, which reads query and text together. A score is the model's
 * logit, or with two classes the log odds of the second, and so any real number. The model is loaded in the background.
 * @throws ProviderError for wrong settings, without the package or the model's folder
 */
export function transformersReranker (
  config: ProviderConfig,
  { baseDirectory, warn }: ProviderContext,
  { module = TRANSFORMERS_PACKAGE }: TransformersInternals = {},
): Reranker {
  const settings = checkReranker(config)
  return new TransformersReranker(
    openQueue<Pair>('reranker: transformers', module, settings, baseDirectory, { engine: { task: 'rerank' }, warn }),
  )
}

class TransformersReranker implements Reranker {
  readonly #queue: WorkerQueue<Pair>

  constructor (queue: WorkerQueue<Pair>) {
    this.#queue = queue
  }

  /**
   * @throws QueueFullError when too many texts wait, the signal's reason when it is aborted, Error when the model fails
   */
  async rerank (query: string, texts: readonly string[], { signal }: { signal?: AbortSignal }): Promise<number[]> {
    signal?.throwIfAborted()
    const shortQuery = query.slice(0, MAX_QUERY_CHARACTERS)
    const jobs = this.#queue.add(texts.map((text): Pair => [shortQuery, text.slice(0, MAX_CHARACTERS)]), true)
    try {
      const scores = await unlessAborted(Promise.all(jobs.map(async ({ done }) => await done)), signal)
      return scores.map(([score]) => score!)
    } finally {
      for (const job of jobs) this.#queue.drop(job)
    }
  }

  async close (): Promise<void> {
    await this.#queue.close()
  }
}

/** See engine.mjs. */
export interface ModelOptions {
  /** URL of the package. */
  module: string
  /** Name on the hub or absolute path. */
  model: string
  dtype: string | undefined
  /** Absolute. */
  cacheDir: string | undefined
  allowRemote: boolean
}

/**
 * Starts the threads, which load the model.
 * @param name the beginning of messages
 * @throws ProviderError without the package, and when the model is a folder that does not exist
 */
function openQueue<Item> (
  name: string, packageName: string, settings: TransformersEmbeddingSettings | TransformersRerankerSettings,
  baseDirectory: string, { engine, warn }: { engine: object, warn: ProviderContext['warn'] },
): WorkerQueue<Item> {
  const [module] = requirePackages(name, [packageName] as const)
  const { dtype, cache_dir: cacheDir, allow_remote: allowRemote } = settings
  const isFolder = settings.model.startsWith('.') || isAbsolute(settings.model)
  const model = isFolder ? resolve(baseDirectory, settings.model) : settings.model
  if (isFolder && !existsSync(model)) {
    throw new ProviderError(`${name}: there is no folder ${JSON.stringify(settings.model)} with a model`)
  }
  const options: ModelOptions = {
    module, model, dtype, allowRemote, cacheDir: cacheDir === undefined ? undefined : resolve(baseDirectory, cacheDir),
  }
  return new WorkerQueue<Item>({
    name,
    engine: ENGINE,
    engineOptions: { ...options, ...engine },
    threads: settings.threads,
    maxWaiting: settings.max_queue,
    batchSize: settings.batch_size,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    warn,
  })
}
