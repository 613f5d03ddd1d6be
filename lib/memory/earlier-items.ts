import { giveWay, isDue } from '../concurrency/event-loop.js'
import { similarity, type TextProfile } from './near-duplicates.js'
import type { PreparedMemory } from './preparation.js'
import type { NearDuplicate, PlannedMemory } from './retain-plan.js'

/** Maximum number of near-duplicates of a request that later items are compared with. */
const MAX_COMPARED_DUPLICATES = 20
/** Maximum number of earlier items that an item is compared with word for word: the nearest by their terms. */
const MAX_COMPARED = 20
/** A margin for rounding errors, so that similarity() makes the final decision. */
const ROUNDING_MARGIN = 1e-6
/** Columns of the sketch of a text. Terms that share a column can only make texts seem more similar, never less. */
const SKETCH_COLUMNS = 65_536

interface ComparableItem {
  planned: PlannedMemory
  profile: TextProfile
  /** The column of the sketch for each of the profile's terms. */
  columns: Uint16Array
}

/**
 * The items of a request that are to be stored. Near-duplicates have the same numbers and negations and the same
 * document; among those, an item is compared only with the nearest by their terms, so that a thousand items do not need
 * a million comparisons.
 */
export class EarlierItems {
  readonly memories: PlannedMemory[] = []
  readonly #threshold: number
  readonly #groups = new Map<string, Set<ComparableItem>>()
  readonly #known = new Map<PlannedMemory, ComparableItem>()
  readonly #byFingerprint = new Map<string, PlannedMemory>()
  readonly #sketch = new Uint32Array(SKETCH_COLUMNS)
  #nearDuplicateCount = 0

  constructor (threshold: number) {
    this.#threshold = threshold
  }

  add (memory: PreparedMemory, profile: TextProfile, replaces?: string): PlannedMemory {
    const planned = this.#plan(memory, replaces)
    this.#index(planned, profile)
    return planned
  }

  /**
   * Adds a near-duplicate that is stored anyway. Only the first few are compared with later items: a thousand similar
   * items would make a million pairs.
   */
  addNearDuplicate (memory: PreparedMemory, profile: TextProfile): PlannedMemory {
    if (this.#nearDuplicateCount++ < MAX_COMPARED_DUPLICATES) return this.add(memory, profile)
    const planned = this.#plan(memory, undefined)
    this.#byFingerprint.set(memory.fingerprint, planned)
    return planned
  }

  /** Replaces a planned memory by another, keeping its id. */
  replace (planned: PlannedMemory, memory: PreparedMemory, profile: TextProfile): void {
    const known = this.#known.get(planned)!
    this.#groups.get(groupOf(planned.memory, known.profile))!.delete(known)
    this.#byFingerprint.delete(planned.memory.fingerprint)
    planned.memory = withId(memory, planned.memory.memory.memoryId)
    this.#index(planned, profile)
  }

  exactRepeatOf ({ fingerprint }: PreparedMemory): PlannedMemory | undefined {
    return this.#byFingerprint.get(fingerprint)
  }

  /** The earlier items that may reach the threshold. */
  async nearDuplicatesOf (item: PreparedMemory, profile: TextProfile): Promise<Array<NearDuplicate<PlannedMemory>>> {
    const nearest = await this.#nearest(this.#groups.get(groupOf(item, profile)) ?? [], profile)
    const found: Array<NearDuplicate<PlannedMemory>> = []
    for (const { planned, profile: other } of nearest) {
      if (isDue()) await giveWay()
      found.push({ target: planned, similarity: similarity(profile, other) })
    }
    return found
  }

  #plan (memory: PreparedMemory, replaces: string | undefined): PlannedMemory {
    const planned = { index: this.memories.length, memory, replaces }
    this.memories.push(planned)
    return planned
  }

  async #nearest (group: Iterable<ComparableItem>, { terms, counts, norm }: TextProfile): Promise<ComparableItem[]> {
    const found: Array<{ known: ComparableItem, cosine: number }> = []
    const sketch = this.#sketch
    terms.forEach((term, index) => { sketch[term % SKETCH_COLUMNS]! += counts[index]! })
    for (const known of group) {
      if (isDue()) await giveWay()
      const cosine = maxDotProduct(sketch, known) / (norm * known.profile.norm)
      if (cosine >= this.#threshold - ROUNDING_MARGIN) found.push({ known, cosine })
    }
    for (const term of terms) sketch[term % SKETCH_COLUMNS] = 0
    return found.sort((a, b) => b.cosine - a.cosine).slice(0, MAX_COMPARED).map(({ known }) => known)
  }

  #index (planned: PlannedMemory, profile: TextProfile): void {
    const known = { planned, profile, columns: Uint16Array.from(profile.terms, (term) => term % SKETCH_COLUMNS) }
    const group = groupOf(planned.memory, profile)
    this.#known.set(planned, known)
    this.#byFingerprint.set(planned.memory.fingerprint, planned)
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(known))
  }
}

function groupOf ({ memory: { documentId } }: PreparedMemory, { numbersAndNegations }: TextProfile): string {
  return JSON.stringify([documentId, numbersAndNegations])
}

/** An upper bound of the dot product of two texts' term counts. */
function maxDotProduct (sketch: Uint32Array, { columns, profile: { counts } }: ComparableItem): number {
  let product = 0
  for (let index = 0; index < columns.length; index++) product += sketch[columns[index]!]! * counts[index]!
  return product
}

/** The same memory under another id. */
export function withId (prepared: PreparedMemory, memoryId: string): PreparedMemory {
  return { ...prepared, memory: { ...prepared.memory, memoryId } }
}
