import type { Memory, Passage } from './vector-store.js'

/**
 * The context of a memory: the terms of its neighbours in the same document, at lower weight. A turn of a conversation or a paragraph
 * of a text is then found by what was said around it, which on conversations is worth more than any embedding.
 *
 * A memory takes part, as one who lends and one who is lent to, when it has a document and a single passage; the memories of a
 * document stand in the order of `sequenceKey`. Every store keeps the same rule at any time, whatever came late or was forgotten: a memory's
 * index terms are a function of what its bank holds now.
 *
 * A passage is scored by BM25 over these weights, with everything else that of its own words: the document frequency of a term counts the
 * passages that hold it themselves, and lengths are theirs.
 */

/** How many neighbours on either side lend their terms. */
export const REACH = 2

/** The weight of a neighbour's term beside the 1 of an own one. An answer is nearly as good as said by the question that it follows. */
const BEFORE = { question: 0.8, other: 0.35 }
const BEHIND_A_QUESTION = 0.35
const BEHIND = 0.2
const SECOND_BEFORE = 0.2
const SECOND_BEHIND = 0.1

/** What one memory of a document lends to another. */
export interface Lender {
  terms: ReadonlyMap<string, number>
  question: boolean
}

/** An index entry: how much a passage has of a term. `context` includes `own`; a term of neighbours alone has an `own` of 0. */
export interface TermWeights {
  own: number
  context: number
}

/** Whether a memory takes part in its document's context. */
export function takesPart (memory: Pick<Memory, 'documentId'>, passages: { readonly length: number }): boolean {
  return memory.documentId !== null && passages.length === 1
}

/** Where a memory stands in its document: rising by this instant, then by memory id. */
export function sequenceInstant ({ occurredAt, retainedAt }: Pick<Memory, 'occurredAt' | 'retainedAt'>): number {
  return occurredAt ?? retainedAt
}

export function toLender ({ terms, question = false }: Pick<Passage, 'terms' | 'question'>): Lender {
  return { terms, question }
}

/**
 * The index terms of a memory between its neighbours.
 * @param before the memories before it that take part, nearest first; only the first REACH count
 * @param behind those behind it, likewise
 * @returns its own terms first, in order, then those that neighbours add
 */
export function withContext (self: Lender, before: readonly Lender[], behind: readonly Lender[]): Map<string, TermWeights> {
  const weights = new Map<string, TermWeights>()
  for (const [term, own] of self.terms) weights.set(term, { own, context: own })
  lend(weights, before[0], before[0]?.question === true ? BEFORE.question : BEFORE.other)
  lend(weights, behind[0], self.question ? BEHIND_A_QUESTION : BEHIND)
  lend(weights, before[1], SECOND_BEFORE)
  lend(weights, behind[1], SECOND_BEHIND)
  return weights
}

function lend (weights: Map<string, TermWeights>, lender: Lender | undefined, share: number): void {
  if (lender === undefined) return
  for (const [term, count] of lender.terms) {
    const known = weights.get(term)
    if (known === undefined) weights.set(term, { own: 0, context: share * count })
    else known.context += share * count
  }
}
