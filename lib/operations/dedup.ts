import { randomInt } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { BankKey } from '../access/context.js'
import { isAtLeast, type Trust } from '../access/trust.js'
import { giveWay, isDue } from '../base/event-loop.js'
import type { BankSettings } from '../config/schema.js'
import type { Candidate, Filters, SearchResult, StoredMemory, VectorStore } from '../stores/vector-store.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem, words } from '../text/words.js'
import { fingerprintOf, type PreparedMemory } from './preparation.js'

const CANDIDATES = 20
/** BM25 only orders the candidates. Words of neighbours in the document do not make a repeat, so context is off. */
const BM25 = { k1: 0.9, length: { pivot: 25 }, context: false }
/** Concurrent searches, limited because each holds texts in memory. */
const MAX_CONCURRENT_SEARCHES = 4
/** Maximum number of characters of texts whose profiles are cached, at about four bytes a character. */
const MAX_CACHED_CHARACTERS = 4_000_000

/** A memory to be written. Several items of one request may share it. */
interface PlannedMemory {
  /** Its index in the plan. */
  readonly index: number
  memory: PreparedMemory
  /** The fingerprint of the memory of the bank that it replaces and whose id it keeps, if it replaces one. */
  readonly replaces: string | undefined
}

/** The memory that holds an item's content: one of the plan, or one in the bank. */
export type ItemTarget = PlannedMemory | StoredMemory

export interface NearDuplicate<T extends ItemTarget = ItemTarget> {
  target: T
  similarity: number
}

/** The decision about one item. */
export interface ItemDecision {
  kind: 'stored' | 'updated' | 'skipped'
  /** The memory that the item becomes or, for `skipped`, the one that it repeats. */
  target: ItemTarget
  /** Absent when the item is new or an exact repeat. */
  near?: NearDuplicate | undefined
}

export interface RetainPlan {
  memories: readonly PlannedMemory[]
  /** In the order of the items. */
  items: ItemDecision[]
}

export function isPlanned (target: ItemTarget): target is PlannedMemory {
  return 'replaces' in target
}

/** The plan of a bank without `dedup`: every item is written. */
export function planWithoutDedup (items: readonly PreparedMemory[]): RetainPlan {
  const memories = items.map((memory, index): PlannedMemory => ({ index, memory, replaces: undefined }))
  return { memories, items: memories.map((target) => ({ kind: 'stored', target })) }
}

function trustOf (target: ItemTarget): Trust {
  return isPlanned(target) ? target.memory.memory.trust : target.trust
}

/** The bank whose memories the items are compared with. */
interface SearchedBank {
  store: Pick<VectorStore, 'search' | 'findRepeated'>
  key: BankKey
  now: number
}

/** An item's profile, and the memories of the bank that it may repeat. */
interface Compared {
  profile: TextProfile
  candidates: readonly Candidate[]
}

/**
 * Compares each item with the nearest memories of the bank and the nearest earlier items, and decides what happens to
 * it. A memory of lower trust neither excludes nor replaces one of higher trust: both are then in the bank, and of
 * exact repeats the store keeps the one of higher trust.
 * @param action any but `off`, which has `planWithoutDedup`
 * @throws ServiceError dependency_unavailable
 */
