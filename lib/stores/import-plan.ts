import { isAtLeast, type Trust } from '../trust.js'
import { Outranked, type ImportOutcome, type NewMemory, type OnConflict } from './vector-store.js'

/** A memory that stands in the bank, as far as an import can conflict with it. */
export interface Standing {
  memoryId: string
  fingerprint: string
  trust: Trust
}

export interface ImportPlan<S extends Standing> {
  /** No two of them, nor of them and what is left standing, share an id or a fingerprint. */
  added: NewMemory[]
  removed: Set<S>
  outcome: ImportOutcome
}

/** What an import does, memory by memory, as if each had come alone. A conflict is an equal id or an equal fingerprint. */
export class ImportPlanner<S extends Standing> {
  readonly #onConflict: OnConflict
  readonly #outcome: ImportOutcome = { imported: 0, skipped: 0, overwritten: 0 }
  readonly #added = new Set<NewMemory>()
  readonly #removed = new Set<S>()
  readonly #byId = new Map<string, S | NewMemory>()
  readonly #byFingerprint = new Map<string, S | NewMemory>()

  constructor (onConflict: OnConflict) {
    this.#onConflict = onConflict
  }

  /** Tells of a memory that stands. Comes before the memories that can conflict with it. */
  stands (each: S): void {
    this.#byId.set(each.memoryId, each)
    this.#byFingerprint.set(each.fingerprint, each)
  }

  /** @throws Outranked with `supersede` */
  add (memory: NewMemory): void {
    const conflicts = new Set([this.#byId.get(memory.memoryId), this.#byFingerprint.get(memory.fingerprint)].filter((each) => each !== undefined))
    if (conflicts.size > 0 && this.#onConflict === 'skip') {
      this.#outcome.skipped++
      return
    }
    for (const each of conflicts) {
      if (this.#onConflict === 'supersede' && !isAtLeast(memory.trust, each.trust)) throw new Outranked()
      this.#byId.delete(each.memoryId)
      this.#byFingerprint.delete(each.fingerprint)
      if (this.#isAdded(each)) this.#added.delete(each)
      else this.#removed.add(each)
    }
    this.#added.add(memory)
    this.#byId.set(memory.memoryId, memory)
    this.#byFingerprint.set(memory.fingerprint, memory)
    if (conflicts.size > 0) this.#outcome.overwritten++
    else this.#outcome.imported++
  }

  get plan (): ImportPlan<S> {
    return { added: [...this.#added], removed: this.#removed, outcome: this.#outcome }
  }

  #isAdded (each: S | NewMemory): each is NewMemory {
    return this.#added.has(each as NewMemory)
  }
}

/**
 * The plan of an import in one go.
 * @param standing all that the memories can conflict with
 * @throws Outranked with `supersede`
 */
export function planImport<S extends Standing> (memories: readonly NewMemory[], standing: readonly S[], onConflict: OnConflict): ImportPlan<S> {
  const planner = new ImportPlanner<S>(onConflict)
  for (const each of standing) planner.stands(each)
  for (const memory of memories) planner.add(memory)
  return planner.plan
}
