import { LRUCache } from 'lru-cache'
import type { BankKey } from '../identity/context.js'
import type { Candidate, Filters, SearchResult, StoredMemory, VectorStore } from '../stores/vector-store.js'
import { isAtLeast, type Trust } from '../identity/trust.js'
import { giveWay, isDue } from '../concurrency/event-loop.js'
import type { BankSettings } from './bank-settings.js'
import { EarlierItems, withId } from './earlier-items.js'
import { fingerprintOf } from './inspection.js'
import { profileOf, similarity, type TextProfile } from './near-duplicates.js'
import type { PreparedMemory } from './preparation.js'
import {
  isPlanned, type ItemDecision, type ItemTarget, type NearDuplicate, type PlannedMemory, type RetainPlan,
} from './retain-plan.js'

const CANDIDATES = 20
/** BM25 only orders the candidates. Words of neighbours in the document do not make a repeat, so context is off. */
const BM25 = { k1: 0.9, length: { pivot: 25 }, context: false }
/** Concurrent searches, limited because each holds texts in memory. */
const MAX_CONCURRENT_SEARCHES = 4
/** Maximum number of characters of texts whose profiles are cached, at about four bytes a character. */
const MAX_CACHED_CHARACTERS = 4_000_000

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
 * @param deduplication any action but `off`, which has `planWithoutDedup`
 * @throws ServiceError dependency_unavailable
 */
export async function planDedup (
  items: readonly PreparedMemory[], deduplication: BankSettings['deduplication'], bank: SearchedBank,
): Promise<RetainPlan> {
  const { action, threshold } = deduplication
  const stored = new StoredMemories(bank)
  const earlier = new EarlierItems(threshold)
  /** By the id of a memory of the bank: the item that takes its place. */
  const replaced = new Map<string, PlannedMemory>()
  const decide = async (item: PreparedMemory, { profile, candidates: all }: Compared): Promise<ItemDecision> => {
    const candidates = all.filter(({ memory }) => !replaced.has(memory.memoryId))
    const { trust } = item.memory
    const decideRepeat = (repeated: ItemTarget): ItemDecision => {
      if (isPlanned(repeated) || isAtLeast(repeated.trust, trust)) return { kind: 'skipped', target: repeated }
      const target = earlier.add(item, profile)
      replaced.set(repeated.memoryId, target)
      return { kind: 'stored', target }
    }
    const repeated = earlier.exactRepeatOf(item) ?? await stored.exactRepeatOf(item, candidates)
    if (repeated !== undefined) return decideRepeat(repeated)
    const ofBank = await stored.nearDuplicatesOf(profile, candidates)
    const ofRequest = await earlier.nearDuplicatesOf(item, profile)
    const found = [...ofBank, ...ofRequest]
      .filter(({ similarity }) => similarity >= threshold && similarity > 0)
      .sort((a, b) => b.similarity - a.similarity)
    const [nearest] = found
    if (nearest === undefined) return { kind: 'stored', target: earlier.add(item, profile) }
    if (action === 'warn') return { kind: 'stored', target: earlier.addNearDuplicate(item, profile), near: nearest }
    const near = found.find(({ target }) => (
      action === 'skip' ? isAtLeast(trustOf(target), trust) : isAtLeast(trust, trustOf(target))
    ))
    if (near === undefined) return { kind: 'stored', target: earlier.add(item, profile), near: nearest }
    // Of many memories with the same words the search may not have returned the one that is repeated exactly. When the
    // item is stored in any case, the store recognises it.
    const missed = all.length < CANDIDATES ? undefined : await stored.findRepeated(item)
    if (missed !== undefined && !replaced.has(missed.memoryId)) return decideRepeat(missed)
    if (action === 'skip') return { kind: 'skipped', target: near.target, near }
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
      })
      return { all, ofDocument: all.filter(({ memory }) => memory.documentId === documentId) }
    }
    const filters = { documentIds: [documentId] }
    const { all, ofDocument } = await find(documentId === null ? {} : filters)
    if (all.length < CANDIDATES || ofDocument.length === all.length) return ofDocument
    return (await find(filters)).ofDocument
  }

  async exactRepeatOf (
    { fingerprint }: PreparedMemory, candidates: readonly Candidate[],
  ): Promise<StoredMemory | undefined> {
    for (const candidate of candidates) {
      if (isDue()) await giveWay()
      if (fingerprintOf(candidate.memory) === fingerprint) return toStoredMemory(candidate)
    }
    return undefined
  }

  async findRepeated ({ fingerprint }: PreparedMemory): Promise<StoredMemory | undefined> {
    const { store, key, now } = this.#bank
    return await store.findRepeated?.(key, fingerprint, now)
  }

  async nearDuplicatesOf (
    profile: TextProfile, candidates: readonly Candidate[],
  ): Promise<Array<NearDuplicate<StoredMemory>>> {
    const found: Array<NearDuplicate<StoredMemory>> = []
    for (const candidate of candidates) {
      const other = await this.#profileOf(candidate)
      if (isDue()) await giveWay()
      found.push({ target: toStoredMemory(candidate), similarity: similarity(profile, other) })
    }
    return found
  }

  async #profileOf ({ memory: { memoryId, text } }: Candidate): Promise<TextProfile> {
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