export async function planDedup (
  items: readonly PreparedMemory[], { action, threshold }: BankSettings['signal_quality']['dedup'], bank: SearchedBank,
): Promise<RetainPlan> {
  const stored = new StoredMemories(bank)
  const earlier = new EarlierItems(threshold)
  /** By the id of a memory of the bank: the item that takes its place. */
  const replaced = new Map<string, PlannedMemory>()
  const decide = async (item: PreparedMemory, { profile, candidates: all }: Compared): Promise<ItemDecision> => {
    const standing = all.filter(({ memory: { memoryId } }) => !replaced.has(memoryId))
    const { trust } = item.memory
    // An item that says what it takes the place of is stored for that, and only such an item takes the place of one
    // with a key.
    const own = saysItsPlace(item) ? 'warn' : action
    const candidates = own === 'update' ? standing.filter(({ memory: { key } }) => key === null) : standing
    const decideRepeat = (repeated: ItemTarget): ItemDecision => {
      if (isPlanned(repeated) || isAtLeast(repeated.trust, trust)) return { kind: 'skipped', target: repeated }
      const target = earlier.add(item, profile)
      replaced.set(repeated.memoryId, target)
      return { kind: 'stored', target }
    }
    const repeated = earlier.exactRepeatOf(item) ?? stored.exactRepeatOf(item, standing)
    if (repeated !== undefined) return decideRepeat(repeated)
    const ofBank = await stored.nearDuplicatesOf(profile, candidates, threshold)
    const ofRequest = await earlier.nearDuplicatesOf(item, profile)
    const found = [...ofBank, ...ofRequest.filter(({ target }) => own !== 'update' || !saysItsPlace(target.memory))]
      .sort((a, b) => b.similarity - a.similarity)
    const [nearest] = found
    if (nearest === undefined) return { kind: 'stored', target: earlier.add(item, profile) }
    if (own === 'warn') return { kind: 'stored', target: earlier.addNearDuplicate(item, profile), near: nearest }
    const near = found.find(({ target }) => (
      own === 'skip' ? isAtLeast(trustOf(target), trust) : isAtLeast(trust, trustOf(target))
    ))
    if (near === undefined) return { kind: 'stored', target: earlier.add(item, profile), near: nearest }
    // Of many memories with the same words the search may not have returned the one that is repeated exactly. When the
    // item is stored in any case, the store recognises it.
    const missed = all.length < CANDIDATES ? undefined : await stored.findRepeated(item)
    if (missed !== undefined && !replaced.has(missed.memoryId)) return decideRepeat(missed)
    if (own === 'skip') return { kind: 'skipped', target: near.target, near }
    if (isPlanned(near.target)) {
      earlier.replace(near.target, item, profile)
      return { kind: 'updated', target: near.target, near }
    }
    const { memoryId } = near.target
    const { memory: compared } = candidates.find(({ memory }) => memory.memoryId === memoryId)!
    const target = earlier.add(withId(item, memoryId), profile, fingerprintOf(compared))
    replaced.set(memoryId, target)
    return { kind: 'updated', target, near }
  }
  const decisions: ItemDecision[] = []
  for await (const compared of prefetch(items, MAX_CONCURRENT_SEARCHES, async (item) => await stored.search(item))) {
    if (isDue()) await giveWay()
    decisions.push(await decide(items[decisions.length]!, compared))
  }
  return { memories: earlier.memories, items: replaced.size === 0 ? decisions : redirected(decisions, replaced) }
}

/** An item may repeat a memory that a later item replaces: it is then a repeat of that item. */
function redirected (decisions: readonly ItemDecision[], replaced: ReadonlyMap<string, PlannedMemory>): ItemDecision[] {
  const currentTarget = (target: ItemTarget) => isPlanned(target) ? target : replaced.get(target.memoryId) ?? target
  return decisions.map(({ kind, target, near }) => ({
    kind,
    target: currentTarget(target),
    near: near && { ...near, target: currentTarget(near.target) },
  }))
}

/** Yields the results in order and keeps `count` of them in progress ahead of the consumer. */
async function * prefetch<T, R> (items: readonly T[], count: number, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const pending: Array<Promise<R>> = []
  for (let next = 0; next < items.length || pending.length > 0;) {
    while (next < items.length && pending.length < count) {
      const result = work(items[next++]!)
      // The consumer gets the error when it awaits this result. It does not when an earlier result has failed.
      result.catch(() => {})
      pending.push(result)
    }
    yield await pending.shift()!
  }
}

