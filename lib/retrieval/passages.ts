import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { Passage } from '../stores/vector-store.js'
import { analyzeText } from '../text/analysis.js'
import { ServiceError } from '../errors.js'
import { chunk } from './chunking.js'

/** How texts are made searchable. */
export interface Indexing {
  chunkMaxCharacters: number
  /** Absent when the semantic strategy is off: then nothing is embedded. */
  embeddings?: EmbeddingProvider
}

/**
 * Makes texts searchable: passages with their index terms and, where wanted, their embeddings, all texts in one call.
 * @returns the passages of each text, in order
 * @throws ServiceError dependency_unavailable or model_output_invalid when the embedding provider fails
 */
export async function makePassages (texts: readonly string[], indexing: Indexing): Promise<Passage[][]> {
  const passages = texts.map((text) => chunk(text, indexing.chunkMaxCharacters).map(({ start, end }): Passage => ({
    start, end, ...analyzeText(text.slice(start, end)),
  })))
  if (indexing.embeddings === undefined) return passages
  const vectors = await embed(indexing.embeddings, passages.flatMap((list, index) => list.map(({ start, end }) => texts[index]!.slice(start, end))))
  let next = 0
  return passages.map((list) => list.map((passage) => ({ ...passage, vector: vectors[next++]! })))
}

/** @throws ServiceError when the provider rejects or answers with anything but one finite vector of its dimensions a text */
export async function embed (provider: EmbeddingProvider, texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
  let vectors: Float32Array[]
  try {
    vectors = await provider.embed(texts, signal === undefined ? {} : { signal })
  } catch (cause) {
    throw new ServiceError('dependency_unavailable', 'The embedding provider is unavailable', { cause })
  }
  const usable = Array.isArray(vectors) && vectors.length === texts.length && vectors.every((vector) =>
    vector instanceof Float32Array && vector.length === provider.dimensions && vector.every(Number.isFinite))
  if (!usable) throw new ServiceError('model_output_invalid', 'The embedding provider gave unusable vectors')
  return vectors
}
