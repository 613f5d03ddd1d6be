import { byMemoryId, type LexicalRequest, type Memory, type Passage } from './vector-store.js'

/**
 * The definition of the lexical strategy: BM25 over passages, extended by the context of a memory. A store retrieves
 * the pool and its windows, and lexical-scores.ts computes the scores for every store. The context is the terms of its
 * neighbours in the same document, at a lower weight. It lets a query find a turn of a conversation, or a paragraph of
 * a text, by the words around it; on conversations this gains more recall than any embedding (docs/recall-quality.md).
 * Without documents the memories before and after it are its neighbours.
 *
 * Every step and every statistic considers only memories of the bank that have not expired. What is current and what is
 * past are searched apart, and have their pools and windows apart; a search that reads what is past has the statistics
 * (N, df and mean length) of both, each version counted, so that the scores of both are comparable.
 *
 * 1. Own score of a passage. It is Σ idf · (k1 + 1) · tf / (tf + k1 · norm) over the terms of the query, divided by the
 *    highest score that the query can reach, Σ idf · (k1 + 1). For a term that df of the bank's N passages contain, idf
 *    is ln(1 + (N - df + .5) / (df + .5)); tf is its count in the passage; norm is `lengthNorm` of the passage.
 * 2. Own score of a memory. It is the score of its best passage; of equal passages the first is best. The counts and
 *    the norm of that passage are the counts and the norm of the memory. A memory without any term of the query scores
 *    0, has no counts, and its norm is that of the mean length of its passages.
 * 3. Pool. The pool is the `poolSize` memories of the bank with the highest own scores above 0; ties are ordered by
 *    memory id. A search with filters adds the `poolSize` best of the memories that pass them. The pool is of notes or
 *    articles, and not of turns of a conversation, if it has at least MIN_NOTES members, less than NOTES_QUESTIONS per
 *    cent of them end in a question, and none is an assistant's (`isAssistants`). With `notesPivot`, the norms of the
 *    steps below are then those of that pivot, and the own scores of candidates are those that step 1 gives with it.
 * 4. Candidates. Without `context` the candidates are the pool. With it each member of the pool has a window: the
 *    member and up to WINDOW_REACH memories on either side in its sequence. A sequence is the memories of a document,
 *    or those of a UTC day that have no document, in the order of `sequenceInstant`, then of the memory ids. The
 *    candidates are the pool and the members of all windows.
 * 5. Neighbours. Two candidates are neighbours when at most WINDOW_REACH places separate them and one window contains
 *    both. Each adds to the counts of the other its own counts, divided by its norm and multiplied by
 *    `neighbourWeight`, and by WITHOUT_DOCUMENT if they have no document. A neighbour does this whether or not it
 *    passes the filters.
 * 6. Score of a candidate. It is the formula of step 1 with the sums of step 5 as tf and the candidate's own norm. In a
 *    candidate without a document the count of a term that it has itself stays as it is; neighbours add only the other
 *    terms, so that facts that match equally have equal scores. The score of a candidate whose own score is 0 is
 *    multiplied by WITHOUT_OWN_TERMS, unless it follows a matching question: unless the neighbour directly before it
 *    ends in a question and has an own score above 0. The score of a memory that only the semantic strategy found, and
 *    that is not a candidate, is its own score.
 * 7. Result. The result is the `limit` best candidates that pass the filters and score above 0; ties are ordered by
 *    memory id. A candidate without a document whose own score is 0 is left out, unless it follows a matching question:
 *    an isolated fact is not found by the words of another one. The total counts all such candidates, and the memories
 *    outside the pool that pass the filters and have an own score above 0.
 *
 * A score is rounded to a multiple of 1 / SCORE_GRID before it is compared: the sum of floating-point numbers depends
 * on their order, which differs between stores, and equal memories have to tie in each of them.
 */

/** Maximum distance, in memories of the sequence, from a member of the pool to the ends of its window. */
export const WINDOW_REACH = 2

/** Scores are whole multiples of 1 / SCORE_GRID. */
export const SCORE_GRID = 1e12

