import type { ProviderContext } from '../../providers/registry.js'
import type { LocalEmbeddingSettings } from '../../providers/schemas/workers.js'
import { normalForm } from '../../text/normal-form.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import { QueuedEmbeddings } from '../workers/queued-embeddings.js'
import { WorkerQueue } from '../workers/worker-queue.js'
import { QuestionEmbeddings } from './question-embeddings.js'

/** Longer texts are cut. The model itself reads only the first 128 pieces of a text. */
const MAX_CHARACTERS = 8000
const LOAD_TIMEOUT_MS = 60_000

interface WorkerEmbeddingsOptions extends Pick<EmbeddingProvider, 'dimensions' | 'fusionWeight'> {
  /** The beginning of every message. */
  name: string
  model: string
  /** URL of the engine. */
  engine: string
  /** URL of the package of the weights. */
  weights: string
  settings: LocalEmbeddingSettings
  warn: ProviderContext['warn']
}

/** Starts the threads, each of which loads the model: those for documents and one for queries. */
export function workerEmbeddings (
  { name, model, dimensions, fusionWeight, engine, weights, settings, warn }: WorkerEmbeddingsOptions,
): EmbeddingProvider {
  const makeQueue = (threads: number) => new WorkerQueue<string>({
    name,
    engine,
    engineOptions: { weights },
    threads,
    maxWaiting: settings.max_queue,
    batchSize: 1,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    env: {},
    warn,
  })
  return new QuestionEmbeddings(new QueuedEmbeddings({
    model,
    dimensions,
    fusionWeight,
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
