import { parsedJson } from '../../base/json-object.js'
import { ProviderError, type ProviderConfig, type ProviderContext } from '../../config/providers/registry.js'
import { RemoteEmbeddingSettings } from '../../config/providers/schemas/endpoints.js'
import { settingsCheck } from '../../config/providers/settings.js'
import type { EmbeddingProvider, EmbedOptions } from '../embedding-provider.js'
import type { ModelStatus } from '../health.js'
import { VectorCache } from '../workers/queued-embeddings.js'
import {
  inBatches, openEndpoint, checkCombinations, member, type RemoteTools, type CalledEndpoint,
} from './endpoint.js'
import { ModelCallError } from './model-call-error.js'
import type { ResilientCalls, CallOptions } from './resilient-calls.js'

const KEY = 'embedding_provider_config'
const SERVICE = 'embedding endpoint'
const PROBE = 'How many dimensions has this?'

const check = settingsCheck(KEY, RemoteEmbeddingSettings)

interface Parts {
  model: string
  dimensions: number
  fusionWeight: number
  client: EmbeddingClient
  calls: ResilientCalls
  prefixes: Record<EmbeddingPurpose, string>
  batchSize: number
  /** Requests of one embed() in progress at a time. */
  width: number
  queryTimeoutMs: number
  cacheSize: number
}

/** Embeddings of an OpenAI-compatible endpoint, in batches and with a cache of the latest texts. */
class RemoteEmbeddingProvider implements EmbeddingProvider {
  readonly model: string
  readonly dimensions: number
  readonly fusionWeight: number
  readonly deferred = true
  readonly #parts: Parts
  readonly #cache: VectorCache

  constructor (parts: Parts) {
    this.model = parts.model
    this.dimensions = parts.dimensions
    this.fusionWeight = parts.fusionWeight
    this.#parts = parts
    this.#cache = new VectorCache(parts.cacheSize)
  }

  /** @throws ModelCallError; the reason of the signal once it is aborted */
  async embed (texts: readonly string[], { signal, purpose = 'document' }: EmbedOptions): Promise<Float32Array[]> {
    signal?.throwIfAborted()
    const { keys, found, missing } = this.#cache.split(texts, `${purpose}:`)
    const { client, prefixes, batchSize, width, queryTimeoutMs } = this.#parts
    // A large call sends a few batches at a time, so that it does not fill the queue.
    const options = { size: batchSize, width, signal }
    const vectors = await inBatches([...missing.values()], options, async (batch, signal) => (
      await client.embed(batch.map((text) => prefixes[purpose] + text), purpose, {
        signal,
        ...(purpose === 'query' && {
          priority: 'interactive', timeoutMs: queryTimeoutMs, attemptTimeoutMs: queryTimeoutMs,
        }),
      })
    ))
    for (const [index, key] of [...missing.keys()].entries()) {
      found.set(key, vectors[index]!)
      this.#cache.set(key, vectors[index]!)
    }
    // Copies, so that a caller that changes its vectors does not change the cached ones.
    return keys.map((key) => found.get(key)!.slice())
  }

  status (): ModelStatus {
    return { ...this.#parts.calls.status(), cache: this.#cache.status }
  }

  async close (): Promise<void> {
    this.#parts.calls.close()
  }
}

/**
 * Makes the provider `openai_compatible`. Without `dimensions` the endpoint is asked for one vector.
 * @throws ProviderError for wrong settings, and when the dimensions are not known; no secret is shown
 */
export async function makeRemoteEmbeddingProvider (
  config: ProviderConfig, context: ProviderContext, tools: RemoteTools = {},
): Promise<EmbeddingProvider> {
  const settings = check(config)
  checkCombinations(KEY, 'openai_compatible', settings)
  const { timeout_ms: timeoutMs, batch_size: batchSize } = settings
  const limits = { attemptTimeoutMs: timeoutMs, maxRetries: settings.max_retries }
  const endpoint = openEndpoint(KEY, SERVICE, settings, limits, context, tools)
  const clientOf = (dimensions: number | undefined, size: number) => new EmbeddingClient({
    endpoint,
    model: settings.model,
    dimensions,
    sendDimensions: settings.send_dimensions,
    sendInputType: settings.input_type,
    batchSize: size,
  })
  const dimensions = settings.dimensions ?? await probe(clientOf(undefined, 1), timeoutMs)
  return new RemoteEmbeddingProvider({
    model: spaceOf(settings),
    dimensions,
    fusionWeight: settings.fusion_weight,
    client: clientOf(dimensions, batchSize),
    calls: endpoint.calls,
    prefixes: { query: settings.query_prefix, document: settings.document_prefix },
    batchSize,
    width: settings.max_concurrency,
    queryTimeoutMs: settings.query_timeout_ms,
    cacheSize: settings.cache_size,
  })
}

async function probe (client: EmbeddingClient, timeoutMs: number): Promise<number> {
  try {
    const [vector] = await client.embed([PROBE], 'document', { timeoutMs })
    return vector!.length
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error
    throw new ProviderError(`${KEY}: the dimensions of the model are not known: ${error.message}. Set dimensions, or ` +
      'correct base_url, model or the key')
  }
}

/**
 * The name that is stored with vectors: the model and the settings that change the vectors of documents. The address is
 * no part of it, so that a model can move; nor is the prefix of queries, whose vectors are not stored; the length is
 * compared separately.
 */
function spaceOf ({ model, document_prefix: prefix, input_type: inputType }: RemoteEmbeddingSettings): string {
  return `${model}${inputType ? ' input_type=document' : ''}${prefix === ''
    ? ''
    : ` document_prefix=${JSON.stringify(prefix)}`}`
}

type EmbeddingPurpose = 'query' | 'document'

interface EmbeddingClientOptions {
  endpoint: CalledEndpoint
  model: string
  /** Length of the vectors; undefined: any. */
  dimensions: number | undefined
  sendDimensions: boolean
  sendInputType: boolean
  /** Maximum number of texts in a request. */
  batchSize: number
}

/** Bytes of an answer besides its numbers, and bytes of one number with its indentation. */
const ENVELOPE_BYTES = 1024 * 1024
const NUMBER_BYTES = 64
/** Assumed while the dimensions are not known; more than any model has. */
const UNKNOWN_DIMENSIONS = 65_536

/** The embeddings call of the OpenAI API: one POST, for which the AI SDK does too much (docs/decisions/ai-sdk.md). */
class EmbeddingClient {
  readonly #options: EmbeddingClientOptions
  readonly #url: string
  readonly #maxBytes: number

