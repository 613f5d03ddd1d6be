import {
  byMemoryId, byScore, MAX_PASSAGES, type Candidate, type CandidateScores, type SearchRequest, type SearchResult,
} from '../vector-store.js'
import { TopK } from '../top-k.js'
import type { Bank } from './bank.js'
import type { Accept, Entry, PassageRef } from './entry.js'
import type { VectorEntry } from './vector-index.js'
import type { Steps } from '../../concurrency/steps.js'
import type { LexicalMatches } from './lexical-index.js'
import type { Mutable } from '../../validation/members.js'

const NO_PASSAGES: Candidate['passages'] = []

type MatchedPassages = Array<{ ref: PassageRef, score: number }>

interface Found {
  entry: Entry
  score: number
  /** Matched passages; undefined for a memory that has only one. */
  passages: MatchedPassages | undefined
}

/** The best candidates of all banks searched so far. */
export class SearchCollector {
  readonly #request: SearchRequest
  /** Descending by score, ties by memory id. */
  #lexical: Candidate[] = []
  #semantic: Candidate[] = []
  #total = 0

  constructor (request: SearchRequest) {
    this.#request = request
  }

  /** Searches one bank, and adds its results when they are complete. */
  * search (bank: Bank, accept: Accept): Steps<void> {
    const { lexical, semantic, limit, now } = this.#request
    const byMeaning = semantic === undefined ? [] : yield * semanticMatches(bank, semantic.vector, limit, accept)
    const expired = new Set(now < bank.entries.nextExpiry ? [] : bank.entries.expired(now))
    const counts = semantic === undefined ? undefined : ({ isEmbedded }: Entry) => !isEmbedded
    const byWords = lexical && bank.lexical.search(lexical, { limit, accept, expired, counts })
    const embedded = semantic === undefined ? 0 : yield * countEmbedded(bank, accept)
    // No step follows from here on, so the found memories still exist.
    if (byWords !== undefined) this.#offerLexical(bank, byWords)
    this.#offerSemantic(bank, byMeaning, byWords)
    this.#total += embedded + (byWords?.total ?? 0)
  }

