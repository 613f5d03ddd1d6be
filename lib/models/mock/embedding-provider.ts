import { analyzeText } from '../../text/analysis.js'
import { fnv1a } from '../../text/hashes.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import type { ModelStatus } from '../status.js'

const DIMENSIONS = 256

/**
 * Hashed bags of stems (feature hashing, Weinberger et al. 2009): deterministic, without a model, and blind to meaning.
 * It lets the semantic path be built and tested; its weight is 0 because on real conversations a hashed vector beside
 * BM25 only spoils the ranking.
 */
export class MockEmbeddingProvider implements EmbeddingProvider {
  readonly model = 'mock'
  readonly dimensions = DIMENSIONS
  readonly fusionWeight = 0

  async embed (texts: readonly string[]): Promise<Float32Array[]> {
    return texts.map(hashedBag)
  }

  status (): ModelStatus {
    return { asksNobody: true }
  }
}

function hashedBag (text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  for (const [term, count] of analyzeText(text).terms) {
    const hash = fnv1a(term) >>> 0
    const index = hash % DIMENSIONS
    // The sign bit keeps colliding terms from always adding up.
    vector[index] = vector[index]! + (hash & 0x8000_0000 ? -count : count)
  }
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
