import { endsAsQuestion, isAssistants, poolSize, WINDOW_REACH } from '../context.js'
import {
  type BankStatistics, HAS_DOCUMENT, IS_ASSISTANT, IS_QUESTION, lexicalScores, Members, NONE, PASSES, QueryWeights,
  WINDOW_PLACES,
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
  /** The other part of the bank, whose words count too. */
  besides?: LexicalIndex | undefined
}

interface LexicalMatches {
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

/** What a search notes by the number of a passage, as long as the longest index that was searched. */
interface Scratch {
  /** Zeros. */
  shares: Float64Array
  /** Zeros. */
  numbers: Int32Array
  matched: Int32Array
}

/** Reused: no two searches use it at the same time. */
let scratch = newScratch(0)

/** By the number of a passage. */
interface Columns {
  /** The number of the first passage of the same memory. */
  readonly heads: Int32Array
  /** Of the memory, without PASSES. */
  readonly flags: Uint8Array
  readonly lengths: Float32Array
  /** Of the first passage of a memory: the first passages of the memories beside it in its sequence, or NONE. */
  readonly before: Int32Array
  readonly after: Int32Array
}

/**
 * An inverted index of the passages of a bank, and the lexical search of it (lib/stores/context.ts). The passages of a
 * memory have consecutive numbers from `Entry.head`. Removal leaves them in the postings, where searches skip them,
 * until the index is compacted.
 */
export class LexicalIndex {
  #postings = new Map<string, Postings>()
  /** By the number of a passage; undefined where it was removed. */
  #entries: Array<Entry | undefined> = []
  #columns = newColumns(0)
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
  add (entry: Entry, passages: ReadonlyArray<Pick<Passage, 'terms' | 'length' | 'question'>>): void {
    const head = entry.head = this.#entries.length
    this.#isSplit ||= passages.length > 1
    this.#isInOrder &&= entry.memory.memoryId > this.#lastId
    this.#lastId = entry.memory.memoryId
    const flags = (entry.memory.documentId === null ? 0 : HAS_DOCUMENT) | (endsAsQuestion(passages) ? IS_QUESTION : 0) |
      (isAssistants(entry.memory) ? IS_ASSISTANT : 0)
    for (const [ordinal, { terms, length }] of passages.entries()) {
      this.#append(entry, head, flags, length)
      this.#totalLength += Math.fround(length)
      for (const [term, value] of terms) {
        const count = Math.fround(value)
        if (count > 0 && count < Infinity) this.#addPosting(term, head + ordinal, count)
      }
    }
  }