/** The memories of the bank that items are compared with. */
class StoredMemories {
  readonly #bank: SearchedBank
  readonly #profiles = new LRUCache<string, { profile: TextProfile, characters: number }>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ characters }) => characters + 1,
  })

  constructor (bank: SearchedBank) {
    this.#bank = bank
  }

  async search ({ memory }: PreparedMemory): Promise<Compared> {
    if (isDue()) await giveWay()
    const { profile, longest: terms } = profileOf(memory.text)
    if (terms.length === 0) return { profile, candidates: [] }
    return { profile, candidates: await this.#candidates(memory.documentId, terms) }
  }

  /**
   * The nearest memories of the document: the same words in another have another context, so they are not a repeat. No
   * index lists the memories without a document, so that the store would look up every match; these are first searched
   * without a filter, which is enough unless the nearest memories include others.
   */
  async #candidates (documentId: string | null, terms: string[]): Promise<Candidate[]> {
    const { store, key, now } = this.#bank
    const find = async (filters: Filters): Promise<{ all: Candidate[], ofDocument: Candidate[] }> => {
      const { lexical: all = [] }: Partial<SearchResult> = await store.search({
        banks: [key],
        now,
        filters,
        lexical: { terms, ...BM25 },
        limit: CANDIDATES,
        current: true,
      })
      // What somebody says is never a repeat of a fact that was derived from it.
      return {
        all,
        ofDocument: all.filter(({ memory: { documentId: ofMemory, message, kind } }) => (
          ofMemory === documentId && message === null && kind === 'memory'
        )),
      }
    }
    const filters = { documentIds: [documentId] }
    const { all, ofDocument } = await find(documentId === null ? {} : filters)
    if (all.length < CANDIDATES || ofDocument.length === all.length) return ofDocument
    return (await find(filters)).ofDocument
  }

  exactRepeatOf ({ fingerprint }: PreparedMemory, candidates: readonly Candidate[]): StoredMemory | undefined {
    const found = candidates.find(({ memory }) => fingerprintOf(memory) === fingerprint)
    return found && toStoredMemory(found)
  }

  async findRepeated ({ fingerprint }: PreparedMemory): Promise<StoredMemory | undefined> {
    const { store, key, now } = this.#bank
    return await store.findRepeated?.(key, fingerprint, now)
  }

  async nearDuplicatesOf (
    profile: TextProfile, candidates: readonly Candidate[], threshold: number,
  ): Promise<Array<NearDuplicate<StoredMemory>>> {
    const found: Array<NearDuplicate<StoredMemory>> = []
    for (const candidate of candidates) {
      const other = this.#profileOf(candidate)
      if (isDue()) await giveWay()
      const reached = similarity(profile, other, threshold)
      if (reached > 0) found.push({ target: toStoredMemory(candidate), similarity: reached })
    }
    return found
  }

  #profileOf ({ memory: { memoryId, text } }: Candidate): TextProfile {
    const known = this.#profiles.get(memoryId)
    if (known !== undefined) return known.profile
    const { profile } = profileOf(text)
    this.#profiles.set(memoryId, { profile, characters: text.length })
    return profile
  }
}

function toStoredMemory ({ memory, passageCount }: Candidate): StoredMemory {
  return { memoryId: memory.memoryId, passageCount, trust: memory.trust }
}

/** Maximum number of near-duplicates of a request that later items are compared with. */
const MAX_COMPARED_DUPLICATES = 20

/**
 * The items of a request that are to be stored. Near-duplicates have the same numbers and negations and the same
 * document, so an item is compared only with those.
 */
class EarlierItems {
  readonly memories: PlannedMemory[] = []
  readonly #threshold: number
  readonly #groups = new Map<string, Map<PlannedMemory, TextProfile>>()
  readonly #byFingerprint = new Map<string, PlannedMemory>()
  #nearDuplicateCount = 0

  constructor (threshold: number) {
    this.#threshold = threshold
  }

