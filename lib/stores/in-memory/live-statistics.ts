import type { Steps } from '../../concurrency/steps.js'
import type { Entry, PassageRef } from './entry.js'
import type { LexicalIndex } from './lexical-index.js'

/** What BM25 uses of an index besides the weights and lengths of single documents. */
export type LexicalStatistics = Pick<LexicalIndex<unknown>, 'size' | 'averageLength' | 'frequency'>

/**
 * The statistics of an index without expired memories that are still being removed. Searches do not wait for their
 * removal, because other writes to the bank may be queued before it.
 */
export function * statisticsWithout (
  expired: Iterable<Entry>, index: LexicalIndex<PassageRef>, terms: readonly string[],
): Steps<LexicalStatistics> {
  const frequencies = new Map(terms.map((term) => [term, index.frequency(term)]))
  let { size } = index
  let totalLength = index.averageLength * size
  for (const { isVisible, passages } of expired) {
    yield
    if (!isVisible) continue
    for (const { lexical } of passages) {
      size--
      totalLength -= index.lengths[lexical!.ordinal]!
      for (const { term } of lexical!.postings) {
        const frequency = frequencies.get(term)
        if (frequency !== undefined) frequencies.set(term, frequency - 1)
      }
    }
  }
  return {
    size,
    averageLength: size === 0 ? 0 : totalLength / size,
    frequency: (term) => frequencies.get(term) ?? 0,
  }
}
