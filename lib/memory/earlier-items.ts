import { turns } from '../concurrency/turn-budget.js'
import { similarity, type TextProfile } from './near-duplicates.js'
import type { PreparedMemory } from './preparation.js'

/** A memory to be stored. Items of one request may share it. */
export interface Slot {
  memory: PreparedMemory
  /** Whether it takes the place of one that stands under its id. */
  replaces: boolean
}

/** Near-duplicates among the items of a request that later ones are compared with. */
const MAX_NEAR = 20
/** Items before one that it is compared with word for word: the nearest by their terms. */
const MAX_COMPARED = 20
/** Of rounding, so that similarity() has the last word. */
const MARGIN = 1e-6
/** Slots of the sketch of a text. Terms that fall into the same one make it look nearer, never farther. */
const SKETCH = 65_536

interface Known {
  slot: Slot
  profile: TextProfile
  /** Where each of the profile's terms falls in a sketch. */
  places: Uint16Array
}

/**
 * The items of a request that are to be stored. Only those can be near-duplicates that have the same numbers and negations in the same
 * document; of these an item is compared with the nearest by its terms: a thousand are not compared each with each word for word.
 */
export class EarlierItems {
  readonly slots: Slot[] = []
  readonly #threshold: number
  readonly #caller: string
  readonly #groups = new Map<string, Set<Known>>()
  readonly #bySlot = new Map<Slot, Known>()
  readonly #byFingerprint = new Map<string, Slot>()
  readonly #sketch = new Uint32Array(SKETCH)
  #near = 0

  /** @param caller as in TurnBudget.next */
  constructor (threshold: number, caller: string) {
    this.#threshold = threshold
    this.#caller = caller
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
    const known = this.#bySlot.get(slot)!
    this.#groups.get(groupOf(slot.memory, known.profile))!.delete(known)
    this.#byFingerprint.delete(slot.memory.fingerprint)
    slot.memory = underId(memory, slot.memory.memory.memoryId)
    this.#index(slot, profile)
  }

  repeatedBy ({ fingerprint }: PreparedMemory): Slot | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  /** Those that may reach the threshold. */
  async near (item: PreparedMemory, profile: TextProfile): Promise<Array<{ place: Slot, similarity: number }>> {
    const nearest = await this.#nearest(this.#groups.get(groupOf(item, profile)) ?? [], profile)
    const found: Array<{ place: Slot, similarity: number }> = []
    for (const { slot, profile: other } of nearest) {
      if (turns.isSpent) await turns.next(this.#caller)
      found.push({ place: slot, similarity: similarity(profile, other) })
    }
    return found
  }

  async #nearest (group: Iterable<Known>, { terms, counts, norm }: TextProfile): Promise<Known[]> {
    const found: Array<{ known: Known, cosine: number }> = []
    const sketch = this.#sketch
    terms.forEach((term, index) => { sketch[term % SKETCH]! += counts[index]! })
    for (const known of group) {
      if (turns.isSpent) await turns.next(this.#caller)
      const cosine = productOf(sketch, known) / (norm * known.profile.norm)
      if (cosine >= this.#threshold - MARGIN) found.push({ known, cosine })
    }
    for (const term of terms) sketch[term % SKETCH] = 0
    return found.sort((a, b) => b.cosine - a.cosine).slice(0, MAX_COMPARED).map(({ known }) => known)
  }

  #index (slot: Slot, profile: TextProfile): void {
    const known = { slot, profile, places: Uint16Array.from(profile.terms, (term) => term % SKETCH) }
    const group = groupOf(slot.memory, profile)
    this.#bySlot.set(slot, known)
    this.#byFingerprint.set(slot.memory.fingerprint, slot)
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(known))
  }
}

function groupOf ({ memory: { documentId } }: PreparedMemory, { marks }: TextProfile): string {
  return JSON.stringify([documentId, marks])
}

/** At least the product of two texts' term counts. */
function productOf (sketch: Uint32Array, { places, profile: { counts } }: Known): number {
  let product = 0
  for (let index = 0; index < places.length; index++) product += sketch[places[index]!]! * counts[index]!
  return product
}

/** The same memory under another id. */
export function underId (prepared: PreparedMemory, memoryId: string): PreparedMemory {
  return { ...prepared, memory: { ...prepared.memory, memoryId } }
}
