import type { compileFilters } from '../filters.js'
import type { Candidate, CandidateScores, SearchRequest } from '../vector-store.js'
import { compareText, type Bank, type Entry, type PassageRef } from './bank.js'
import { topK } from './top-k.js'

/** Passages that a candidate names at most. */
const MAX_PASSAGES = 3

export interface Found {
  bank: Bank
  entry: Entry
  score: number
  /** Of a lexical find: its score by its own words alone. */
  own?: number
  /** Matched passages; undefined for a memory that has only one. */
  passages: Array<{ ref: PassageRef, score: number }> | undefined
}

type Accept = ReturnType<typeof compileFilters>

/**
 * The bank's best `limit` memories with one of the terms, and how many there are. Only for banks whose memories have one
 * passage each, and without filters: then no memory but the best is looked at.
 */
export function bestLexicalMatches (bank: Bank, query: NonNullable<SearchRequest['lexical']>, limit: number): { found: Found[], total: number } {
  const ceiling = bank.lexical.attainable(query.terms, query)
  const { found, total } = bank.lexical.best(query.terms, query, limit, (a, b) => a.entry.memory.memoryId < b.entry.memory.memoryId)
  return { found: found.map(({ payload: { entry }, score, own }) => ({ bank, entry, score: Math.min(1, score / ceiling), own: Math.min(1, own / ceiling), passages: undefined })), total }
}

/** @returns every memory of the bank with one of the terms that passes the filters; its score is its best passage's */
export function lexicalMatches (bank: Bank, query: NonNullable<SearchRequest['lexical']>, accept: Accept): Found[] {
  const ceiling = bank.lexical.attainable(query.terms, query)
  const found: Found[] = []
  const several = new Map<Entry, Found | undefined>()
  bank.lexical.search(query.terms, query, (ref, raw, rawOwn) => {
    const { entry } = ref
    const score = Math.min(1, raw / ceiling)
    const own = Math.min(1, rawOwn / ceiling)
    if (entry.passages.length === 1) {
      if (accept === undefined || accept(entry.memory)) found.push({ bank, entry, score, own, passages: undefined })
      return
    }
    if (!several.has(entry)) {
      const first = accept === undefined || accept(entry.memory) ? { bank, entry, score: 0, own: 0, passages: [] } : undefined
      several.set(entry, first)
      if (first !== undefined) found.push(first)
    }
    const known = several.get(entry)
    if (known === undefined) return
    known.passages?.push({ ref, score })
    known.score = Math.max(known.score, score)
    known.own = Math.max(known.own!, own)
  })
  return found
}

/** @returns the `limit` memories of the bank nearest to the query that pass the filters; exact */
export function semanticMatches (bank: Bank, vector: Float32Array, limit: number, accept: Accept): Found[] {
  if (bank.vectors === undefined) return []
  const acceptRef = accept === undefined ? undefined : (ref: PassageRef) => accept(ref.entry.memory)
  // Several passages of one memory may be among the nearest, and equal scores may lie on both sides of the border, so ask
  // for more until enough memories are there and the last passage is farther away than the last memory that counts.
  for (let k = limit + 1; ; k *= 2) {
    const hits = bank.vectors.search(vector, k, acceptRef)
    const found = new Map<Entry, Found>()
    for (const { payload: ref, score: cosine } of hits) {
      const score = Math.max(0, cosine)
      const known = found.get(ref.entry)
      if (known === undefined) {
        found.set(ref.entry, { bank, entry: ref.entry, score, passages: ref.entry.passages.length === 1 ? undefined : [{ ref, score }] })
      } else known.passages?.push({ ref, score })
    }
    // Hits fall, and so do the memories in the order in which their first hit came.
    const border = [...found.values()][limit - 1]
    if (hits.length < k || (border !== undefined && Math.max(0, hits.at(-1)!.score) < border.score)) return [...found.values()]
  }
}

/** @returns the first `limit` over all banks, falling, ties by memory id */
export function best (found: readonly Found[], limit: number): Found[] {
  return topK(found, limit, byScore)
}

/** The best by words, as candidates. @param query the embedding that they are to be compared with too */
export function lexicalCandidates (found: readonly Found[], query?: Float32Array): Candidate[] {
  const cosines = query === undefined ? undefined : cosinesWith(query)
  return found.map((match): Candidate => {
    const semantic = cosines?.(match)
    return toCandidate(match, { lexical: match.score, own: match.own!, ...(semantic !== undefined && { semantic }) })
  })
}

/** The best by meaning, as candidates. @param byWords all that the lexical strategy found, when it was asked for */
export function semanticCandidates (found: readonly Found[], byWords?: readonly Found[]): Candidate[] {
  if (byWords === undefined) return found.map((match) => toCandidate(match, { semantic: match.score }))
  const wanted = new Set(found.map(({ entry }) => entry))
  const lexical = new Map<Entry, Found>()
  for (const match of byWords) if (wanted.has(match.entry)) lexical.set(match.entry, match)
  return found.map((match) => {
    const { score = 0, own = 0 } = lexical.get(match.entry) ?? {}
    return toCandidate(match, { lexical: score, own, semantic: match.score })
  })
}

/** @returns a function that gives a memory's best cosine; undefined for one without vectors */
function cosinesWith (query: Float32Array): (found: Found) => number | undefined {
  const scorers = new Map<Bank, ReturnType<NonNullable<Bank['vectors']>['scorer']>>()
  return ({ bank, entry }) => {
    if (bank.vectors === undefined) return undefined
    const scorer = scorers.get(bank) ?? bank.vectors.scorer(query)
    scorers.set(bank, scorer)
    const cosines = entry.passages.flatMap(({ vector }) => vector === undefined ? [] : [scorer(vector)])
    return cosines.length === 0 ? undefined : Math.max(0, ...cosines)
  }
}

function toCandidate ({ bank, entry, score, passages }: Found, scores: CandidateScores): Candidate {
  return {
    bank: bank.key,
    memory: entry.memory,
    score,
    scores,
    passageCount: entry.passages.length,
    passages: passages === undefined
      ? entry.passages.map(({ start, end }) => ({ start, end, score }))
      : passages.sort((a, b) => b.score - a.score || a.ref.start - b.ref.start)
        .slice(0, MAX_PASSAGES)
        .map(({ ref, score }) => ({ start: ref.start, end: ref.end, score })),
  }
}

function byScore (a: Found, b: Found): number {
  return b.score - a.score || compareText(a.entry.memory.memoryId, b.entry.memory.memoryId)
}

/** The memories that a strategy found, whatever the limit is: those with a term and, with the semantic strategy, every one with an embedding that passes the filters. */
export function countFound (banks: readonly Bank[], lexical: readonly Found[] | undefined, semantic: boolean, accept: Accept): number {
  if (!semantic) return lexical?.length ?? 0
  let total = 0
  let byWords: Set<Entry> | undefined
  for (const bank of banks) {
    // Where every passage has an embedding, as is usual, nothing but a filter has to be asked.
    const embedded = bank.vectors?.size === bank.lexical.size
    if (embedded && accept === undefined) {
      total += bank.size
      continue
    }
    for (const entry of bank.entries()) {
      if (accept !== undefined && !accept(entry.memory)) continue
      const found = embedded || entry.passages.some(({ vector }) => vector !== undefined) ||
        (byWords ??= new Set(lexical?.map((match) => match.entry))).has(entry)
      if (found) total++
    }
  }
  return total
}
