import type { EmbeddingProvider, EmbedOptions } from '../models/embedding-provider.js'
import type { Passage } from '../stores/vector-store.js'
import { analyzeText } from '../text/analysis.js'
import { ServiceError } from '../errors.js'
import { chunk } from './chunking.js'

/** How texts are made searchable. */
export interface Indexing {
  chunkMaxCharacters: number
}

/** The passages of each text, in order, with their index terms and without vectors. */
export function makePassages (texts: readonly string[], { chunkMaxCharacters }: Indexing): Passage[][] {
  return texts.map((text) => chunk(text, chunkMaxCharacters).map(({ start, end }): Passage => ({
    start, end, ...analyzeText(text.slice(start, end)),
  })))
}

/** @throws ServiceError when the provider rejects or answers with anything but one finite vector of its dimensions a text */
export async function embed (provider: EmbeddingProvider, texts: readonly string[], options: EmbedOptions = {}): Promise<Float32Array[]> {
  let vectors: Float32Array[]
  try {
    vectors = await provider.embed(texts, options)
  } catch (cause) {
    throw new ServiceError('dependency_unavailable', 'The embedding provider is unavailable', { cause })
  }
  const usable = Array.isArray(vectors) && vectors.length === texts.length && vectors.every((vector) =>
    vector instanceof Float32Array && vector.length === provider.dimensions && vector.every(Number.isFinite))
  if (!usable) throw new ServiceError('model_output_invalid', 'The embedding provider gave unusable vectors')
  return vectors
}
