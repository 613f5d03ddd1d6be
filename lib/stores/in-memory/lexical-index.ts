import { isAssistants, poolSize, WINDOW_REACH } from '../context.js'
import {
  addMatch, lexicalScores, QueryWeights, type MatchedPassage, type Member, type ScoredMember,
} from '../lexical-scores.js'
import { TopK } from '../top-k.js'
import { byMemoryId, type LexicalRequest, type Passage } from '../vector-store.js'
import type { Accept, Entry } from './bank.js'

/** Removed passages stay in the postings until they are more than this share of all. */
const REMOVED_SHARE = 0.2
/** V8 represents a substring of at least this length as a view, which keeps the original string in memory. */
const MIN_SLICED_CHARACTERS = 13
/** Postings of up to so many numbers are copied to grow: `push` would make room for 17 more. */
const MAX_COPIED = 8

/** The passages with a term: the number of each, followed by the count of the term in it. */
type Postings = number[]

const NO_POSTINGS: Postings = []

interface SearchOptions {
  limit: number
  /** Which memories are found. The neighbours of a memory add to its score whether or not they are accepted. */
  accept: Accept
  /** Of a search by meaning, too: which of the found memories `total` counts. Default: all */
  counts?: ((entry: Entry) => boolean) | undefined
}

export interface LexicalMatches {
  /** Best first. */
  best: ReadonlyArray<ScoredMember<{ entry: Entry }>>
  total: number
  /**
   * The scores of any memory of the bank, by the `head` that it had when the search was made; the index may have
   * changed since.
   */
  scoresOf (head: number): { score: number, own: number }
}

class EntryMember implements Member {
  readonly entry: Entry
  readonly memory: Entry['memory']
  readonly hasDocument: boolean
  readonly isQuestion: boolean
  readonly isAssistant: boolean
  readonly meanLength: number
  readonly passes: boolean
  readonly passages: MatchedPassage[] = []

  constructor (entry: Entry, meanLength: number, accept: Accept) {
    this.entry = entry
    this.memory = entry.memory
    this.hasDocument = entry.memory.documentId !== null
    this.isQuestion = entry.endsAsQuestion
    this.isAssistant = isAssistants(entry.memory)
    this.meanLength = meanLength
    this.passes = accept === undefined || accept(entry.memory)
  }
}

/**
 * An inverted index of the passages of a bank, and the lexical search of it (lib/stores/context.ts). The passages of a
 * memory have consecutive numbers from `Entry.head`. Removal leaves them in the postings, where searches skip them,
 * until the index is compacted.
 */
export class LexicalIndex {
  #postings = new Map<string, Postings>()
  // By the number of a passage; undefined where it was removed.
  #entries: Array<Entry | undefined> = []
  /** The number of the first passage of the same memory. */
  #heads: number[] = []
  #lengths: number[] = []
  #removed = 0
  #totalLength = 0
  #postingCount = 0
  /** Whether a memory may have several passages. */
  #isSplit = false
  /** Whether memories are numbered in the order of their ids, which then need not be compared. */
  #isInOrder = true
  #lastId = ''

  /** The size of the index, for an estimate of its bytes. */
  get extent (): { terms: number, postings: number, passages: number } {
    return { terms: this.#postings.size, postings: this.#postingCount, passages: this.#entries.length }
  }

  /** The number of passages. */
  get size (): number {
    return this.#entries.length - this.#removed
  }

  /** Lengths and counts are 32-bit floats, as in every store; terms whose count becomes 0 or infinite are left out. */
  add (entry: Entry, passages: ReadonlyArray<Pick<Passage, 'terms' | 'length'>>): void {
    const head = this.#entries.length
    entry.head = head
    this.#isSplit ||= passages.length > 1
    this.#isInOrder &&= entry.memory.memoryId > this.#lastId
    this.#lastId = entry.memory.memoryId
    for (const [ordinal, { terms, length }] of passages.entries()) {
      this.#entries.push(entry)
      this.#heads.push(head)
      this.#lengths.push(Math.fround(length))
      this.#totalLength += Math.fround(length)
      for (const [term, value] of terms) {
        const count = Math.fround(value)
        if (count > 0 && count < Infinity) this.#addPosting(term, head + ordinal, count)
      }
    }
  }

  #addPosting (term: string, number: number, count: number): void {
    this.#postingCount++
    const postings = this.#postings.get(term)
    if (postings === undefined) {
      // The term outlives the text that contains it, so a long one is copied.
      const own = term.length < MIN_SLICED_CHARACTERS ? term : Buffer.from(term, 'utf16le').toString('utf16le')
      this.#postings.set(own, [number, count])
    } else if (postings.length <= MAX_COPIED) this.#postings.set(term, [...postings, number, count])
    else postings.push(number, count)
  }