  result (): SearchResult {
    const { lexical, semantic } = this.#request
    const result: Mutable<SearchResult> = { total: this.#total }
    if (lexical !== undefined) result.lexical = this.#lexical
    if (semantic !== undefined) result.semantic = this.#semantic
    return result
  }

  #offerLexical (bank: Bank, { best }: LexicalMatches): void {
    const { semantic, limit } = this.#request
    const cosine = semantic === undefined || best.length === 0 ? undefined : cosineWith(bank, semantic.vector)
    const threshold = thresholdOf(this.#lexical, limit)
    const candidates: Candidate[] = []
    for (const { member: { entry }, score, own, passages } of best) {
      if (score < threshold) break
      const semantic = cosine?.(entry)
      const scores = semantic === undefined ? { lexical: score, own } : { lexical: score, own, semantic }
      // Only the terms of its neighbours matched: its first passage is shown.
      const shown = passages.length > 0 ? passages : [{ ordinal: 0, score }]
      const matched = entry.passages.length === 1
        ? undefined
        : shown.map(({ ordinal, score }) => ({ ref: entry.passages[ordinal]!, score }))
      candidates.push(toCandidate(bank, entry, matched, score, scores))
    }
    this.#lexical = mergeSorted(this.#lexical, candidates, limit)
  }

  #offerSemantic (bank: Bank, found: readonly Found[], byWords: LexicalMatches | undefined): void {
    const { limit } = this.#request
    const threshold = thresholdOf(this.#semantic, limit)
    const candidates: Candidate[] = []
    for (const match of found) {
      if (match.score < threshold) break
      const { score = 0, own = 0 } = byWords?.scoresOf(match.entry) ?? {}
      const semantic = match.score
      const scores = byWords === undefined ? { semantic } : { lexical: score, own, semantic }
      candidates.push(toCandidate(bank, match.entry, match.passages, match.score, scores))
    }
    this.#semantic = mergeSorted(this.#semantic, candidates, limit)
  }
}

/**
 * The memories of the bank nearest to the query that pass the filters, `limit` if there are so many; exact, in
 * descending order.
 */
function * semanticMatches (bank: Bank, vector: Float32Array, limit: number, accept: Accept): Steps<Found[]> {
  const { vectors } = bank
  if (vectors === undefined) return []
  const acceptRef = ({ entry }: PassageRef) => entry.isVisible && (accept === undefined || accept(entry.memory))
  if (bank.isUnsplit) {
    const first = new TopK(limit, byOrder)
    yield * vectors.scan(vector, limit, (ref, cosine) => {
      const score = Math.min(1, Math.max(0, cosine))
      if (score >= (first.threshold?.score ?? 0) && acceptRef(ref)) {
        first.offer({ entry: ref.entry, score, passages: undefined })
      }
      // Every score below 0 counts as 0.
      return first.threshold === undefined || first.threshold.score === 0 ? -Infinity : first.threshold.score
    })
    return first.sorted()
  }
  // Several of the nearest passages may belong to one memory, and equal scores may be on both sides of the limit, so k
  // is doubled until there are enough memories and the last passage scores below the last memory within the limit.
  for (let k = limit + 1; ; k *= 2) {
    const hits = yield * vectors.searching(vector, k, acceptRef)
    const found = new Map<Entry, Found>()
    for (const { payload: ref, score: cosine } of hits) {
      const score = Math.max(0, cosine)
      const known = found.get(ref.entry)
      if (known === undefined) {
        const { entry } = ref
        found.set(entry, { entry, score, passages: entry.passages.length === 1 ? undefined : [{ ref, score }] })
      } else known.passages?.push({ ref, score })
    }
    // Hits descend by score, and so do the memories in the order of their first hits; sorting orders those of equal
    // score.
    const falling = [...found.values()]
    const border = falling[limit - 1]
    if (hits.length < k || (border !== undefined && Math.max(0, hits.at(-1)!.score) < border.score)) {
      return yield * withAllPassages(falling.sort(byOrder).slice(0, limit), vectors.scorer(vector))
    }
  }
}

/** Adds the passages that were not among the nearest ones. */
function * withAllPassages (
  found: readonly Found[], scorer: (vector: VectorEntry<PassageRef>) => number,
): Steps<Found[]> {
  const complete: Found[] = []
  for (const match of found) {
    const { entry, passages: nearest } = match
    if (nearest === undefined || nearest.length === entry.passages.length) {
      complete.push(match)
      continue
    }
    const scores = new Map(nearest.map(({ ref, score }) => [ref, score]))
    const passages = entry.passages.flatMap((ref) => (
      ref.vector === undefined ? [] : [{ ref, score: scores.get(ref) ?? Math.max(0, scorer(ref.vector)) }]
    ))
    complete.push({ ...match, passages })
    yield
  }
  return complete
}

/** Counts the memories with an embedding that pass the filters. */
function * countEmbedded (bank: Bank, accept: Accept): Steps<number> {
  if (accept === undefined) return bank.embeddedCount
  let count = 0
  for (const entry of bank.entries.ordered()) {
    if (entry.isVisible && accept(entry.memory) && entry.isEmbedded) count++
    yield
  }
  return count
}

/** @returns a function from a memory to its best cosine; undefined for one without vectors */
function cosineWith (bank: Bank, query: Float32Array): (entry: Entry) => number | undefined {
  const scorer = bank.vectors?.scorer(query)
  return ({ passages }) => {
    if (scorer === undefined) return undefined
    const cosines = passages.flatMap(({ vector }) => vector === undefined ? [] : [scorer(vector)])
    return cosines.length === 0 ? undefined : Math.max(0, ...cosines)
  }
}

function toCandidate (
  bank: Bank, { memory, passages }: Entry, matched: MatchedPassages | undefined, score: number, scores: CandidateScores,
): Candidate {
  return {
    bank: bank.key,
    memory,
    score,
    scores,
    passageCount: bank.isUnsplit ? 1 : passages.length,
    passages: matched === undefined ? NO_PASSAGES : bestPassages(matched),
  }
}

function bestPassages (matched: MatchedPassages): Candidate['passages'] {
  return matched.sort((a, b) => b.score - a.score || a.ref.start - b.ref.start)
    .slice(0, MAX_PASSAGES)
    .map(({ ref, score }) => ({ start: ref.start, end: ref.end, score }))
}

/** The minimum score of a further candidate. */
function thresholdOf (candidates: readonly Candidate[], limit: number): number {
  return candidates.length < limit ? 0 : candidates.at(-1)?.score ?? 0
}

/** The first `limit` of two lists ordered by `byScore`. With one bank there is nothing to merge. */
function mergeSorted (first: Candidate[], second: Candidate[], limit: number): Candidate[] {
  if (first.length === 0 && second.length <= limit) return second
  const merged: Candidate[] = []
  for (let a = 0, b = 0; merged.length < limit && (a < first.length || b < second.length);) {
    const takesFirst = b >= second.length || (a < first.length && byScore(first[a]!, second[b]!) <= 0)
    merged.push(takesFirst ? first[a++]! : second[b++]!)
  }
  return merged
}

function byOrder (a: Found, b: Found): number {
  return b.score - a.score || byMemoryId(a.entry, b.entry)
}
