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

/**
 * What an import does, memory by memory, as if each had come alone. A conflict is an equal id or an equal fingerprint.
 * @param standing all that the memories can conflict with
 * @throws Outranked with `supersede`
 */
export function planImport<S extends Standing> (memories: readonly NewMemory[], standing: readonly S[], onConflict: OnConflict): ImportPlan<S> {
  const outcome: ImportOutcome = { imported: 0, skipped: 0, overwritten: 0 }
  const added = new Set<NewMemory>()
  const removed = new Set<S>()
  const byId = new Map<string, S | NewMemory>(standing.map((each) => [each.memoryId, each]))
  const byFingerprint = new Map<string, S | NewMemory>(standing.map((each) => [each.fingerprint, each]))
  const isAdded = (each: S | NewMemory): each is NewMemory => added.has(each as NewMemory)
  for (const memory of memories) {
    const conflicts = new Set([byId.get(memory.memoryId), byFingerprint.get(memory.fingerprint)].filter((each) => each !== undefined))
    if (conflicts.size > 0 && onConflict === 'skip') {
      outcome.skipped++
      continue
    }
    for (const each of conflicts) {
      if (onConflict === 'supersede' && !isAtLeast(memory.trust, each.trust)) throw new Outranked()
      byId.delete(each.memoryId)
      byFingerprint.delete(each.fingerprint)
      if (isAdded(each)) added.delete(each)
      else removed.add(each)
    }
    added.add(memory)
    byId.set(memory.memoryId, memory)
    byFingerprint.set(memory.fingerprint, memory)
    if (conflicts.size > 0) outcome.overwritten++
    else outcome.imported++
  }
  return { added: [...added], removed, outcome }
}