  #append (entry: Entry, head: number, flags: number, length: number): number {
    const number = this.#entries.push(entry) - 1
    if (number >= this.#columns.heads.length) {
      const grown = newColumns(2 * number + 1)
      grown.heads.set(this.#columns.heads)
      grown.flags.set(this.#columns.flags)
      grown.lengths.set(this.#columns.lengths)
      grown.before.set(this.#columns.before)
      grown.after.set(this.#columns.after)
      this.#columns = grown
    }
    const { heads, flags: allFlags, lengths, before, after } = this.#columns
    heads[number] = head
    allFlags[number] = flags
    lengths[number] = length
    before[number] = after[number] = NONE
    return number
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

  /** Notes that two memories are adjacent in their sequence. */
  chain (first: Entry | undefined, second: Entry | undefined): void {
    this.#chain(first?.head ?? NONE, second?.head ?? NONE)
  }

  #chain (first: number, second: number): void {
    if (first !== NONE) this.#columns.after[first] = second
    if (second !== NONE) this.#columns.before[second] = first
  }

  /** Entries that are not in the index are ignored. */
  remove (entries: readonly Entry[]): void {
    const { before, after, lengths } = this.#columns
    for (const entry of entries) {
      const { head, passages } = entry
      if (this.#entries[head] !== entry) continue
      this.#chain(before[head]!, after[head]!)
      for (let number = head; number < head + passages.length; number++) {
        this.#entries[number] = undefined
        this.#totalLength -= lengths[number]!
      }
      this.#removed += passages.length
    }
    if (this.#removed > this.#entries.length * REMOVED_SHARE) this.#compact()
  }

  search (request: LexicalRequest, { limit, accept, counts, besides }: SearchOptions): LexicalMatches {
    const lists = this.#listsOf(request.terms)
    const query = new QueryWeights(this.#statisticsOf(lists, request, besides), request)
    // The scores of a search by meaning, too, are asked for when others may have been made.
    const used = counts === undefined ? zeros(this.#entries.length) : newScratch(this.#entries.length)
    const { shares, numbers } = used
    const { matched, heads } = this.#ownScores(lists, query, used)
    const accepted = accept === undefined ? heads : heads.filter((head) => accept(this.#entries[head]!.memory))
    const pool = this.#poolOf(accept === undefined ? [heads] : [heads, accepted], shares, poolSize(limit))

    // The first passages of the members.
    const memberHeads: number[] = []
    const members = new Members(lists.length, pool.length)
    const toMember = (head: number) => {
      const known = numbers[head]!
      if (known > 0) return known - 1
      const passes = accept === undefined || accept(this.#entries[head]!.memory) ? PASSES : 0
      const end = this.#endOf(head)
      const number = memberHeads.push(head)
      numbers.fill(number, head, end)
      return members.add(this.#columns.flags[head]! | passes, this.#meanLengthOf(head, end))
    }
    const pooled = pool.map(toMember)
    const windows = request.context ? this.#windowsOf(pool, shares, counts !== undefined, toMember) : new Int32Array(0)
    addMatches(lists, numbers, memberHeads, members, this.#columns.lengths)
    const entryOf = (member: number) => this.#entries[memberHeads[member]!]!
    const compareIds = this.#isInOrder
      ? (a: number, b: number) => memberHeads[a]! - memberHeads[b]!
      : (a: number, b: number) => byMemoryId(entryOf(a), entryOf(b))
    const scores = lexicalScores(query, request, members, pooled, windows, limit, compareIds)

    let total = counts === undefined ? accepted.length + scores.byContext.length : 0
    if (counts !== undefined) {
      for (const head of accepted) if (counts(this.#entries[head]!)) total++
      for (const member of scores.byContext) if (counts(entryOf(member))) total++
    }
    const best = scores.best.map(({ member, score, own }) => {
      const entry = entryOf(member)
      return { entry, memory: entry.memory, member, score, own }
    })
    if (counts === undefined) {
      for (const number of matched) shares[number] = shares[this.#columns.heads[number]!] = 0
      for (const head of memberHeads) numbers.fill(0, head, this.#endOf(head))
    }
    return {
      best,
      total,
      passagesOf: (member) => scores.passagesOf(member),
      scoresOf: (head) => {
        const number = numbers[head]!
        const own = shares[head]!
        return number > 0 ? scores.scoresOf(number - 1) : { score: own, own }
      },
    }
  }

  /**
   * The members at the places of the windows of the pool.
   * @param isAllNeeded whether the scores of all memories are asked for
   */
  #windowsOf (
    pool: readonly number[], shares: Float64Array, isAllNeeded: boolean, toMember: (head: number) => number,
  ): Int32Array {
    const { flags, before, after } = this.#columns
    const windows = new Int32Array(pool.length * WINDOW_PLACES)
    for (const [at, middle] of pool.entries()) {
      // Without a document only memories matter that have a term of the query or may follow a matching question.
      const needsAll = isAllNeeded || (flags[middle]! & HAS_DOCUMENT) !== 0
      const first = before[middle]!
      let previous = NONE
      let head = first === NONE ? NONE : before[first]!
      for (let place = 0; place < WINDOW_PLACES; place++) {
        if (place === WINDOW_REACH - 1) head = first
        else if (place === WINDOW_REACH) head = middle
        else if (place > WINDOW_REACH) head = previous === NONE ? NONE : after[previous]!
        const matters = head !== NONE && (needsAll || previous === NONE || shares[head]! > 0 ||
          ((flags[previous]! & IS_QUESTION) !== 0 && shares[previous]! > 0))
        windows[at * WINDOW_PLACES + place] = matters ? toMember(head) : NONE
        previous = head
      }
    }
    return windows
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

  #statisticsOf (
    lists: readonly Postings[], { terms }: LexicalRequest, besides: LexicalIndex | undefined,
  ): BankStatistics {
    const passages = this.size + (besides?.size ?? 0)
    const length = this.#totalLength + (besides === undefined ? 0 : besides.#totalLength)
    const others = besides === undefined ? undefined : besides.#listsOf(terms)
    return {
      passages,
      meanLength: passages === 0 ? 0 : length / passages,
      frequencies: lists.map((list, at) => count(list) + (others === undefined ? 0 : count(others[at]!))),
    }
  }

  /** The number after the last passage of a memory. */
  #endOf (head: number): number {
    // Most entries are far apart in memory, so their passages are not read without need.
    return this.#isSplit ? head + this.#entries[head]!.passages.length : head + 1
  }

  #meanLengthOf (from: number, to: number): number {
    let sum = 0
    for (let number = from; number < to; number++) sum += this.#columns.lengths[number]!
    return sum / (to - from)
  }

  /**
   * Sets the own scores of memories, by the numbers of their first passages.
   * @returns these numbers, and those of all passages that have terms of the query
   */
  #ownScores (
    lists: readonly Postings[], query: QueryWeights, used: Scratch,
  ): { matched: Int32Array, heads: Int32Array } {
    const { shares, numbers } = used
    const { heads: headOf, lengths } = this.#columns
    let length = 0
    for (const [at, list] of lists.entries()) length = addScores(list, query.gains[at]!, query, lengths, used, length)
    const matched = used.matched.subarray(0, length)
    for (const number of matched) shares[number] = query.toShare(shares[number]!)
    if (!this.#isSplit) return { matched, heads: matched }
    const heads: number[] = []
    for (const number of matched) {
      const head = headOf[number]!
      if (numbers[head] === 0) numbers[head] = heads.push(head)
      shares[head] = Math.max(shares[head]!, shares[number]!)
    }
    for (const head of heads) numbers[head] = 0
    return { matched, heads: Int32Array.from(heads) }
  }

  /** The best memories of each list. */
  #poolOf (lists: readonly Int32Array[], shares: Float64Array, size: number): number[] {
    const entries = this.#entries
    const compareIds = this.#isInOrder
      ? (a: number, b: number) => a - b
      : (a: number, b: number) => byMemoryId(entries[a]!, entries[b]!)
    const pools = lists.map((heads) => bestOf(heads, shares, size, compareIds))
    return pools.length === 1 ? pools[0]! : [...new Set(pools.flat())]
  }

  #compact (): void {
    const numbers = new Int32Array(this.#entries.length).fill(NONE)
    const [entries, old] = [this.#entries, this.#columns]
    this.#columns = newColumns(this.size)
    this.#entries = []
    this.#removed = 0
    for (const [number, entry] of entries.entries()) {
      if (entry === undefined) continue
      if (entry.head === number) entry.head = this.#entries.length
      numbers[number] = this.#append(entry, entry.head, old.flags[number]!, old.lengths[number]!)
    }
    for (const [number, entry] of entries.entries()) {
      const after = old.after[number]!
      if (entry !== undefined && after !== NONE) this.#chain(numbers[number]!, numbers[after]!)
    }
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
        if (number !== NONE) kept.push(number, list[at + 1]!)
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

/** @returns the number of matched passages. A function of its own, so that V8 optimizes it for all searches. */
function addScores (
  list: Postings, gain: number, query: QueryWeights, lengths: Float32Array, { shares, matched }: Scratch,
  matchedBefore: number,
): number {
  const { k1 } = query
  let length = matchedBefore
  for (let at = 0; at < list.length; at += 2) {
    const number = list[at]!
    const count = list[at + 1]!
    const sum = shares[number]!
    if (sum === 0) matched[length++] = number
    shares[number] = sum + gain * count / (count + k1 * query.normOf(lengths[number]!))
  }
  return length
}

/** Gives the members the terms of the query that their passages have. */
function addMatches (
  lists: readonly Postings[], numbers: Int32Array, memberHeads: readonly number[], members: Members,
  lengths: Float32Array,
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

function newColumns (length: number): Columns {
  return {
    heads: new Int32Array(length),
    flags: new Uint8Array(length),
    lengths: new Float32Array(length),
    before: new Int32Array(length),
    after: new Int32Array(length),
  }
}

function newScratch (length: number): Scratch {
  return { shares: new Float64Array(length), numbers: new Int32Array(length), matched: new Int32Array(length) }
}

/** The reused arrays, at least of this length, which the caller leaves as it found them. */
function zeros (length: number): Scratch {
  if (scratch.shares.length < length) scratch = newScratch(length + (length >> 1))
  return scratch
}
