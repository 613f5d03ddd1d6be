import { isAtLeast, type Trust } from '../identity/trust.js'
import type { Steps } from '../concurrency/steps.js'
import { SplitMap } from './split-map.js'
import { LowerTrustError, type ImportOutcome, type NewMemory, type OnConflict } from './vector-store.js'

/** A memory that stands in the bank, as far as an import can conflict with it. */
export interface ExistingMemory {
  memoryId: string
  fingerprint: string
  trust: Trust
}

export interface ImportPlan<S> {
  /** No two of them, nor of them and what is left standing, share an id or a fingerprint. */
  added: NewMemory[]
  removed: S[]
  outcome: ImportOutcome
}

/** What stands in the bank, by what an import can conflict with. */
export interface ExistingMemories<S> {
  byId (memoryId: string): S | undefined
  byFingerprint (fingerprint: string): S | undefined
}

/**
 * What an import does, memory by memory, as if each had come alone. A conflict is an equal id or an equal fingerprint.
 * @param existing all that the memories can conflict with, as the store has it
 * @param toExisting what of it an import looks at
 * @throws LowerTrustError with `supersede`
 */
export function * importSteps<S extends object> (
  memories: readonly NewMemory[], existing: ExistingMemories<S>, toExisting: (each: S) => ExistingMemory,
  onConflict: OnConflict,
): Steps<ImportPlan<S>> {
  const outcome: ImportOutcome = { imported: 0, skipped: 0, overwritten: 0 }
  // A place is undefined when another memory of the call has replaced the one that was there. In the maps null stands
  // for a memory that is displaced.
  const added: Array<NewMemory | undefined> = []
  const removed: S[] = []
  const placeById = new SplitMap<number | null>()
  const placeByFingerprint = new SplitMap<number | null>()
  for (const memory of memories) {
    const byId = placeById.get(memory.memoryId)
    const byFingerprint = placeByFingerprint.get(memory.fingerprint)
    const places = new Set([byId, byFingerprint].filter((place) => typeof place === 'number'))
    const met = new Set([
      byId === undefined ? existing.byId(memory.memoryId) : undefined,
      byFingerprint === undefined ? existing.byFingerprint(memory.fingerprint) : undefined,
    ].filter((each) => each !== undefined))
    const conflicts = places.size + met.size > 0
    if (conflicts && onConflict === 'skip') {
      outcome.skipped++
      yield
      continue
    }
    const displace = (each: ExistingMemory) => {
      if (onConflict === 'supersede' && !isAtLeast(memory.trust, each.trust)) throw new LowerTrustError()
      placeById.set(each.memoryId, null)
      placeByFingerprint.set(each.fingerprint, null)
    }
    for (const place of places) {
      displace(added[place]!)
      added[place] = undefined
    }
    for (const each of met) {
      displace(toExisting(each))
      removed.push(each)
    }
    placeById.set(memory.memoryId, added.length)
    placeByFingerprint.set(memory.fingerprint, added.length)
    added.push(memory)
    if (conflicts) outcome.overwritten++
    else outcome.imported++
    yield
  }
  return { added: added.filter((memory) => memory !== undefined), removed, outcome }
}
