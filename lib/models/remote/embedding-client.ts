import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { CallOptions } from './call-options.js'
import type { CalledEndpoint } from './endpoint.js'
import { ModelCallError } from './model-call-error.js'

export type EmbeddingPurpose = 'query' | 'document'

export interface EmbeddingClientOptions {
  endpoint: CalledEndpoint
  model: string
  /** Length of the vectors; undefined: whatever comes. */
  dimensions: number | undefined
  sendDimensions: boolean
  sendInputType: boolean
  /** Texts of a request at most. */
  batchSize: number
}

const PROVIDER = 'openaiCompatible'
/** Room of an answer beside its numbers, and for one of them with its indent. */
const ENVELOPE_BYTES = 1024 * 1024
const NUMBER_BYTES = 64
/** What is reckoned with while the dimensions are not known; more than any model has. */
const UNKNOWN_DIMENSIONS = 65_536

/** The embeddings call of the OpenAI API, as the AI SDK makes it. */
export class EmbeddingClient {
  readonly #options: EmbeddingClientOptions
  readonly #models: Record<EmbeddingPurpose, ReturnType<typeof makeModel>>

  constructor (options: EmbeddingClientOptions) {
    this.#options = options
    this.#models = { query: makeModel(options, 'query'), document: makeModel(options, 'document') }
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
    const { dimensions, sendDimensions } = this.#options
    try {
      const { embeddings, response } = await this.#models[purpose].doEmbed({
        values: [...texts],
        abortSignal: signal,
        ...(sendDimensions && dimensions !== undefined && { providerOptions: { [PROVIDER]: { dimensions } } }),
      })
      return this.#check(embeddings, response?.body, texts.length)
    } catch (error) {
      if (error instanceof ModelCallError || signal.aborted) throw error
      // The SDK's error holds the texts, the URL and the answer.
      throw this.#unusable('something else than embeddings')
    }
  }

  #check (embeddings: number[][], body: unknown, count: number): Float32Array[] {
    const { dimensions } = this.#options
    if (embeddings.length !== count) throw this.#unusable(`${embeddings.length} vectors for ${count} texts`)
    const ordered = inOrder(embeddings, body)
    if (ordered === undefined) throw this.#unusable('vectors that do not say which text each belongs to')
    const vectors = ordered.map((embedding) => Float32Array.from(embedding))
    const length = dimensions ?? vectors[0]?.length
    for (const vector of vectors) {
      if (vector.length === 0 || vector.length !== length) throw this.#unusable(`a vector of ${vector.length} dimensions instead of ${length}; dimensions must be what the model makes`)
      if (!vector.every(Number.isFinite)) throw this.#unusable('a vector with a number that is too big')
    }
    return vectors
  }

  #unusable (what: string): ModelCallError {
    return new ModelCallError('unusable', `The ${this.#options.endpoint.what} answered with ${what}`, { status: 200 })
  }
}

function makeModel ({ endpoint, model, dimensions = UNKNOWN_DIMENSIONS, sendInputType, batchSize }: EmbeddingClientOptions, purpose: EmbeddingPurpose) {
  const maxBytes = ENVELOPE_BYTES + batchSize * dimensions * NUMBER_BYTES
  const provider = createOpenAICompatible({
    name: PROVIDER,
    baseURL: endpoint.baseUrl,
    queryParams: { ...endpoint.queryParams },
    fetch: async (url, init) => {
      // Floats are the default of every endpoint, and Voyage refuses the word.
      const { encoding_format: _, ...body } = JSON.parse(String(init?.body)) as Record<string, unknown>
      const text = await endpoint.post(String(url), {
        headers: init?.headers as Record<string, string>,
        body: JSON.stringify({ ...body, ...(sendInputType && { input_type: purpose }) }),
        signal: init!.signal!,
      }, maxBytes)
      // The SDK demands a member of `usage` that not every endpoint has (Voyage), and nothing here reads it.
      return new Response(text.replace(/"usage"\s*:/, '"_usage":'))
    },
  })
  return provider.embeddingModel(model)
}

/**
 * The SDK takes vectors as they come; those that say which text they belong to are put there. An index that is the same for all
 * is one that the endpoint does not keep.
 * @returns undefined when two of them claim the same text, or one a text that there is not
 */
function inOrder (embeddings: number[][], body: unknown): number[][] | undefined {
  const indexes = (body as { data: Array<{ index?: unknown }> }).data.map(({ index }) => index)
  if (new Set(indexes).size === 1) return embeddings
  const places = new Map(indexes.map((index, place) => [index, place]))
  const ordered = embeddings.map((_, index) => embeddings[places.get(index) ?? -1])
  return ordered.every((embedding) => embedding !== undefined) ? ordered : undefined
}
