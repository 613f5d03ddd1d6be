import type { Candidate, CandidateScores, Memory, SearchRequest, SearchResult } from '../vector-store.js'
import type { Bank } from './bank.js'
import { compareText, type Entry, type PassageRef } from './entry.js'
import type { Steps } from '../../steps.js'
import { TopK } from './top-k.js'

/** Passages that a candidate names at most. */
const MAX_PASSAGES = 3

interface Found {
  entry: Entry
  score: number
  /** Of a lexical find: its score by its own words alone. */
  own: number
  /** Matched passages; undefined for a memory that has only one. */
  passages: Array<{ ref: PassageRef, score: number }> | undefined
}

/** What a lexical search of one bank comes to. */
interface ByWords {
  /** The best, falling. */
  found: Found[]
  total: number
  /** How many of them have no embedding. */
  unembedded: number
  /** The scores of those that the semantic strategy asks for. */
  wanted: ReadonlyMap<Entry, { score: number, own: number }>
}

/** Whether a memory is to be found; undefined when all are. */
export type Accept = ((memory: Memory) => boolean) | undefined

/** The best of all banks that were searched so far. */
export class Gathered {
  readonly #request: SearchRequest
  readonly #lexical: TopK<Candidate>
  readonly #semantic: TopK<Candidate>
  #total = 0

  constructor (request: SearchRequest) {
    this.#request = request
    this.#lexical = new TopK(request.limit, byScore)
    this.#semantic = new TopK(request.limit, byScore)
  }

  /** Searches one bank, and takes what it finds in when all of it is there. */
  * search (bank: Bank, accept: Accept): Steps<void> {
    const { lexical, semantic, limit } = this.#request
    if (lexical !== undefined && semantic === undefined && accept === undefined && bank.isUnsplit) {
      const { found, total } = yield * bestLexicalMatches(bank, lexical, limit)
      this.#offerLexical(bank, found)
      this.#total += total
      return
    }
    const byMeaning = semantic === undefined ? [] : yield * semanticMatches(bank, semantic.vector, limit, accept)
    const wanted = new Set(byMeaning.slice(0, limit).map(({ entry }) => entry))
    const byWords = lexical === undefined ? undefined : yield * lexicalMatches(bank, lexical, limit, accept, wanted)
    const embedded = semantic === undefined ? 0 : yield * countEmbedded(bank, accept)
    // Nothing is awaited from here on: what was found is still there.
    if (byWords !== undefined) this.#offerLexical(bank, byWords.found)
    this.#offerSemantic(bank, byMeaning, byWords)
    this.#total += semantic === undefined ? byWords?.total ?? 0 : embedded + (byWords?.unembedded ?? 0)
  }