  add (memory: PreparedMemory, profile: TextProfile, replaces?: string): PlannedMemory {
    const planned = this.#plan(memory, replaces)
    this.#groupOf(memory, profile).set(planned, profile)
    return planned
  }

  /**
   * Adds a near-duplicate that is stored anyway. Only the first few are compared with later items: a thousand similar
   * items would make a million pairs.
   */
  addNearDuplicate (memory: PreparedMemory, profile: TextProfile): PlannedMemory {
    return this.#nearDuplicateCount++ < MAX_COMPARED_DUPLICATES
      ? this.add(memory, profile)
      : this.#plan(memory, undefined)
  }

  /** Replaces a planned memory by another of the same group, keeping its id. */
  replace (planned: PlannedMemory, memory: PreparedMemory, profile: TextProfile): void {
    this.#byFingerprint.delete(planned.memory.fingerprint)
    planned.memory = withId(memory, planned.memory.memory.memoryId)
    this.#byFingerprint.set(memory.fingerprint, planned)
    const group = this.#groupOf(memory, profile)
    group.delete(planned)
    group.set(planned, profile)
  }

  exactRepeatOf ({ fingerprint }: PreparedMemory): PlannedMemory | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  /** The earlier items that reach the threshold. */
  async nearDuplicatesOf (item: PreparedMemory, profile: TextProfile): Promise<Array<NearDuplicate<PlannedMemory>>> {
    const found: Array<NearDuplicate<PlannedMemory>> = []
    for (const [target, other] of this.#groupOf(item, profile)) {
      if (isDue()) await giveWay()
      const reached = similarity(profile, other, this.#threshold)
      if (reached > 0) found.push({ target, similarity: reached })
    }
    return found
  }

  #plan (memory: PreparedMemory, replaces: string | undefined): PlannedMemory {
    const planned = { index: this.memories.length, memory, replaces }
    this.memories.push(planned)
    this.#byFingerprint.set(memory.fingerprint, planned)
    return planned
  }

  #groupOf (
    { memory: { documentId } }: PreparedMemory, { numbersAndNegations }: TextProfile,
  ): Map<PlannedMemory, TextProfile> {
    const name = JSON.stringify([documentId, numbersAndNegations])
    let group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, group = new Map())
    return group
  }
}

/** Whether it says, by a key or by ids, which memories it takes the place of. */
function saysItsPlace ({ memory: { key, supersedes } }: PreparedMemory): boolean {
  return key !== null || supersedes.length > 0
}

/** The same memory under another id. */
function withId (prepared: PreparedMemory, memoryId: string): PreparedMemory {
  return { ...prepared, memory: { ...prepared.memory, memoryId } }
}

/**
 * The data of a text for its comparison with others. Terms are hashes of 53 bits, because a request may have millions
 * of them.
 */
interface TextProfile {
  /** Distinct terms without stop words, ascending. */
  readonly terms: Float64Array
  /** The number of occurrences of each of `terms`. */
  readonly counts: Uint32Array
  /** The Euclidean norm of `counts`. */
  readonly norm: number
  /** The terms in the order of the text, with repeats, as indices of `terms`. */
  readonly sequence: Uint32Array
  /** Equal for texts with the same numbers and the same count of negations. */
  readonly numbersAndNegations: string
}

/** Maximum number of terms of the search for near-duplicates of a text. */
const MAX_TERMS = 64

const DIGIT = /\p{N}/u
const NUMBER_WORDS: ReadonlySet<string> = new Set([
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
    'eighteen nineteen',
  'twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half twice',
  'first second third fourth fifth sixth seventh eighth ninth tenth',
].flatMap((line) => line.split(' ')))
/** Folded like the output of `words`. */
export const NEGATIONS: ReadonlySet<string> = new Set([
  'no not nor never none nobody nothing nowhere neither without cannot aint',
  'dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt mustnt neednt',
].flatMap((line) => line.split(' ')))

/** Random seeds, so that nobody can prepare texts whose hashes collide. */
const SEEDS = [randomInt(2 ** 32), randomInt(2 ** 32)] as const