/**
 * The weights of a neighbour's terms, where a memory's own terms have the weight 1. They are round figures set by hand,
 * not fitted: recall on conversations hardly changes with them (docs/recall-quality.md). A question before the memory
 * has by far the highest weight, because its words identify the answer nearly as well as the words of the answer.
 */
export const NEIGHBOUR_WEIGHTS = {
  /** Of the memory directly before: when that one ends in a question, and otherwise. */
  before: { question: 0.8, other: 0.35 },
  /** Of the memory directly after: when the scored memory ends in a question, and otherwise. */
  after: { question: 0.35, other: 0.2 },
  secondBefore: 0.2,
  secondAfter: 0.1,
} as const

/**
 * The factor of the weights of neighbours without a document: that they belong together is likely, not known. It is a
 * round figure; recall hardly changes with it (docs/recall-quality.md).
 */
export const WITHOUT_DOCUMENT = 0.75

/**
 * The factor of the score of a memory that has no term of the query and does not follow a matching question. In notes
 * about many subjects each names its own, and the words around one say nothing about it. It is a round figure; recall
 * hardly changes with it (docs/recall-quality.md). A power of two multiplies a score alike in every store.
 */
export const WITHOUT_OWN_TERMS = 0.5

const MIN_POOL_SIZE = 100

/** The number of memories in the pool of a search. */
export function poolSize (limit: number): number {
  return Math.max(MIN_POOL_SIZE, limit)
}

/** The fewest memories by which notes and articles are told from conversations. */
export const MIN_NOTES = 10
/** In notes and articles fewer memories than this, in per cent, ask a question (docs/recall-quality.md). */
export const NOTES_QUESTIONS = 3
/** The speakers, in lower case, that are assistants. A user may be the author of notes. */
export const ASSISTANTS: readonly string[] = ['assistant', 'ai', 'bot', 'chatbot', 'model', 'agent']

/** Whether a memory's metadata state that an assistant said it. */
export function isAssistants ({ metadata: { speaker, role } }: Pick<Memory, 'metadata'>): boolean {
  const stated = speaker ?? role
  return typeof stated === 'string' && ASSISTANTS.includes(stated.toLowerCase())
}

/** The instant by which the memories of a sequence are ordered. */
export function sequenceInstant ({ occurredAt, retainedAt }: Pick<Memory, 'occurredAt' | 'retainedAt'>): number {
  return occurredAt ?? retainedAt
}

/** The order of the memories of a sequence. */
export function bySequence (a: { memory: Memory }, b: { memory: Memory }): number {
  return sequenceInstant(a.memory) - sequenceInstant(b.memory) || byMemoryId(a, b)
}

/**
 * Whether a memory ends in a question, which its last passage records: the memory after it is likely to be the answer.
 */
export function endsAsQuestion (passages: ReadonlyArray<Pick<Passage, 'question'>>): boolean {
  return passages.at(-1)?.question === true
}

/**
 * The weight of a neighbour's counts in the score of a memory.
 * @param places from the scored memory to the neighbour, at most WINDOW_REACH and not 0; negative when the neighbour
 * comes before
 * @param neighbourIsQuestion whether the neighbour ends in a question
 * @param memoryIsQuestion whether the scored memory ends in a question
 */
export function neighbourWeight (places: number, neighbourIsQuestion: boolean, memoryIsQuestion: boolean): number {
  const { before, after, secondBefore, secondAfter } = NEIGHBOUR_WEIGHTS
  switch (places) {
    case -1: return neighbourIsQuestion ? before.question : before.other
    case 1: return memoryIsQuestion ? after.question : after.other
    case -2: return secondBefore
    default: return secondAfter
  }
}

/**
 * The length normalization of a passage's term counts.
 * @param average length of the bank's passages, above 0
 */
export function lengthNorm (length: number, form: LexicalRequest['length'], average: number): number {
  return 'pivot' in form ? Math.max(1, length / form.pivot) : 1 - form.b + form.b * length / average
}

/** Rounds a share of the highest score that a query can reach to a multiple of 1 / SCORE_GRID. */
export function toScore (share: number): number {
  return Math.round(Math.min(1, share) * SCORE_GRID) / SCORE_GRID
}
