import type { BankSections } from '../config/defaults.js'
import type { BankKey } from '../identity/context.js'
import { guarded } from '../retrieval/retriever.js'
import type { Candidate, SearchResult, VectorStore } from '../stores/vector-store.js'
import { isAtLeast, type Trust } from '../trust.js'
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
/** Near-duplicates among the items of a request that later ones are compared with. */
const MAX_NEAR = 20
/** Of a long text the longest, which are the rarest most often; a near-duplicate shares nearly all. */
const MAX_TERMS = 64
/** Of rounding, so that similarity() has the last word. */
const MARGIN = 1e-6
const SEARCHES_AT_A_TIME = 4
/** For the order of the candidates only. */
const BM25 = { k1: 0.9, b: 0.3 }

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

/**
 * Compares each item with its nearest memories in the bank and with the items before it, and decides what becomes of it. What is trusted
 * less neither keeps out nor replaces what is trusted more: the two then stand side by side, and of exact repeats the store keeps the
 * more trusted one.
 * @throws ServiceError dependency_unavailable
 */
export async function planDedup (items: readonly PreparedMemory[], { action, threshold }: Settings, store: Pick<VectorStore, 'search'>, bank: BankKey, now: number): Promise<Plan> {
  if (action === 'off') return planWithoutDedup(items)
  const profiles = items.map(({ memory }) => profileOf(memory.text))
  const candidates = await searchAll(profiles, store, bank, now)
  const earlier = new EarlierItems(threshold)
  const replaced = new Set<string>()
  const standingProfiles = new Map<string, TextProfile>()
  const steps = items.map((item, index): Step => {
    const profile = profiles[index]!
    const standing = candidates[index]!.filter(({ memory }) => !replaced.has(memory.memoryId))
    const { trust } = item.memory
    const repeated = earlier.repeatedBy(item) ?? standingRepeatedBy(item, standing)
    if (repeated !== undefined) {
      if (isSlot(repeated) || isAtLeast(repeated.trust, trust)) return { kind: 'left', place: repeated }
      replaced.add(repeated.memoryId)
      return { kind: 'stored', place: earlier.add(item, profile, false) }
    }
    const found = [...nearStanding(item, profile, standing, standingProfiles), ...earlier.like(item, profile)]
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
  })
  return { slots: earlier.slots, steps }
}

/** The items of a request that are to be stored, with an index of their terms: a thousand are not compared each with each. */
class EarlierItems {
  readonly slots: Slot[] = []
  readonly #profiles = new Map<Slot, TextProfile>()
  readonly #byTerm = new Map<string, Map<Slot, number>>()
  readonly #byFingerprint = new Map<string, Slot>()
  readonly #threshold: number
  #near = 0

  constructor (threshold: number) {
    this.#threshold = threshold
  }

  add (memory: PreparedMemory, profile: TextProfile, replaces: boolean): Slot {
    const slot = { memory, replaces }
    this.slots.push(slot)
    this.#index(slot, profile)
    return slot
  }

  /** A near-duplicate that is stored all the same. Only some are compared with what comes: a thousand that are alike would be a million pairs. */
  addNear (memory: PreparedMemory, profile: TextProfile): Slot {
    if (this.#near++ < MAX_NEAR) return this.add(memory, profile, false)
    const slot = { memory, replaces: false }
    this.slots.push(slot)
    this.#byFingerprint.set(memory.fingerprint, slot)
    return slot
  }

  change (slot: Slot, memory: PreparedMemory, profile: TextProfile): void {
    for (const term of this.#profiles.get(slot)!.counts.keys()) this.#byTerm.get(term)!.delete(slot)
    this.#byFingerprint.delete(slot.memory.fingerprint)
    slot.memory = underId(memory, slot.memory.memory.memoryId)
    this.#index(slot, profile)
  }

  repeatedBy ({ fingerprint }: PreparedMemory): Slot | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  * like ({ memory: { documentId } }: PreparedMemory, profile: TextProfile): Iterable<{ place: Slot, similarity: number }> {
    // Most share only common words: the products first, and a closer look at those that can reach the threshold.
    const products = new Map<Slot, number>()
    for (const [term, count] of profile.counts) {
      for (const [slot, other] of this.#byTerm.get(term) ?? []) products.set(slot, (products.get(slot) ?? 0) + count * other)
    }
    for (const [slot, product] of products) {
      const other = this.#profiles.get(slot)!
      const near = product >= (this.#threshold - MARGIN) * profile.norm * other.norm
      if (near && slot.memory.memory.documentId === documentId) yield { place: slot, similarity: similarity(profile, other) }
    }
  }

  #index (slot: Slot, profile: TextProfile): void {
    this.#profiles.set(slot, profile)
    this.#byFingerprint.set(slot.memory.fingerprint, slot)
    for (const [term, count] of profile.counts) {
      const slots = this.#byTerm.get(term) ?? new Map<Slot, number>()
      this.#byTerm.set(term, slots.set(slot, count))
    }
  }
}

async function searchAll (profiles: readonly TextProfile[], store: Pick<VectorStore, 'search'>, bank: BankKey, now: number): Promise<Candidate[][]> {
  const found: Candidate[][] = []
  const left = profiles.entries()
  const work = async () => {
    for (const [index, { counts }] of left) {
      const terms = [...counts.keys()].sort((a, b) => b.length - a.length).slice(0, MAX_TERMS)
      const { lexical = [] }: Partial<SearchResult> = terms.length === 0 ? {} : await guarded(async () => await store.search({ banks: [bank], now, filters: {}, lexical: { terms, ...BM25 }, limit: CANDIDATES }))
      found[index] = lexical
    }
  }
  await Promise.all(Array.from({ length: Math.min(SEARCHES_AT_A_TIME, profiles.length) }, work))
  return found
}

function standingRepeatedBy (item: PreparedMemory, candidates: readonly Candidate[]): Standing | undefined {
  const repeated = candidates.find(({ memory }) => memory.documentId === item.memory.documentId && fingerprintOf(memory) === item.fingerprint)
  return repeated === undefined ? undefined : standingOf(repeated)
}

/** What stands in another document is told in another connection, so it is no repeat. */
function nearStanding (item: PreparedMemory, profile: TextProfile, candidates: readonly Candidate[], known: Map<string, TextProfile>): Array<{ place: Standing, similarity: number }> {
  return candidates.filter(({ memory }) => memory.documentId === item.memory.documentId).map((candidate) => {
    const { memoryId, text } = candidate.memory
    const other = known.get(memoryId) ?? profileOf(text)
    known.set(memoryId, other)
    return { place: standingOf(candidate), similarity: similarity(profile, other) }
  })
}

function standingOf ({ memory, passageCount }: Candidate): Standing {
  return { memoryId: memory.memoryId, passageCount, trust: memory.trust }
}

function underId (prepared: PreparedMemory, memoryId: string): PreparedMemory {
  return { ...prepared, memory: { ...prepared.memory, memoryId } }
}
