import type { CallOptions } from './call-options.js'
import type { CalledEndpoint } from './endpoint.js'
import { member } from './member.js'
import { ModelCallError } from './model-call-error.js'
import { parsedJson } from '../../validation/json-object.js'

export type EmbeddingPurpose = 'query' | 'document'

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
export class EmbeddingClient {
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
