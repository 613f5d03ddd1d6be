import type { BankKey } from '../../access/context.js'
import { giveWay, isDue } from '../../base/event-loop.js'
import type { Mutable } from '../../base/members.js'
import { compileFilters } from '../filters.js'
import { TopK } from '../top-k.js'
import {
  byMemoryId, byScore, MAX_PASSAGES, memoryOf, partsOf, type Candidate, type CandidateScores, type SearchRequest,
  type SearchResult,
} from '../vector-store.js'
import { unitVector, type Accept, type Bank, type Entry } from './bank.js'
import type { LexicalIndex } from './lexical-index.js'

/** Number of vectors that are compared before a search looks at the time. */
const VECTORS_AT_ONCE = 64

interface Nearest {
  readonly entry: Entry
  /** Its place in the lexical index when the search began. */
  readonly head: number
  readonly score: number
}

interface BankResult {
  readonly lexical: Candidate[]
  readonly semantic: Candidate[]
  readonly total: number
}

/** The best candidates of banks. @param open returns a bank as it is now, if it has memories */
export async function searchBanks (
  request: SearchRequest, open: (key: BankKey) => Promise<Bank | undefined>,
): Promise<SearchResult> {
  const parts = partsOf(request.filters).map((part) => ({ part, accept: compileFilters(request.filters, part) }))
  const ofPast = parts.some(({ part }) => part === 'past')
  const all = { lexical: [] as Candidate[], semantic: [] as Candidate[], total: 0 }
  for (const key of request.banks) {
    if (isDue()) await giveWay()
    const bank = await open(key)
    if (bank === undefined) continue
    // All begin at once, so that they read the bank as it is at one moment.
    const searched = await Promise.all(parts.filter(({ part }) => part === 'current' || bank.hasPast).map(
      async ({ part, accept }) => {
        // The words of what is past count where it is searched too.
        const other = part === 'past' ? bank : ofPast && bank.hasPast ? bank.past : undefined
        return await searchBank(part === 'past' ? bank.past : bank, request, accept, other?.lexical)
      },
    ))
    for (const found of searched) {
      all.lexical = merge(all.lexical, found.lexical, request.limit)
      all.semantic = merge(all.semantic, found.semantic, request.limit)
      all.total += found.total
    }
  }
  const result: Mutable<SearchResult> = { total: all.total }
  if (request.lexical !== undefined) result.lexical = all.lexical
  if (request.semantic !== undefined) result.semantic = all.semantic
  return result
}

function merge (first: Candidate[], second: Candidate[], limit: number): Candidate[] {
  return first.length === 0 ? second : [...first, ...second].sort(byScore).slice(0, limit)
}

/** Searches the bank as it is at the call. */
async function searchBank (
  bank: Bank, { lexical, semantic, limit }: SearchRequest, accept: Accept, besides: LexicalIndex | undefined,
): Promise<BankResult> {
  // Memories that vectors may find as well are counted there.
  const counts = semantic === undefined ? undefined : ({ isEmbedded }: Entry) => !isEmbedded
  const byWords = lexical && bank.lexical.search(lexical, { limit, accept, counts, besides })
  // The elements of a plain array need no conversion for each product.
  const query = semantic && Array.from(unitVector(semantic.vector))
  const { nearest, embedded } = query === undefined
    ? { nearest: [], embedded: 0 }
    : await findNearest(bank, query, limit, accept)
  return {
    lexical: byWords?.best.map(({ entry, member, score, own }) => {
      const cosine = query && cosineOf(entry, query)
      const scores = cosine === undefined ? { lexical: score, own } : { lexical: score, own, semantic: cosine }
      return toCandidate(bank, entry, scores, score, () => {
        const passages = byWords.passagesOf(member)
        // Only the terms of its neighbours matched: its first passage is shown.
        return passages.length > 0 ? passages : [{ ordinal: 0, score }]
      })
    }) ?? [],
    semantic: nearest.map(({ entry, head, score }) => {
      const words = byWords?.scoresOf(head)
      const scores = words === undefined
        ? { semantic: score }
        : { lexical: words.score, own: words.own, semantic: score }
      return toCandidate(bank, entry, scores, score, () => entry.passages.flatMap(({ vector }, ordinal) => (
        vector === undefined ? [] : [{ ordinal, score: cosine(vector, query!) }]
      )))
    }),
    total: embedded + (byWords?.total ?? 0),
  }
}

/**
 * The memories nearest to the query, exactly: descending by cosine, ties by id; and the number of those with vectors
 * that pass the filters.
 */
async function findNearest (
  bank: Bank, query: readonly number[], limit: number, accept: Accept,
): Promise<{ nearest: Nearest[], embedded: number }> {
  bank.checkDimensions([query])
  // Snapshots, because the bank may change whenever the event loop is given back.
  const entries = bank.ordered.snapshot()
  const heads = new Int32Array(entries.length)
  for (let at = 0; at < heads.length; at++) heads[at] = entries[at]!.head
  const best = new TopK<Nearest>(limit, (a, b) => b.score - a.score || byMemoryId(a.entry, b.entry))
  let [embedded, lowest] = [0, 0]
  for (let at = 0; at < entries.length; at++) {
    if (at % VECTORS_AT_ONCE === 0 && isDue()) await giveWay()
    const entry = entries[at]!
    if (accept !== undefined && !accept(entry.memory)) continue
    const score = cosineOf(entry, query)
    if (score === undefined) continue
    embedded++
    if (score < lowest) continue
    best.offer({ entry, head: heads[at]!, score })
    lowest = best.threshold?.score ?? 0
  }
  return { nearest: best.sorted(), embedded }
}

/** The cosine of the passage nearest to the query; undefined for a memory without vectors. */
function cosineOf ({ passages }: Entry, query: readonly number[]): number | undefined {
  let best: number | undefined
  for (const { vector } of passages) {
    if (vector !== undefined) best = Math.max(best ?? 0, cosine(vector, query))
  }
  return best
}

/** The cosine of two vectors of length 1, with negative values as 0. */
function cosine (a: Float32Array, b: readonly number[]): number {
  // Four sums, because an addition need not wait for the one before it.
  let [first, second, third, fourth] = [0, 0, 0, 0]
  const whole = a.length - a.length % 4
  for (let i = 0; i < whole; i += 4) {
    first += a[i]! * b[i]!
    second += a[i + 1]! * b[i + 1]!
    third += a[i + 2]! * b[i + 2]!
    fourth += a[i + 3]! * b[i + 3]!
  }
  for (let i = whole; i < a.length; i++) first += a[i]! * b[i]!
  // Rounding may make the product of two vectors of length 1 exceed 1.
  return Math.min(1, Math.max(0, first + second + third + fourth))
}

function toCandidate (
  { key }: Bank, { memory, passages }: Entry, scores: CandidateScores, score: number,
  matched: () => ReadonlyArray<{ ordinal: number, score: number }>,
): Candidate {
  return {
    bank: key,
    memory: 'endedAt' in memory ? memoryOf(memory) : memory,
    score,
    scores,
    passageCount: passages.length,
    passages: passages.length === 1 ? [] : bestPassages(passages, matched()),
  }
}

function bestPassages (
  passages: Entry['passages'], matched: ReadonlyArray<{ ordinal: number, score: number }>,
): Candidate['passages'] {
  return [...matched].sort((a, b) => b.score - a.score || a.ordinal - b.ordinal)
    .slice(0, MAX_PASSAGES)
    .map(({ ordinal, score }) => ({ start: passages[ordinal]!.start, end: passages[ordinal]!.end, score }))
}
