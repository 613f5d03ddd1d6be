import { isAssistants, poolSize, WINDOW_REACH } from '../context.js'
import {
  HAS_DOCUMENT, IS_ASSISTANT, IS_QUESTION, lexicalScores, Members, NONE, PASSES, QueryWeights, WINDOW_PLACES,
} from '../lexical-scores.js'
import { bestOf } from '../top-k.js'
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
  best: ReadonlyArray<{ entry: Entry, memory: Entry['memory'], member: number, score: number, own: number }>
  total: number
  /** The best passages of a member; empty when only the terms of its neighbours matched. */
  passagesOf (member: number): Array<{ ordinal: number, score: number }>
  /**
   * The scores of any memory of the bank, by the `head` that it had when the search was made; the index may have
   * changed since.
   */
  scoresOf (head: number): { score: number, own: number }
}

/** Arrays of zeros, as long as the longest index that was searched. No two searches use them at the same time. */
let scratch = { shares: new Float64Array(0), numbers: new Int32Array(0) }

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
  /** Of the memory, without PASSES. */
  #flags: number[] = []
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
    const flags = (entry.memory.documentId === null ? 0 : HAS_DOCUMENT) | (entry.endsAsQuestion ? IS_QUESTION : 0) |
      (isAssistants(entry.memory) ? IS_ASSISTANT : 0)
    for (const [ordinal, { terms, length }] of passages.entries()) {
      this.#entries.push(entry)
      this.#heads.push(head)
      this.#flags.push(flags)
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
    // The scores of a search by meaning, too, are asked for when others may have been made.
    const { shares, numbers } = counts === undefined ? zeros(this.#entries.length) : newZeros(this.#entries.length)
    const { matched, heads } = this.#ownScores(lists, query, shares)
    const accepted = accept === undefined ? heads : heads.filter((head) => accept(this.#entries[head]!.memory))
    const pool = this.#poolOf(accept === undefined ? [heads] : [heads, accepted], shares, poolSize(limit))

    // The first passages of the members.
    const memberHeads: number[] = []
    const members = new Members(lists.length, pool.length)
    const toMember = (entry: Entry) => {
      const { head } = entry
      const known = numbers[head]!
      if (known > 0) return known - 1
      const passes = accept === undefined || accept(entry.memory) ? PASSES : 0
      // Most entries are far apart in memory, so their passages are not read without need.
      const last = this.#isSplit ? head + entry.passages.length : head + 1
      const number = memberHeads.push(head)
      for (let passage = head; passage < last; passage++) numbers[passage] = number
      return members.add(this.#flags[head]! | passes, this.#meanLengthOf(head, last))
    }
    const pooled = pool.map((head) => toMember(this.#entries[head]!))
    const windows = new Int32Array(request.context ? pool.length * WINDOW_PLACES : 0)
    for (let at = 0; at < windows.length; at += WINDOW_PLACES) {
      const middle = this.#entries[pool[at / WINDOW_PLACES]!]!
      // Without a document only memories matter that have a term of the query or may follow a matching question, unless
      // the scores of all are asked for.
      const needsAll = counts !== undefined || (this.#flags[middle.head]! & HAS_DOCUMENT) !== 0
      let [before, entry]: Array<Entry | undefined> = [undefined, middle.before?.before]
      for (let place = 0; place < WINDOW_PLACES; place++) {
        if (place === WINDOW_REACH - 1) entry = middle.before
        else if (place === WINDOW_REACH) entry = middle
        else if (place > WINDOW_REACH) entry = before?.after
        const matters = entry !== undefined && (needsAll || before === undefined || shares[entry.head]! > 0 ||
          (before.endsAsQuestion && shares[before.head]! > 0))
        windows[at + place] = matters ? toMember(entry!) : NONE
        before = entry
      }
    }
    addMatches(lists, numbers, memberHeads, members, this.#lengths)
    const entries = memberHeads.map((head) => this.#entries[head]!)
    const scores = lexicalScores(
      query, request, members, pooled, windows, limit, (a, b) => byMemoryId(entries[a]!, entries[b]!),
    )

    let total = counts === undefined ? accepted.length + scores.byContext.length : 0
    if (counts === undefined) {
      for (const number of matched) shares[number] = 0
      for (const head of heads) shares[head] = 0
      for (const { head, passages } of entries) numbers.fill(0, head, head + passages.length)
    } else {
      for (const head of accepted) if (counts(this.#entries[head]!)) total++
      for (const member of scores.byContext) if (counts(entries[member]!)) total++
    }
    return {
      best: scores.best.map(({ member, score, own }) => (
        { entry: entries[member]!, memory: entries[member]!.memory, member, score, own }
      )),
      total,
      passagesOf: (member) => scores.passagesOf(member),
      scoresOf: (head) => {
        const number = numbers[head]!
        const own = shares[head]!
        return number > 0 ? scores.scoresOf(number - 1) : { score: own, own }
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

  #meanLengthOf (from: number, to: number): number {
    let sum = 0
    for (let number = from; number < to; number++) sum += this.#lengths[number]!
    return sum / (to - from)
  }

  /**
   * Sets the own scores of memories, by the numbers of their first passages.
   * @returns these numbers, and those of all passages that have terms of the query
   */
  #ownScores (
    lists: readonly Postings[], query: QueryWeights, shares: Float64Array,
  ): { matched: number[], heads: number[] } {
    const matched: number[] = []
    for (const [at, list] of lists.entries()) addScores(list, query.gains[at]!, query, this.#lengths, shares, matched)
    for (const number of matched) shares[number] = query.toShare(shares[number]!)
    if (!this.#isSplit) return { matched, heads: matched }
    const heads = new Set<number>()
    for (const number of matched) {
      const head = this.#heads[number]!
      heads.add(head)
      if (number !== head) shares[head] = Math.max(shares[head]!, shares[number]!)
    }
    return { matched, heads: [...heads] }
  }

  /** The best memories of each list. */
  #poolOf (lists: ReadonlyArray<readonly number[]>, shares: Float64Array, size: number): readonly number[] {
    const entries = this.#entries
    const compareIds = this.#isInOrder
      ? (a: number, b: number) => a - b
      : (a: number, b: number) => byMemoryId(entries[a]!, entries[b]!)
    const pools = lists.map((heads) => bestOf(heads, shares, size, compareIds))
    return pools.length === 1 ? pools[0]! : [...new Set(pools.flat())]
  }

  #compact (): void {
    const numbers = new Int32Array(this.#entries.length).fill(-1)
    const [entries, heads, flags, lengths] = [this.#entries, this.#heads, this.#flags, this.#lengths]
    this.#entries = []
    this.#heads = []
    this.#flags = []
    this.#lengths = []
    for (const [number, entry] of entries.entries()) {
      if (entry === undefined) continue
      numbers[number] = this.#entries.push(entry) - 1
      const head = numbers[heads[number]!]!
      entry.head = head
      this.#heads.push(head)
      this.#flags.push(flags[number]!)
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

/** Gives the members the terms of the query that their passages have. */
function addMatches (
  lists: readonly Postings[], numbers: Int32Array, memberHeads: readonly number[], members: Members,
  lengths: readonly number[],
): void {
  for (const [term, list] of lists.entries()) {
    for (let at = 0; at < list.length; at += 2) {
      const passage = list[at]!
      const number = numbers[passage]!
      if (number === 0) continue
      members.addMatch(number - 1, passage - memberHeads[number - 1]!, lengths[passage]!, term, list[at + 1]!)
    }
  }
}

function newZeros (length: number): typeof scratch {
  return { shares: new Float64Array(length), numbers: new Int32Array(length) }
}

/** The reused arrays, at least of this length, which the caller leaves as it found them. */
function zeros (length: number): typeof scratch {
  if (scratch.shares.length < length) scratch = newZeros(length + (length >> 1))
  return scratch
}