  /** Entries that are not in the index are ignored. */
  remove (entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { head, passages } = entry
      if (this.#entries[head] !== entry) continue
      for (let number = head; number < head + passages.length; number++) {
        this.#entries[number] = undefined
        this.#totalLength -= this.#lengths[number]!
      }
      this.#removed += passages.length
    }
    if (this.#removed > this.#entries.length * REMOVED_SHARE) this.#compact()
  }

  search (request: LexicalRequest, { limit, accept, counts }: SearchOptions): LexicalMatches {
    const lists = this.#listsOf(request.terms)
    const statistics = { passages: this.size, meanLength: this.#meanLength, frequencies: lists.map(count) }
    const query = new QueryWeights(statistics, request)
    const { shares, heads } = this.#ownScores(lists, query)
    const accepted = accept === undefined ? heads : heads.filter((head) => accept(this.#entries[head]!.memory))
    const pools = accept === undefined ? [heads] : [heads, accepted]
    const pool = [...new Set(pools.flatMap((from) => this.#best(from, shares, poolSize(limit))))]

    const members: EntryMember[] = []
    const memberNumbers = new Int32Array(this.#entries.length)
    const toMember = (entry: Entry | undefined) => {
      if (entry === undefined) return undefined
      const { head, passages: { length } } = entry
      const known = memberNumbers[head]!
      if (known > 0) return members[known - 1]!
      const member = new EntryMember(entry, this.#meanLengthOf(entry), accept)
      memberNumbers.fill(members.push(member), head, head + length)
      return member
    }
    // Without a document only memories matter that have a term of the query or may follow a matching question, unless
    // the scores of all are asked for.
    const toWindow = (entry: Entry) => {
      const window = windowOf(entry)
      const needsAll = counts !== undefined || entry.memory.documentId !== null
      return window.map((one, at) => {
        if (one === undefined) return undefined
        const before = window[at - 1]
        const matters = needsAll || shares[one.head]! > 0 || before === undefined ||
          (before.endsAsQuestion && shares[before.head]! > 0)
        return matters ? toMember(one) : undefined
      })
    }
    const windows = request.context ? pool.map(toWindow) : []
    const pooled = pool.map((entry) => toMember(entry)!)
    addPassages(lists, memberNumbers, members, this.#lengths)
    const scores = lexicalScores(query, request, pooled, windows, limit)

    const found = [...scores.byContext.map(({ entry }) => entry)]
    let total = counts === undefined ? accepted.length + found.length : 0
    if (counts !== undefined) {
      for (const head of accepted) if (counts(this.#entries[head]!)) total++
      for (const entry of found) if (counts(entry)) total++
    }
    return {
      best: scores.best,
      total,
      scoresOf: (head) => {
        const number = memberNumbers[head]!
        const own = shares[head]!
        return number > 0 ? scores.scoresOf(members[number - 1]!) : { score: own, own }
      },
    }
  }

  /** The postings of each term, without those of removed memories. */
  #listsOf (terms: readonly string[]): Postings[] {
    const lists = terms.map((term) => this.#postings.get(term) ?? NO_POSTINGS)
    if (this.#removed === 0) return lists
    return lists.map((list) => {
      const present: Postings = []
      for (let at = 0; at < list.length; at += 2) {
        if (this.#entries[list[at]!] !== undefined) present.push(list[at]!, list[at + 1]!)
      }
      return present
    })
  }

  get #meanLength (): number {
    return this.size === 0 ? 0 : this.#totalLength / this.size
  }

  #meanLengthOf ({ head, passages: { length } }: Entry): number {
    let sum = 0
    for (let number = head; number < head + length; number++) sum += this.#lengths[number]!
    return sum / length
  }

  /** The own scores of memories, by the numbers of their first passages, and these numbers. */
  #ownScores (lists: readonly Postings[], query: QueryWeights): { shares: Float64Array, heads: number[] } {
    const shares = new Float64Array(this.#entries.length)
    const matched: number[] = []
    for (const [at, list] of lists.entries()) addScores(list, query.gains[at]!, query, this.#lengths, shares, matched)
    for (const number of matched) shares[number] = query.toShare(shares[number]!)
    if (!this.#isSplit) return { shares, heads: matched }
    const heads = new Set<number>()
    for (const number of matched) {
      const head = this.#heads[number]!
      heads.add(head)
      if (number !== head) shares[head] = Math.max(shares[head]!, shares[number]!)
    }
    return { shares, heads: [...heads] }
  }

  /** The best memories: descending by score, ties by id. */
  #best (heads: readonly number[], shares: Float64Array, count: number): Entry[] {
    const entries = this.#entries
    const compareIds = this.#isInOrder
      ? (a: number, b: number) => a - b
      : (a: number, b: number) => byMemoryId(entries[a]!, entries[b]!)
    const best = new TopK<number>(count, (a, b) => shares[b]! - shares[a]! || compareIds(a, b))
    let lowest = Number.MIN_VALUE
    for (const head of heads) {
      if (shares[head]! < lowest) continue
      best.offer(head)
      if (best.threshold !== undefined) lowest = shares[best.threshold]!
    }
    return best.sorted().map((head) => entries[head]!)
  }

  #compact (): void {
    const numbers = new Int32Array(this.#entries.length).fill(-1)
    const [entries, heads, lengths] = [this.#entries, this.#heads, this.#lengths]
    this.#entries = []
    this.#heads = []
    this.#lengths = []
    for (const [number, entry] of entries.entries()) {
      if (entry === undefined) continue
      numbers[number] = this.#entries.push(entry) - 1
      const head = numbers[heads[number]!]!
      entry.head = head
      this.#heads.push(head)
      this.#lengths.push(lengths[number]!)
    }
    this.#removed = 0
    if (this.#entries.length === 0) {
      this.#totalLength = 0
      this.#isSplit = false
      this.#isInOrder = true
      this.#lastId = ''
    }
    this.#postingCount = 0
    for (const [term, list] of this.#postings) {
      const kept: Postings = []
      for (let at = 0; at < list.length; at += 2) {
        const number = numbers[list[at]!]!
        if (number >= 0) kept.push(number, list[at + 1]!)
      }
      this.#postingCount += count(kept)
      if (kept.length === 0) this.#postings.delete(term)
      else if (kept.length < list.length) this.#postings.set(term, kept.slice())
      else for (let at = 0; at < list.length; at += 2) list[at] = kept[at]!
    }
  }
}

function count (postings: Postings): number {
  return postings.length / 2
}

// A function of its own, so that V8 optimizes it for all searches.
function addScores (
  list: Postings, gain: number, query: QueryWeights, lengths: readonly number[], sums: Float64Array, matched: number[],
): void {
  const { k1 } = query
  for (let at = 0; at < list.length; at += 2) {
    const number = list[at]!
    const count = list[at + 1]!
    const sum = sums[number]!
    if (sum === 0) matched.push(number)
    sums[number] = sum + gain * count / (count + k1 * query.normOf(lengths[number]!))
  }
}

/** Gives the members their passages that have terms of the query. */
function addPassages (
  lists: readonly Postings[], memberNumbers: Int32Array, members: readonly EntryMember[], lengths: readonly number[],
): void {
  for (const [term, list] of lists.entries()) {
    for (let at = 0; at < list.length; at += 2) {
      const number = list[at]!
      const member = memberNumbers[number]!
      if (member === 0) continue
      const { entry, passages } = members[member - 1]!
      addMatch(passages, number - entry.head, lengths[number]!, term, list[at + 1]!)
    }
  }
}

/** A memory in the middle of its neighbours. */
function windowOf (entry: Entry): Array<Entry | undefined> {
  const window = new Array<Entry | undefined>(2 * WINDOW_REACH + 1).fill(undefined)
  window[WINDOW_REACH] = entry
  let [before, after]: Array<Entry | undefined> = [entry, entry]
  for (let places = 1; places <= WINDOW_REACH; places++) {
    before = before?.before
    after = after?.after
    window[WINDOW_REACH - places] = before
    window[WINDOW_REACH + places] = after
  }
  return window
}