  /** Nothing may be searched afterwards. */
  result (): SearchResult {
    const { lexical, semantic } = this.#request
    return {
      ...(lexical !== undefined && { lexical: this.#lexical.sorted() }),
      ...(semantic !== undefined && { semantic: this.#semantic.sorted() }),
      total: this.#total,
    }
  }

  #offerLexical (bank: Bank, found: readonly Found[]): void {
    const { semantic } = this.#request
    const cosine = semantic === undefined || found.length === 0 ? undefined : cosineWith(bank, semantic.vector)
    for (const match of found) {
      if (isBelow(match, this.#lexical.bar)) return
      const semantic = cosine?.(match.entry)
      this.#lexical.offer(toCandidate(bank, match, { lexical: match.score, own: match.own, ...(semantic !== undefined && { semantic }) }))
    }
  }

  #offerSemantic (bank: Bank, found: readonly Found[], byWords: ByWords | undefined): void {
    for (const match of found) {
      if (isBelow(match, this.#semantic.bar)) return
      const { score = 0, own = 0 } = byWords?.wanted.get(match.entry) ?? {}
      this.#semantic.offer(toCandidate(bank, match, { ...(byWords !== undefined && { lexical: score, own }), semantic: match.score }))
    }
  }
}

/**
 * The bank's best `limit` memories with one of the terms, and how many there are. Only for banks whose memories have one
 * passage each, and without filters: then no memory but the best is looked at.
 */
function * bestLexicalMatches (bank: Bank, query: NonNullable<SearchRequest['lexical']>, limit: number): Steps<{ found: Found[], total: number }> {
  const ceiling = bank.lexical.attainable(query.terms, query)
  const { found, total } = yield * bank.lexical.best(query.terms, query, limit, (a, b) => a.entry.memory.memoryId < b.entry.memory.memoryId)
  return { found: found.map(({ payload: { entry }, score, own }) => ({ entry, score: Math.min(1, score / ceiling), own: Math.min(1, own / ceiling), passages: undefined })), total }
}

/** The bank's best memories with one of the terms that pass the filters; the score of each is its best passage's. */
function * lexicalMatches (bank: Bank, query: NonNullable<SearchRequest['lexical']>, limit: number, accept: Accept, asked: ReadonlySet<Entry>): Steps<ByWords> {
  const ceiling = bank.lexical.attainable(query.terms, query)
  const first = new TopK(limit, byOrder)
  const several = new Map<Entry, Found | undefined>()
  const wanted = new Map<Entry, { score: number, own: number }>()
  let total = 0
  let unembedded = 0
  const count = (entry: Entry): void => {
    total++
    if (!entry.isEmbedded) unembedded++
  }
  yield * bank.lexical.visit(query.terms, query, (ref, raw, rawOwn) => {
    const { entry } = ref
    const score = Math.min(1, raw / ceiling)
    const own = Math.min(1, rawOwn / ceiling)
    if (entry.passages.length === 1) {
      if (accept !== undefined && !accept(entry.memory)) return
      count(entry)
      if (asked.has(entry)) wanted.set(entry, { score, own })
      const { bar } = first
      if (bar === undefined || score >= bar.score) first.offer({ entry, score, own, passages: undefined })
      return
    }
    if (!several.has(entry)) {
      const fresh = accept === undefined || accept(entry.memory) ? { entry, score: 0, own: 0, passages: [] } : undefined
      several.set(entry, fresh)
      if (fresh !== undefined) count(entry)
    }
    const known = several.get(entry)
    if (known === undefined) return
    known.passages?.push({ ref, score })
    known.score = Math.max(known.score, score)
    known.own = Math.max(known.own, own)
  })
  for (const found of several.values()) {
    if (found === undefined) continue
    if (asked.has(found.entry)) wanted.set(found.entry, found)
    first.offer(found)
    yield
  }
  return { found: first.sorted(), total, unembedded, wanted }
}

/** The memories of the bank nearest to the query that pass the filters, `limit` at least when there are so many; exact, and falling. */
function * semanticMatches (bank: Bank, vector: Float32Array, limit: number, accept: Accept): Steps<Found[]> {
  const { vectors } = bank
  if (vectors === undefined) return []
  const acceptRef = ({ entry }: PassageRef) => entry.isVisible && (accept === undefined || accept(entry.memory))
  if (bank.isUnsplit) {
    const first = new TopK(limit, byOrder)
    yield * vectors.scan(vector, limit, (ref, cosine) => {
      const score = Math.min(1, Math.max(0, cosine))
      if (score >= (first.bar?.score ?? 0) && acceptRef(ref)) first.offer({ entry: ref.entry, score, own: 0, passages: undefined })
      // All that is below 0 is as good as 0.
      return first.bar === undefined || first.bar.score === 0 ? -Infinity : first.bar.score
    })
    return first.sorted()
  }
  // Several passages of one memory may be among the nearest, and equal scores may lie on both sides of the border, so ask
  // for more until enough memories are there and the last passage is farther away than the last memory that counts.
  for (let k = limit + 1; ; k *= 2) {
    const hits = yield * vectors.searching(vector, k, acceptRef)
    const found = new Map<Entry, Found>()
    for (const { payload: ref, score: cosine } of hits) {
      const score = Math.max(0, cosine)
      const known = found.get(ref.entry)
      if (known === undefined) {
        found.set(ref.entry, { entry: ref.entry, score, own: 0, passages: ref.entry.passages.length === 1 ? undefined : [{ ref, score }] })
      } else known.passages?.push({ ref, score })
    }
    // Hits fall, and so do the memories in the order in which their first hit came; those of equal score are put in order.
    const falling = [...found.values()]
    const border = falling[limit - 1]
    if (hits.length < k || (border !== undefined && Math.max(0, hits.at(-1)!.score) < border.score)) return falling.sort(byOrder)
  }
}

/** The memories with an embedding that pass the filters. */
function * countEmbedded (bank: Bank, accept: Accept): Steps<number> {
  if (accept === undefined) return bank.embeddedCount
  let count = 0
  for (const entry of bank.ordered()) {
    if (entry.isVisible && accept(entry.memory) && entry.isEmbedded) count++
    yield
  }
  return count
}

/** @returns a function that gives a memory's best cosine; undefined for one without vectors */
function cosineWith (bank: Bank, query: Float32Array): (entry: Entry) => number | undefined {
  const scorer = bank.vectors?.scorer(query)
  return ({ passages }) => {
    if (scorer === undefined) return undefined
    const cosines = passages.flatMap(({ vector }) => vector === undefined ? [] : [scorer(vector)])
    return cosines.length === 0 ? undefined : Math.max(0, ...cosines)
  }
}

function toCandidate (bank: Bank, { entry, score, passages }: Found, scores: CandidateScores): Candidate {
  return {
    bank: bank.key,
    memory: entry.memory,
    score,
    scores,
    passageCount: entry.passages.length,
    passages: passages === undefined
      ? wholePassages(entry, score)
      : passages.sort((a, b) => b.score - a.score || a.ref.start - b.ref.start)
        .slice(0, MAX_PASSAGES)
        .map(({ ref, score }) => ({ start: ref.start, end: ref.end, score })),
  }
}

/** Those of a memory that has only one. */
function wholePassages ({ passages }: Entry, score: number): Candidate['passages'] {
  const { start, end } = passages[0]!
  return [{ start, end, score }]
}

function isBelow (match: Found, bar: Candidate | undefined): boolean {
  return bar !== undefined && match.score < bar.score
}

function byOrder (a: Found, b: Found): number {
  return b.score - a.score || compareText(a.entry.memory.memoryId, b.entry.memory.memoryId)
}

function byScore (a: Candidate, b: Candidate): number {
  return b.score - a.score || compareText(a.memory.memoryId, b.memory.memoryId)
}
