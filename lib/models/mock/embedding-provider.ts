import { mapGivingWay } from '../../base/event-loop.js'
import { analyzeText } from '../../text/analysis.js'
import { fnv1a } from '../../text/words.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import type { ModelStatus } from '../health.js'

const DIMENSIONS = 256

/**
 * Hashed bags of stems (feature hashing, Weinberger et al. 2009): deterministic, and without knowledge of meaning. It
 * serves tests of the semantic strategy; its weight is 0 because on real conversations it makes the ranking of BM25
 * worse.
 */
export class MockEmbeddingProvider implements EmbeddingProvider {
  readonly model = 'mock'
  readonly dimensions = DIMENSIONS
  readonly fusionWeight = 0

  async embed (texts: readonly string[]): Promise<Float32Array[]> {
    return await mapGivingWay(texts, (text) => hashedBag(analyzeText(text).terms))
  }

  status (): ModelStatus {
    return { alwaysAvailable: true }
  }
}

function hashedBag (terms: ReadonlyMap<string, number>): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  for (const [term, count] of terms) {
    const hash = fnv1a(term) >>> 0
    const index = hash % DIMENSIONS
    // The sign bit keeps colliding terms from always adding up.
    vector[index] = vector[index]! + (hash & 0x8000_0000 ? -count : count)
  }
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
