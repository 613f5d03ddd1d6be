import type { NewMemory } from '../../../lib/stores/vector-store.js'

export interface Scored {
  memoryId: string
  score: number
  /** Scores of the passages that hold a term, best first. */
  passages: number[]
}

/**
 * The lexical strategy straight from its definition: BM25 over the passages of one bank, a memory as good as its best
 * passage, as a share of what the query could reach. Slow, and so plain that it can be checked by reading.
 */
export function referenceRanking (memories: readonly NewMemory[], terms: readonly string[], { k1, b }: { k1: number, b: number }): Scored[] {
  const passages = memories.flatMap((memory) => memory.passages)
  const average = passages.reduce((sum, { length }) => sum + length, 0) / passages.length
  const idf = new Map(terms.map((term) => {
    const frequency = passages.filter((passage) => passage.terms.has(term)).length
    return [term, Math.log(1 + (passages.length - frequency + 0.5) / (frequency + 0.5))]
  }))
  const attainable = [...idf.values()].reduce((sum, weight) => sum + weight * (k1 + 1), 0)
  const scored = memories.flatMap(({ memoryId, passages }): Scored[] => {
    const found = passages.flatMap((passage) => {
      if (!terms.some((term) => passage.terms.has(term))) return []
      const raw = terms.reduce((sum, term) => {
        const count = passage.terms.get(term)
        if (count === undefined) return sum
        return sum + idf.get(term)! * count * (k1 + 1) / (count + k1 * (1 - b + b * passage.length / average))
      }, 0)
      return [raw / attainable]
    }).sort((x, y) => y - x)
    return found.length === 0 ? [] : [{ memoryId, score: found[0]!, passages: found }]
  })
  return scored.sort((x, y) => y.score - x.score || (x.memoryId < y.memoryId ? -1 : 1))
}
