import { LRUCache } from 'lru-cache'
import type { BankSections } from '../config/bank-sections.js'
import type { BankKey } from '../identity/context.js'
import { guarded } from '../retrieval/retriever.js'
import type { Candidate, SearchResult, VectorStore } from '../stores/vector-store.js'
import { isAtLeast, type Trust } from '../identity/trust.js'
import { turns } from '../concurrency/turn-budget.js'
import { EarlierItems, underId } from './earlier-items.js'
import { profileOf, similarity, type TextProfile } from './near-duplicates.js'
import { fingerprintOf, type PreparedMemory } from './preparation.js'

type Settings = BankSections['signal_quality']['dedup']

/** A memory to be stored. Items of one request may share it. */
export interface Slot {
  memory: PreparedMemory
  /** Whether it takes the place of one that stands under its id. */
  replaces: boolean
}

/** A memory that stands in the bank. */
export interface Standing {
  memoryId: string
  passageCount: number
  trust: Trust
}

export type Place = Slot | Standing

/** What becomes of one item. */
export interface Step {
  kind: 'stored' | 'updated' | 'left'
  /** Where its content is: what it became, or for `left` what it repeats. */
  place: Place
  /** Absent when it repeats nothing, or exactly. */
  near?: { place: Place, similarity: number }
}

export interface Plan {
  slots: Slot[]
  /** In the order of the items. */
  steps: Step[]
}

const CANDIDATES = 20
/** For the order of the candidates only. What neighbours say is no repeat. */
const BM25 = { k1: 0.9, length: { pivot: 25 }, context: false }
/** Searches under way at a time. More would hold more texts. */
const SEARCHES_AHEAD = 4
/** Characters of texts whose profiles are kept, at some four bytes a character. */
const PROFILED_CHARACTERS = 8_000_000

export function isSlot (place: Place): place is Slot {
  return 'replaces' in place
}

function trustOf (place: Place): Trust {
  return isSlot(place) ? place.memory.memory.trust : place.trust
}

/** Every item as it comes: what a bank without `dedup` does. */
export function planWithoutDedup (items: readonly PreparedMemory[]): Plan {
  const slots = items.map((memory): Slot => ({ memory, replaces: false }))
  return { slots, steps: slots.map((place) => ({ kind: 'stored', place })) }
}

/** Where the memories that stand are looked for. */
export interface SearchedBank {
  store: Pick<VectorStore, 'search'>
  key: BankKey
  now: number
}

/** An item's profile, and the memories of the bank that it may repeat. */
interface Compared {
  profile: TextProfile
  candidates: readonly Candidate[]
}

interface Near<P extends Place> {
  place: P
  similarity: number
}

/**
 * Compares each item with its nearest memories in the bank and with the nearest items before it, and decides what becomes of it. What is
 * trusted less neither keeps out nor replaces what is trusted more: the two then stand side by side, and of exact repeats the store keeps
 * the more trusted one.
 * @param caller as in TurnBudget.next; it is done in pieces of a turn
 * @throws ServiceError dependency_unavailable
 */
