import { isAtLeast, type Trust } from '../access/trust.js'
import type { Mutable } from '../base/members.js'
import {
  LowerTrustError, MemoryChangedError, type ImportOutcome, type NewMemory, type OnConflict,
} from './vector-store.js'

/** A memory of the bank, with the properties that decide conflicts with an import. */
export interface ExistingMemory {
  memoryId: string
  fingerprint: string
  trust: Trust
  key: string | null
  version: number
  isCurrent: boolean
}

export interface ImportPlan<S> {
  /**
   * No two of these, nor one of these and a memory that stays in the bank, share an id or, while current, a fingerprint
   * or a key.
   */
  added: NewMemory[]
  /** What is removed to make place. Of those with `revises` in `added`, the version becomes an earlier one. */
  removed: S[]
  outcome: ImportOutcome
}

/** The memories of the bank, by the keys on which an import can conflict. */
interface ExistingMemories<S> {
  byId (memoryId: string): S | undefined
  /** Of current memories. */
  byFingerprint (fingerprint: string): S | undefined
  byKey (key: string): S | undefined
}

/**
 * Plans an import memory by memory, as if each were imported alone. A conflict is an equal id or, of two memories that
 * are current, an equal fingerprint or key.
 * @param existing all memories that those of the import can conflict with, in the store's own form
 * @param toExisting extracts the properties that decide conflicts
 * @throws LowerTrustError and MemoryChangedError with `revise`
 */
export function planImport<S extends object> (
  memories: readonly NewMemory[], existing: ExistingMemories<S>, toExisting: (each: S) => ExistingMemory,
  onConflict: OnConflict,
): ImportPlan<S> {
  const outcome: Mutable<ImportOutcome> = { imported: 0, skipped: 0, overwritten: 0 }
  // An element is undefined when a later memory of the same call replaced it. In the maps, null marks the key of a
  // replaced memory.
  const added: Array<NewMemory | undefined> = []
  const removed: S[] = []
  const [placeById, placeByFingerprint, placeByKey] = [0, 0, 0].map(() => new Map<string, number | null>()) as
    [Map<string, number | null>, Map<string, number | null>, Map<string, number | null>]
  for (const memory of memories) {
    let version: number | undefined
    if (onConflict === 'revise' && memory.revises !== undefined) {
      const replaced = existing.byId(memory.memoryId)
      const other = replaced && toExisting(replaced)
      if (other?.fingerprint !== memory.revises || !other.isCurrent) throw new MemoryChangedError()
      version = other.version + 1
    }
    const isCurrent = memory.state === 'current'
    const key = isCurrent ? memory.key : null
    const byId = placeById.get(memory.memoryId)
    const byFingerprint = isCurrent ? placeByFingerprint.get(memory.fingerprint) : null
    const byKey = key === null ? null : placeByKey.get(key)
    const places = new Set([byId, byFingerprint, byKey].filter((place) => typeof place === 'number'))
    const conflicting = new Set([
      byId === undefined ? existing.byId(memory.memoryId) : undefined,
      byFingerprint === undefined ? existing.byFingerprint(memory.fingerprint) : undefined,
      byKey === undefined ? existing.byKey(key!) : undefined,
    ].filter((each) => each !== undefined))
    const conflicts = places.size + conflicting.size > 0
    if (conflicts && onConflict === 'skip') {
      outcome.skipped++
      continue
    }
    const replace = (each: Pick<ExistingMemory, 'memoryId' | 'fingerprint' | 'trust' | 'key'>) => {
      if (onConflict === 'revise' && !isAtLeast(memory.trust, each.trust)) throw new LowerTrustError()
      placeById.set(each.memoryId, null)
      placeByFingerprint.set(each.fingerprint, null)
      if (each.key !== null) placeByKey.set(each.key, null)
    }
    for (const place of places) {
      replace(added[place]!)
      added[place] = undefined
    }
    for (const each of conflicting) {
      const other = toExisting(each)
      replace(other)
      if (onConflict === 'revise' && mustStay(other, memory)) throw new MemoryChangedError()
      removed.push(each)
    }
    placeById.set(memory.memoryId, added.length)
    if (isCurrent) placeByFingerprint.set(memory.fingerprint, added.length)
    if (key !== null) placeByKey.set(key, added.length)
    added.push(version === undefined ? memory : { ...memory, version })
    if (conflicts) outcome.overwritten++
    else outcome.imported++
  }
  return { added: added.filter((memory) => memory !== undefined), removed, outcome }
}

/** A memory replaces its own repeat only if this is of lower trust, and only instead of another memory. */
function mustStay (other: ExistingMemory, memory: NewMemory): boolean {
  if (other.memoryId === memory.memoryId || other.fingerprint !== memory.fingerprint) return false
  return memory.revises !== undefined || isAtLeast(other.trust, memory.trust)
}
