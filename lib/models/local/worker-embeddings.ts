import type { ProviderContext } from '../../config/providers/registry.js'
import type { LocalEmbeddingSettings } from '../../config/providers/schemas/workers.js'
import { normalForm } from '../../text/normal-form.js'
import { type EmbeddingProvider, type EmbedOptions, EmbeddingDecorator } from '../embedding-provider.js'
import { QueuedEmbeddings } from '../workers/queued-embeddings.js'
import { WorkerQueue } from '../workers/worker-queue.js'

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

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu
/** Words that make a question of a statement, not `may`, which is a month too. */
const QUESTION_WORD = new RegExp(`^(?:${[
  'what|which|who|whom|whose|when|where|why|how',
  'am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|might|must',
].join('|')})(?:['’](?:s|re|d|ll|ve))?$`, 'i')

/**
 * Embeds a question as the mean of its own vector and that of a statement with its words. The model places questions
 * near each other whatever they ask, and what answers them is a statement.
 */
class QuestionEmbeddings extends EmbeddingDecorator {
  async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    const statements = options.purpose === 'query' ? texts.map(statementOf) : []
    const stated = statements.flatMap((statement) => statement ?? [])
    const vectors = await this.provider.embed([...texts, ...stated], options)
    const ofStatements = vectors.splice(texts.length).values()
    for (const [index, statement] of statements.entries()) {
      if (statement !== undefined) addUnit(vectors[index]!, ofStatements.next().value!)
    }
    return vectors
  }
}

/**
 * `What did Ann buy in Lyon?` becomes `I am Ann buy in Lyon.`: memories are mostly told in the first person, and the
 * model does not depend on grammar.
 * @returns undefined for a text that is no English question
 */
function statementOf (text: string): string | undefined {
  const words = text.match(WORD) ?? []
  if (!QUESTION_WORD.test(words[0] ?? '') && !text.trimEnd().endsWith('?')) return undefined
  const told = words.filter((word) => !QUESTION_WORD.test(word))
  if (told.length === words.length) return undefined
  const others = told.filter((word) => !/^i$/i.test(word))
  return others.length === 0 ? undefined : `I am ${others.join(' ')}.`
}

/** Adds a vector of unit length to another, and scales the sum to unit length. */
function addUnit (vector: Float32Array, other: Float32Array): void {
  for (let index = 0; index < vector.length; index++) vector[index]! += other[index]!
  const length = Math.hypot(...vector)
  if (length > 0) for (let index = 0; index < vector.length; index++) vector[index]! /= length
}
