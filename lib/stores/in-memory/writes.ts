import { isAtLeast } from '../../access/trust.js'
import { giveWay, isDue } from '../../base/event-loop.js'
import { compileFilters } from '../filters.js'
import { planImport } from '../import-plan.js'
import {
  MemoryChangedError, type DocumentReplacement, type ImportOutcome, type InsertOutcome,
  type NewMemory, type OnConflict, type Selector,
} from '../vector-store.js'
import type { Bank, Entry } from './bank.js'

/** What a write adds to a bank and removes from it, and what it returns. */
export interface WritePlan<T> {
  added: readonly NewMemory[]
  removed: readonly Entry[]
  outcome: T
}

/** @throws MemoryChangedError with `expectNew`, when one of the memories is a repeat of one in the bank */
export function planInsertInto (
  bank: Bank, memories: readonly NewMemory[], expectNew = false,
): WritePlan<InsertOutcome[]> {
  if (expectNew && memories.some(({ fingerprint }) => bank.byFingerprint.has(fingerprint))) {
    throw new MemoryChangedError()
  }
  const added = new Map<string, NewMemory>()
  const removed: Entry[] = []
  /** By the id of a memory of the bank: the memory of the call that takes its place. */
  const replacements = new Map<string, NewMemory>()
  const outcome = memories.map((memory): InsertOutcome => {
    const earlier = added.get(memory.fingerprint)
    if (earlier !== undefined) return repeatOf(earlier)
    const existing = bank.byFingerprint.get(memory.fingerprint)
    if (existing !== undefined) {
      if (isAtLeast(existing.memory.trust, memory.trust)) return repeatOf({ ...existing.memory, ...existing })
      removed.push(existing)
      replacements.set(existing.memory.memoryId, memory)
    }
    // Generated ids are unique; a second memory with the same id would leave the first in the indexes permanently.
    if (bank.byId.has(memory.memoryId)) throw new Error(`The memory id ${memory.memoryId} is taken`)
    added.set(memory.fingerprint, memory)
    return { stored: true, memoryId: memory.memoryId }
  })
  // An item before the one of higher trust may repeat the memory that this removes.
  const corrected = outcome.map((each) => {
    const replacement = replacements.get(each.memoryId)
    return replacement === undefined ? each : repeatOf(replacement)
  })
  return { added: [...added.values()], removed, outcome: corrected }
}

function repeatOf (
  { memoryId, passages, trust }: Pick<NewMemory, 'memoryId' | 'trust'> & { passages: readonly unknown[] },
): InsertOutcome {
  return { stored: false, memoryId, passageCount: passages.length, trust }
}

export function planReplacementIn (
  bank: Bank, { documentIds, keep }: DocumentReplacement, memories: readonly NewMemory[],
): WritePlan<InsertOutcome[]> {
  if (!keep.every((id) => bank.byId.has(id))) throw new MemoryChangedError()
  const insertion = planInsertInto(bank, memories)
  const staying = new Set([...keep, ...insertion.outcome.map(({ memoryId }) => memoryId)])
  const removed = new Set(insertion.removed)
  for (const entry of documentIds.flatMap((id) => bank.document(id))) {
    if (removed.has(entry) || staying.has(entry.memory.memoryId)) continue
    removed.add(entry)
  }
  return { ...insertion, removed: [...removed] }
}

export function planImportInto (
  bank: Bank, memories: readonly NewMemory[], onConflict: OnConflict,
): WritePlan<ImportOutcome> {
  const existing = {
    byId: (memoryId: string) => bank.byId.get(memoryId),
    byFingerprint: (fingerprint: string) => bank.byFingerprint.get(fingerprint),
  }
  const toExisting = ({ memory: { memoryId, trust }, fingerprint }: Entry) => ({ memoryId, fingerprint, trust })
  return planImport(memories, existing, toExisting, onConflict)
}

/** The memories of the bank that a selector selects, as of the call. */
export async function select (bank: Bank, selector: Selector): Promise<readonly Entry[]> {
  switch (selector.kind) {
    case 'ids': return [...new Set(selector.memoryIds)].flatMap((memoryId) => bank.byId.get(memoryId) ?? [])
    case 'all': return bank.ordered.snapshot()
    case 'filters': {
      const accept = compileFilters(selector.filters)
      const selected: Entry[] = []
      if (accept === undefined) return selected
      for (const entry of bank.ordered.snapshot()) {
        if (isDue()) await giveWay()
        if (accept(entry.memory)) selected.push(entry)
      }
      return selected
    }
  }
}