  constructor (options: EmbeddingClientOptions) {
    const { endpoint: { baseUrl, queryParams }, dimensions = UNKNOWN_DIMENSIONS, batchSize } = options
    this.#options = options
    const url = new URL(`${baseUrl}/embeddings`)
    url.search = new URLSearchParams(queryParams).toString()
    this.#url = url.href
    this.#maxBytes = ENVELOPE_BYTES + batchSize * dimensions * NUMBER_BYTES
  }

  /**
   * @param texts at most `batchSize`
   * @returns one vector of finite numbers for each text, in order
   * @throws ModelCallError; the reason of the caller's signal
   */
  async embed (texts: readonly string[], purpose: EmbeddingPurpose, options: CallOptions): Promise<Float32Array[]> {
    return await this.#options.endpoint.calls.call(async (signal) => await this.#ask(texts, purpose, signal), options)
  }

  async #ask (texts: readonly string[], purpose: EmbeddingPurpose, signal: AbortSignal): Promise<Float32Array[]> {
    const { endpoint, model, dimensions, sendDimensions, sendInputType } = this.#options
    const body = JSON.stringify({
      model,
      input: texts,
      dimensions: sendDimensions ? dimensions : undefined,
      input_type: sendInputType ? purpose : undefined,
    })
    const headers = { 'content-type': 'application/json' }
    const answer = await endpoint.post(this.#url, { headers, body, signal }, this.#maxBytes)
    const entries = readEntries(answer)
    if (entries === undefined) throw this.#unusable('something else than embeddings')
    return this.#check(entries, texts.length)
  }

  #check (entries: readonly Entry[], count: number): Float32Array[] {
    const { dimensions } = this.#options
    if (entries.length !== count) throw this.#unusable(`${entries.length} vectors for ${count} texts`)
    const ordered = inOrder(entries)
    if (ordered === undefined) throw this.#unusable('vectors that do not say which text each belongs to')
    const vectors = ordered.map(({ embedding }) => Float32Array.from(embedding))
    const length = dimensions ?? vectors[0]?.length
    for (const vector of vectors) {
      if (vector.length === 0 || vector.length !== length) {
        throw this.#unusable(`a vector of ${vector.length} dimensions instead of ${length}; dimensions must be what ` +
          'the model makes')
      }
      if (!vector.every(Number.isFinite)) throw this.#unusable('a vector with a number that is too big')
    }
    return vectors
  }

  #unusable (problem: string): ModelCallError {
    return new ModelCallError(
      'unusable', `The ${this.#options.endpoint.service} answered with ${problem}`, { status: 200 },
    )
  }
}

interface Entry {
  embedding: readonly number[]
  index: unknown
}

/** @returns undefined when the answer is not JSON with a list of vectors of finite numbers */
function readEntries (answer: string): Entry[] | undefined {
  const data = member(parsedJson(answer), 'data')
  if (!Array.isArray(data)) return undefined
  const entries = data.map((entry) => ({ embedding: member(entry, 'embedding'), index: member(entry, 'index') }))
  return entries.every((entry): entry is Entry => isNumbers(entry.embedding)) ? entries : undefined
}

function isNumbers (value: unknown): value is number[] {
  return Array.isArray(value) && value.every(Number.isFinite)
}

/**
 * Orders vectors by their index. When all have the same index, the endpoint does not support it, and their order
 * counts.
 * @returns undefined when two vectors have the same index, or one is out of range
 */
function inOrder (entries: readonly Entry[]): readonly Entry[] | undefined {
  const places = new Map(entries.map(({ index }, place) => [index, place]))
  if (places.size === 1) return entries
  const ordered = entries.map((_, index) => entries[places.get(index) ?? -1])
  return ordered.every((entry) => entry !== undefined) ? ordered : undefined
}