export async function planDedup (items: readonly PreparedMemory[], { action, threshold }: Settings, bank: SearchedBank, caller: string): Promise<Plan> {
  if (action === 'off') return planWithoutDedup(items)
  const standing = new StandingMemories(bank, caller)
  const earlier = new EarlierItems(threshold, caller)
  const replaced = new Set<string>()
  const decide = async (item: PreparedMemory, { profile, candidates: all }: Compared): Promise<Step> => {
    const candidates = all.filter(({ memory }) => !replaced.has(memory.memoryId))
    const { trust } = item.memory
    const repeated = earlier.repeatedBy(item) ?? await standing.repeatedBy(item, candidates)
    if (repeated !== undefined) {
      if (isSlot(repeated) || isAtLeast(repeated.trust, trust)) return { kind: 'left', place: repeated }
      replaced.add(repeated.memoryId)
      return { kind: 'stored', place: earlier.add(item, profile, false) }
    }
    const found = [...await standing.near(profile, candidates), ...await earlier.near(item, profile)]
      .filter(({ similarity }) => similarity >= threshold && similarity > 0)
      .sort((a, b) => b.similarity - a.similarity)
    const [nearest] = found
    if (nearest === undefined) return { kind: 'stored', place: earlier.add(item, profile, false) }
    if (action === 'warn') return { kind: 'stored', place: earlier.addNear(item, profile), near: nearest }
    const near = found.find(({ place }) => action === 'skip' ? isAtLeast(trustOf(place), trust) : isAtLeast(trust, trustOf(place)))
    if (near === undefined) return { kind: 'stored', place: earlier.add(item, profile, false), near: nearest }
    if (action === 'skip') return { kind: 'left', place: near.place, near }
    if (isSlot(near.place)) {
      earlier.change(near.place, item, profile)
      return { kind: 'updated', place: near.place, near }
    }
    const { memoryId } = near.place
    replaced.add(memoryId)
    return { kind: 'updated', place: earlier.add(underId(item, memoryId), profile, true), near }
  }
  const steps: Step[] = []
  for await (const compared of ahead(items, SEARCHES_AHEAD, async (item) => await standing.search(item))) {
    if (turns.isSpent) await turns.next(caller)
    steps.push(await decide(items[steps.length]!, compared))
  }
  return { slots: earlier.slots, steps }
}

/** Results in order, of which a few are worked on before they are asked for. */
async function * ahead<T, R> (items: readonly T[], count: number, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const begun: Array<Promise<R>> = []
  for (let next = 0; next < items.length || begun.length > 0;) {
    while (next < items.length && begun.length < count) {
      const result = work(items[next++]!)
      // Whoever asks gets the error; that nobody comes to ask is no fault of its own.
      result.catch(() => {})
      begun.push(result)
    }
    yield await begun.shift()!
  }
}

/** The memories of the bank that items are compared with. */
class StandingMemories {
  readonly #bank: SearchedBank
  readonly #caller: string
  readonly #profiles = new LRUCache<string, { profile: TextProfile, characters: number }>({
    maxSize: PROFILED_CHARACTERS,
    sizeCalculation: ({ characters }) => characters + 1,
  })

  constructor (bank: SearchedBank, caller: string) {
    this.#bank = bank
    this.#caller = caller
  }

  async search ({ memory }: PreparedMemory): Promise<Compared> {
    const { store, key, now } = this.#bank
    if (turns.isSpent) await turns.next(this.#caller)
    const { profile, longest: terms } = await profileOf(memory.text, this.#caller)
    if (terms.length === 0) return { profile, candidates: [] }
    const { lexical = [] }: Partial<SearchResult> = await guarded(async () => (
      await store.search({ banks: [key], now, filters: {}, lexical: { terms, ...BM25 }, limit: CANDIDATES })
    ))
    // What stands in another document is told in another connection, so it is no repeat.
    return { profile, candidates: lexical.filter((candidate) => candidate.memory.documentId === memory.documentId) }
  }

  async repeatedBy ({ fingerprint }: PreparedMemory, candidates: readonly Candidate[]): Promise<Standing | undefined> {
    for (const candidate of candidates) {
      if (turns.isSpent) await turns.next(this.#caller)
      if (fingerprintOf(candidate.memory) === fingerprint) return standingOf(candidate)
    }
    return undefined
  }

  async near (profile: TextProfile, candidates: readonly Candidate[]): Promise<Array<Near<Standing>>> {
    const found: Array<Near<Standing>> = []
    for (const candidate of candidates) {
      const other = await this.#profileOf(candidate)
      if (turns.isSpent) await turns.next(this.#caller)
      found.push({ place: standingOf(candidate), similarity: similarity(profile, other) })
    }
    return found
  }

  async #profileOf ({ memory: { memoryId, text } }: Candidate): Promise<TextProfile> {
    const known = this.#profiles.get(memoryId)
    if (known !== undefined) return known.profile
    const { profile } = await profileOf(text, this.#caller)
    this.#profiles.set(memoryId, { profile, characters: text.length })
    return profile
  }
}

function standingOf ({ memory, passageCount }: Candidate): Standing {
  return { memoryId: memory.memoryId, passageCount, trust: memory.trust }
}
