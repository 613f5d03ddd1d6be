import { isAtLeast } from '../../identity/trust.js'
import { compileFilters } from '../filters.js'
import { planImport, type ImportPlan } from '../import-plan.js'
import type { Steps } from '../../concurrency/steps.js'
import { SplitMap } from '../split-map.js'
import {
  MemoryChangedError, type DocumentReplacement, type InsertOutcome, type Memory, type NewMemory,
  type OnConflict, type RemoveOptions, type RemoveOutcome, type Selector,
} from '../vector-store.js'
import type { Bank } from './bank.js'
import type { Entry } from './entry.js'

/** Cost of a memory in addition to its postings, in postings. */
const POSTINGS_PER_MEMORY = 8

/** The memories that a write adds to a bank and removes from it. */
export interface BankChange {
  added: readonly NewMemory[]
  removed: readonly Entry[]
}

export interface WritePlan<T> extends BankChange {
  outcome: T
}

export function * planInsert (bank: Bank, memories: readonly NewMemory[]): Steps<WritePlan<InsertOutcome[]>> {
  const added = new SplitMap<NewMemory>()
  const inOrder: NewMemory[] = []
  const replacedByHigherTrust: Entry[] = []
  /** By the id of a memory of the bank: the memory of the call that takes its place. */
  const replacements = new Map<string, NewMemory>()
  const outcome: InsertOutcome[] = []
  for (const memory of memories) {
    outcome.push(decide(memory))
    yield
  }
  if (replacements.size > 0) yield * correctEarlierRepeats()
  return { added: inOrder, removed: replacedByHigherTrust, outcome }

  function decide (memory: NewMemory): InsertOutcome {
    const earlier = added.get(memory.fingerprint)
    if (earlier !== undefined) return repeatOf(earlier)
    const existing = bank.entries.byFingerprint(memory.fingerprint)
    if (existing !== undefined) {
      const { memoryId, trust } = existing.memory
      if (isAtLeast(trust, memory.trust)) {
        return { stored: false, memoryId, passageCount: existing.passages.length, trust }
      }
      replacedByHigherTrust.push(existing)
      replacements.set(memoryId, memory)
    }
    // Generated ids are unique; a second memory with the same id would leave the first in the indexes permanently.
    if (bank.entries.byId(memory.memoryId) !== undefined) throw new Error(`The memory id ${memory.memoryId} is taken`)
    added.set(memory.fingerprint, memory)
    inOrder.push(memory)
    return { stored: true, memoryId: memory.memoryId }
  }

  /** An item before the one of higher trust may repeat the memory that this removes. */
  function * correctEarlierRepeats (): Steps<void> {
    for (const [index, { memoryId }] of outcome.entries()) {
      const replacement = replacements.get(memoryId)
      if (replacement !== undefined) outcome[index] = repeatOf(replacement)
      yield
    }
  }
}

function repeatOf ({ memoryId, passages, trust }: NewMemory): InsertOutcome {
  return { stored: false, memoryId, passageCount: passages.length, trust }
}

export function * planReplacement (
  bank: Bank, { documentIds, keep }: DocumentReplacement, memories: readonly NewMemory[],
): Steps<WritePlan<InsertOutcome[]>> {
  for (const id of keep) {
    if (bank.entries.byId(id)?.isVisible !== true) throw new MemoryChangedError()
    yield
  }
  const insertion = yield * planInsert(bank, memories)
  const staying = new Set([...keep, ...insertion.outcome.map(({ memoryId }) => memoryId)])
  const removed = [...insertion.removed]
  const replaced = new Set(insertion.removed)
  for (const documentId of new Set(documentIds)) {
    for (const entry of bank.sequences.entriesOf(documentId)) {
      yield
      if (!entry.isVisible || replaced.has(entry) || staying.has(entry.memory.memoryId)) continue
      removed.push(entry)
    }
  }
  return { ...insertion, removed }
}

export function * planImportInto (
  bank: Bank, memories: readonly NewMemory[], onConflict: OnConflict,
): Steps<ImportPlan<Entry>> {
  const toExisting = ({ memory: { memoryId, trust }, fingerprint }: Entry) => ({ memoryId, fingerprint, trust })
  return planImport(memories, bank.entries, toExisting, onConflict)
}

/** @param accept whether a memory exists for the caller; absent: all do */
export function * planRemoval (
  bank: Bank, selector: Selector, { idLimit }: RemoveOptions, accept?: (memory: Memory) => boolean,
): Steps<WritePlan<RemoveOutcome>> {
  const removed: Entry[] = []
  const seen = new SplitMap<true>()
  for (const entry of selected(bank, selector)) {
    if (entry?.isVisible === true && (accept === undefined || accept(entry.memory))) {
      const isRepeat = selector.kind === 'ids' && seen.get(entry.memory.memoryId) === true
      if (!isRepeat) removed.push(entry)
      if (selector.kind === 'ids') seen.set(entry.memory.memoryId, true)
    }
    yield
  }
  const memoryIds = removed.slice(0, idLimit).map(({ memory }) => memory.memoryId)
  return { added: [], removed, outcome: { count: removed.length, memoryIds } }
}

/** Estimates the postings that a change touches; stops at `enough`. */
export function estimatePostings ({ added, removed }: BankChange, enough: number): number {
  let weight = 0
  for (const memory of added) {
    weight += POSTINGS_PER_MEMORY
    for (const { terms } of memory.passages) weight += terms.size
    if (weight > enough) break
  }
  for (const { passages } of removed) {
    if (weight > enough) break
    weight += POSTINGS_PER_MEMORY
    weight += POSTINGS_PER_MEMORY * passages.length
  }
  return weight
}

function * selected (bank: Bank, selector: Selector): Generator<Entry | undefined> {
  switch (selector.kind) {
    case 'ids':
      for (const memoryId of selector.memoryIds) yield bank.entries.byId(memoryId)
      break
    case 'filters': {
      const accept = compileFilters(selector.filters)
      for (const entry of bank.entries.ordered()) yield accept?.(entry.memory) === true ? entry : undefined
      break
    }
    case 'all':
      yield * bank.entries.ordered()
  }
}
