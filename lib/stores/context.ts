import type { LexicalRequest, Memory, Passage } from './vector-store.js'

/**
 * The rule of the lexical strategy, which every store keeps at read time: BM25 over the passages, and the context of a
 * memory, which is the terms of its neighbours in the same document at lower weight. A turn of a conversation or a
 * paragraph of a text is then found by what was said around it, which on conversations is worth more than any
 * embedding.
 *
 * Nothing counts but what is in the bank and has not expired.
 *
 * 1. A passage p has an own score, Σ idf · (k1 + 1) · tf / (tf + k1 · norm(p)), as a share of what the query could
 *    reach, Σ idf · (k1 + 1). The idf of a term is ln(1 + (N - df + .5) / (df + .5)), for N passages in the bank of
 *    which df hold it. `lengthNorm` is the norm.
 * 2. A memory stands in for its best passage by own score, the first of equal ones: that passage's term counts, length
 *    and score are the memory's. One without a term of the query has counts and a score of 0, and the mean length of
 *    its passages.
 * 3. The pool of a search is the best `poolSize` memories of the bank by own score above 0, ties by memory id; with
 *    filters the best so many of those that pass, too.
 * 4. With `context`, a memory of a document has a window: itself, and up to REACH memories on either side of it in the
 *    order of `sequenceInstant`, then memory id. The candidates are the windows of the pool; without `context`, the
 *    pool.
 * 5. A candidate borrows of every memory within REACH that lies with it in the window of one same member of the pool:
 *    of the lender's counts, each divided by its norm, `shareOf`. Lenders need not pass the filters.
 * 6. A candidate's lexical score is the formula of 1. with these weights added to its counts, and its norm. That of any
 *    other memory, which is asked for where the semantic strategy found it, is its own score.
 * 7. Found are the best `limit` candidates that pass the filters and score above 0, ties by memory id. The total counts
 *    all such candidates, and what matches by its own words outside the pool.
 *
 * Scores are rounded to SCORE_GRID before they are compared, so that memories of equal worth tie whatever the order in
 * which a store sums.
 */

/** How many neighbours on either side lend their terms. */
export const REACH = 2

/** Scores are whole multiples of 1 over it. */
export const SCORE_GRID = 1e12

/**
 * The weight of a neighbour's term beside the 1 of an own one. An answer is nearly as good as said by the question that
 * it follows.
 */
export const SHARES = {
  /** Of the memory directly before, when that ends in a question, and else. */
  before: { question: 0.8, other: 0.35 },
  /** Of the memory directly behind, when the one that borrows ends in a question, and else. */
  behind: { question: 0.35, other: 0.2 },
  secondBefore: 0.2,
  secondBehind: 0.1,
} as const

const POOL_AT_LEAST = 100

/** How many of the best by own score are looked at, beside their neighbours. */
export function poolSize (limit: number): number {
  return Math.max(POOL_AT_LEAST, limit)
}

/** Where a memory stands in its document: rising by this instant, then by memory id. */
export function sequenceInstant ({ occurredAt, retainedAt }: Pick<Memory, 'occurredAt' | 'retainedAt'>): number {
  return occurredAt ?? retainedAt
}

/**
 * Whether a memory ends in a question, so that what follows it in its document is likely to answer it: its last passage
 * says.
 */
export function endsAsQuestion (passages: ReadonlyArray<Pick<Passage, 'question'>>): boolean {
  return passages.at(-1)?.question === true
}

/**
 * What of its counts a neighbour lends.
 * @param places from the one that borrows to the one that lends, within REACH and not 0; negative for one that comes
 * before
 * @param lender whether it ends in a question
 * @param borrower the same
 */
export function shareOf (places: number, lender: boolean, borrower: boolean): number {
  switch (places) {
    case -1: return lender ? SHARES.before.question : SHARES.before.other
    case 1: return borrower ? SHARES.behind.question : SHARES.behind.other
    case -2: return SHARES.secondBefore
    default: return SHARES.secondBehind
  }
}

/**
 * What a passage pays for its length.
 * @param average length of the bank's passages, above 0
 */
export function lengthNorm (length: number, form: LexicalRequest['length'], average: number): number {
  return 'pivot' in form ? Math.max(1, length / form.pivot) : 1 - form.b + form.b * length / average
}

/** @param share of the attainable score */
export function toScore (share: number): number {
  return Math.round(Math.min(1, share) * SCORE_GRID) / SCORE_GRID
}