/**
 * @returns the profile, and the longest terms of the text, which usually are the rarest: a near-duplicate shares nearly
 * all of them
 */
export function profileOf (text: string): { profile: TextProfile, longest: string[] } {
  const counts = new Map<number, number>()
  const byLength: string[][] = []
  const sequence: number[] = []
  const numbers: string[] = []
  let negations = 0
  for (const word of words(text)) {
    if (DIGIT.test(word) || NUMBER_WORDS.has(word)) numbers.push(word)
    if (NEGATIONS.has(word)) negations++
    if (STOP_WORDS.has(word)) continue
    const term = stem(word)
    const hash = hashOf(term)
    sequence.push(hash)
    const count = counts.get(hash)
    counts.set(hash, (count ?? 0) + 1)
    if (count === undefined) (byLength[term.length] ??= []).push(term)
  }
  const terms = Float64Array.from(counts.keys()).sort()
  let squares = 0
  for (const count of counts.values()) squares += count * count
  const inOrder = Uint32Array.from(terms, (term) => counts.get(term)!)
  // From here on the map contains the index of each term.
  for (let place = 0; place < terms.length; place++) counts.set(terms[place]!, place)
  return {
    profile: {
      terms,
      counts: inOrder,
      norm: Math.sqrt(squares),
      sequence: Uint32Array.from(sequence, (term) => counts.get(term)!),
      numbersAndNegations: JSON.stringify([negations, numbers.sort()]),
    },
    longest: firstOf(byLength.reverse(), MAX_TERMS),
  }
}

function firstOf (lists: ReadonlyArray<readonly string[] | undefined>, limit: number): string[] {
  const found: string[] = []
  for (const list of lists) {
    if (found.length === limit) break
    if (list !== undefined) found.push(...list.slice(0, limit - found.length))
  }
  return found
}

/** Two multiplicative hashes similar to FNV-1a, combined into the 53 bits that a number represents exactly. */
function hashOf (term: string): number {
  let [low, high] = SEEDS
  for (let index = 0; index < term.length; index++) {
    const unit = term.charCodeAt(index)
    low = Math.imul(low ^ unit, 0x9e3779b1)
    high = Math.imul(high ^ unit, 0x85ebca77)
  }
  low ^= low >>> 15
  high ^= high >>> 13
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0)
}

/**
 * The similarity of two texts, 0–1: the cosine of their term counts. It is 0 below the threshold, when their numbers or
 * negations differ, and when the words that occur once in both are in a different order, because only the order
 * distinguishes subject and object.
 */
function similarity (a: TextProfile, b: TextProfile, threshold: number): number {
  if (a.numbersAndNegations !== b.numbersAndNegations || a.norm === 0 || b.norm === 0) return 0
  let product = 0
  for (let left = 0, right = 0; left < a.terms.length && right < b.terms.length;) {
    const difference = a.terms[left]! - b.terms[right]!
    if (difference === 0) product += a.counts[left]! * b.counts[right]!
    if (difference <= 0) left++
    if (difference >= 0) right++
  }
  // Rounded, because rounding errors would keep equal texts below a threshold of 1.
  const cosine = Math.round(Math.min(1, product / (a.norm * b.norm)) * 1e6) / 1e6
  return cosine >= threshold && inSameOrder(a, b) ? cosine : 0
}

function inSameOrder (a: TextProfile, b: TextProfile): boolean {
  const ofB = new Set(singleTerms(b))
  const common = singleTerms(a).filter((term) => ofB.has(term))
  const ofBoth = new Set(common)
  return singleTerms(b).filter((term) => ofBoth.has(term)).every((term, index) => term === common[index])
}

/** The terms that occur once, in the order of the text. */
function singleTerms ({ terms, counts, sequence }: TextProfile): number[] {
  return Array.from(sequence.filter((place) => counts[place] === 1), (place) => terms[place]!)
}
