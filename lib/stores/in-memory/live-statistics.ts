import type { Steps } from '../../concurrency/steps.js'
import type { Bank } from './bank.js'
import type { LexicalIndex } from './lexical-index.js'

/** Number of postings that one step reads. */
const POSTINGS_PER_STEP = 16_384

const NO_MARKS = new Uint8Array(0)

/** What BM25 uses of an index besides the weights and lengths of single passages. */
export type LexicalStatistics = Pick<LexicalIndex<unknown>, 'size' | 'averageLength' | 'frequency'>

/** The passages of the visible memories of a bank that have expired. */
interface ExpiredPassages {
  /** The version of the bank. */
  version: number
  /** The memories are those that have expired at this time. */
  now: number
  count: number
  totalLength: number
  /** By ordinal: 1 for an expired passage. */
  marks: Uint8Array
}

/** The expired passages at the last search. */
const knownExpired = new WeakMap<Bank, ExpiredPassages>()

/**
 * The statistics of an index without expired memories that are still being removed. Searches do not wait for their
 * removal, because other writes to the bank may be queued before it; so that a search does not read all of them again,
 * it reads only those that have expired since the last one, and the postings of its own terms.
 */
export function * statisticsWithout (bank: Bank, now: number, terms: readonly string[]): Steps<LexicalStatistics> {
  const { count, totalLength, marks } = yield * expiredPassages(bank, now)
  const index = bank.lexical
  const frequencies = new Map<string, number>()
  let postingsLeft = POSTINGS_PER_STEP
  for (const term of terms) {
    const expired = count === 0 ? 0 : yield * countMarked(term)
    frequencies.set(term, index.frequency(term) - expired)
  }
  const size = index.size - count
  return {
    size,
    averageLength: size === 0 ? 0 : (index.averageLength * index.size - totalLength) / size,
    frequency: (term) => frequencies.get(term) ?? 0,
  }

  // As in scoreTerms, a change that is not committed may move the postings, and append some, which are not marked.
  function * countMarked (term: string): Steps<number> {
    let found = 0
    let list = index.postingsOf(term)
    for (let read = 0; list !== undefined && read < list.to - list.from;) {
      if (postingsLeft <= 0) {
        yield
        postingsLeft = POSTINGS_PER_STEP
        list = index.postingsOf(term)!
      }
      const from = list.from + read
      const to = Math.min(list.to, from + postingsLeft)
      found += marksIn(list.ordinals, from, to, marks)
      postingsLeft -= to - from
      read += to - from
    }
    return found
  }
}

// A separate function, so that it runs often enough for V8 to optimize it.
function marksIn (ordinals: Uint32Array, from: number, to: number, marks: Uint8Array): number {
  let found = 0
  for (let i = from; i < to; i++) if (marks[ordinals[i]!] === 1) found++
  return found
}

/** Searches may compute this at the same time, so what is known is not changed but replaced. */
function * expiredPassages (bank: Bank, now: number): Steps<ExpiredPassages> {
  const { version, lexical, entries } = bank
  const known = knownExpired.get(bank)
  const base = known?.version === version && known.now <= now ? known : undefined
  const from = base ?? { count: 0, totalLength: 0, marks: NO_MARKS }
  let { count, totalLength, marks } = from
  for (const { isVisible, passages } of entries.expired(now, base?.now)) {
    yield
    if (!isVisible) continue
    if (marks === from.marks) {
      marks = new Uint8Array(lexical.capacity)
      marks.set(from.marks)
    }
    for (const { lexical: passage } of passages) {
      const { ordinal } = passage!
      count++
      totalLength += lexical.lengths[ordinal]!
      marks[ordinal] = 1
    }
  }
  const expired = { version, now, count, totalLength, marks }
  if (bank.version === version) knownExpired.set(bank, expired)
  return expired
}
