import { sequenceInstant, takesPart, toLender, withContext, type TermWeights } from '../../../lib/stores/context.js'
import type { NewMemory } from '../../../lib/stores/vector-store.js'

export interface Scored {
  memoryId: string
  score: number
  /** By the words of the memory alone. */
  own: number
  /** Scores of the passages that hold a term, best first. */
  passages: number[]
}

/**
 * The lexical strategy straight from its definition: BM25 over the passages of one bank in their context, a memory as good as its best
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
  const scored = memories.flatMap((memory): Scored[] => {
    const found = memory.passages.flatMap((passage, ordinal) => {
      const weights = termWeights(memory, ordinal, memories)
      if (!terms.some((term) => weights.has(term))) return []
      const share = (of: (weights: TermWeights) => number) => terms.reduce((sum, term) => {
        const count = weights.has(term) ? of(weights.get(term)!) : 0
        if (count === 0) return sum
        return sum + idf.get(term)! * count * (k1 + 1) / (count + k1 * (1 - b + b * passage.length / average))
      }, 0) / attainable
      return [{ score: share(({ context }) => context), own: share(({ own }) => own) }]
    })
    if (found.length === 0) return []
    const scores = found.map(({ score }) => score).sort((x, y) => y - x)
    return [{ memoryId: memory.memoryId, score: scores[0]!, own: Math.max(...found.map(({ own }) => own)), passages: scores }]
  })
  return scored.sort((x, y) => y.score - x.score || (x.memoryId < y.memoryId ? -1 : 1))
}

/** The index terms of a passage among all memories of its bank. */
function termWeights (memory: NewMemory, ordinal: number, memories: readonly NewMemory[]): Map<string, TermWeights> {
  const self = toLender(memory.passages[ordinal]!)
  if (!takesPart(memory, memory.passages)) return withContext(self, [], [])
  const document = memories.filter((other) => takesPart(other, other.passages) && other.documentId === memory.documentId)
    .sort((x, y) => sequenceInstant(x) - sequenceInstant(y) || (x.memoryId < y.memoryId ? -1 : 1))
  const lenders = document.map(({ passages }) => toLender(passages[0]!))
  const place = document.indexOf(memory)
  return withContext(self, lenders.slice(0, place).reverse(), lenders.slice(place + 1))
}
