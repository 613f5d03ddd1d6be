import { ProviderError, type ProviderConfig } from '../../providers/registry.js'
import { RemoteEmbeddingSettings } from '../../providers/schemas/endpoints.js'
import { settingsCheck } from '../../providers/settings.js'
import type { EmbeddingProvider, EmbedOptions } from '../embedding-provider.js'
import type { ModelStatus } from '../status.js'
import { VectorCache } from '../vector-cache.js'
import { inBatches } from './batches.js'
import { EmbeddingClient, type EmbeddingPurpose } from './embedding-client.js'
import { openEndpoint, type RemoteContext, type RemoteTools } from './endpoint.js'
import { ModelCallError } from './model-call-error.js'
import type { ResilientCalls } from './resilient-calls.js'
import { checkCombinations } from './setting-combinations.js'

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
  config: ProviderConfig, context: RemoteContext, tools: RemoteTools = {},
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
