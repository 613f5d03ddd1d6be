import { compareText } from '../../text/compare-text.js'
import type { Candidate, CandidateScores, Memory, SearchRequest, SearchResult } from '../vector-store.js'
import type { Bank } from './bank.js'
import { byMemoryId, isThere, type Accept, type Entry, type PassageRef } from './entry.js'
import type { Steps } from '../../concurrency/steps.js'
import { lexicalSearch, type LexicalResult, type LexicalMatch } from './lexical-search.js'
import { TopK } from './top-k.js'

/** Passages that a candidate names at most. */
const MAX_PASSAGES = 3

interface Found {
  entry: Entry
  score: number
  /** Matched passages; undefined for a memory that has only one. */
  passages: Array<{ ref: PassageRef, score: number }> | undefined
}

/** The best of all banks that were searched so far. */
export class SearchCollector {
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
    const { lexical, semantic, limit, now } = this.#request
    const byMeaning = semantic === undefined ? [] : yield * semanticMatches(bank, semantic.vector, limit, accept)
    const isLive = now < bank.entries.nextExpiry ? undefined : (memory: Memory) => isThere(memory, now)
    const wanted = byMeaning.slice(0, limit).map(({ entry }) => entry)
    const countsUnembedded = semantic !== undefined
    const byWords = lexical === undefined
      ? undefined
      : yield * lexicalSearch(bank, lexical, { limit, accept, isLive, wanted, countsUnembedded })
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

  #offerLexical (bank: Bank, found: readonly LexicalMatch[]): void {
    const { semantic } = this.#request
    const cosine = semantic === undefined || found.length === 0 ? undefined : cosineWith(bank, semantic.vector)
    for (const match of found) {
      if (isBelow(match, this.#lexical.bar)) return
      const semantic = cosine?.(match.entry)
      const { score, own } = match
      const scores = { lexical: score, own, ...(semantic !== undefined && { semantic }) }
      this.#lexical.offer(toCandidate(bank, match, own > 0 ? own : score, scores))
    }
  }

  #offerSemantic (bank: Bank, found: readonly Found[], byWords: LexicalResult | undefined): void {
    for (const match of found) {
      if (isBelow(match, this.#semantic.bar)) return
      const { score = 0, own = 0 } = byWords?.wanted.get(match.entry) ?? {}
      const scores = { ...(byWords !== undefined && { lexical: score, own }), semantic: match.score }
      this.#semantic.offer(toCandidate(bank, match, match.score, scores))
    }
  }
}

/**
 * The memories of the bank nearest to the query that pass the filters, `limit` at least when there are so many; exact,
 * and falling.
 */
function * semanticMatches (bank: Bank, vector: Float32Array, limit: number, accept: Accept): Steps<Found[]> {
  const { vectors } = bank
  if (vectors === undefined) return []
  const acceptRef = ({ entry }: PassageRef) => entry.isVisible && (accept === undefined || accept(entry.memory))
  if (bank.isUnsplit) {
    const first = new TopK(limit, byOrder)
    yield * vectors.scan(vector, limit, (ref, cosine) => {
      const score = Math.min(1, Math.max(0, cosine))
      if (score >= (first.bar?.score ?? 0) && acceptRef(ref)) {
        first.offer({ entry: ref.entry, score, passages: undefined })
      }
      // All that is below 0 is as good as 0.
      return first.bar === undefined || first.bar.score === 0 ? -Infinity : first.bar.score
    })
    return first.sorted()
  }
  // Several passages of one memory may be among the nearest, and equal scores may lie on both sides of the border, so
  // ask for more until enough memories are there and the last passage is farther away than the last memory that counts.
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
    // Hits fall, and so do the memories in the order in which their first hit came; those of equal score are put in
    // order.
    const falling = [...found.values()]
    const border = falling[limit - 1]
    if (hits.length < k || (border !== undefined && Math.max(0, hits.at(-1)!.score) < border.score)) {
      return falling.sort(byOrder)
    }
  }
}

/** The memories with an embedding that pass the filters. */
function * countEmbedded (bank: Bank, accept: Accept): Steps<number> {
  if (accept === undefined) return bank.embeddedCount
  let count = 0
  for (const entry of bank.entries.ordered()) {
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

/** @param alone the score of the passage, when the memory has only one */
function toCandidate (
  bank: Bank, { entry, score, passages }: Found, alone: number, scores: CandidateScores,
): Candidate {
  return {
    bank: bank.key,
    memory: entry.memory,
    score,
    scores,
    passageCount: entry.passages.length,
    passages: passages === undefined
      ? wholePassages(entry, alone)
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

function isBelow (match: Pick<Found, 'score'>, bar: Candidate | undefined): boolean {
  return bar !== undefined && match.score < bar.score
}

function byOrder (a: Found, b: Found): number {
  return b.score - a.score || byMemoryId(a.entry, b.entry)
}

function byScore (a: Candidate, b: Candidate): number {
  return b.score - a.score || compareText(a.memory.memoryId, b.memory.memoryId)
}
