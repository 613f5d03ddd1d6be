import { giveWay, isDue } from '../../base/event-loop.js'
import { compileFilters } from '../filters.js'
import { planImport } from '../import-plan.js'
import { planInsert, type Standing } from '../insert-plan.js'
import {
  MemoryChangedError, type DocumentReplacement, type ImportOutcome, type InsertOutcome, type NewMemory,
  type OnConflict, PlaceTakenError, type Revision, type Selector,
} from '../vector-store.js'
import type { Bank, Entry, EntrySource } from './bank.js'

/** What a write adds to a bank and removes from it, in its two parts, and what it returns. */
export interface WritePlan<T> {
  added: readonly NewMemory[]
  removed: readonly Entry[]
  /** With `endedAt`. */
  addedPast?: readonly EntrySource[]
  removedPast?: readonly Entry[]
  /** The last versions of the memories that it removes with all their versions; they are among the removed. */
  gone?: readonly Entry[]
  outcome: T
}

/** @throws MemoryChangedError when one of the memories is a repeat of one in the bank */
export function requireNew (bank: Bank, memories: readonly NewMemory[]): void {
  if (memories.some(({ fingerprint }) => bank.byFingerprint.has(fingerprint))) throw new MemoryChangedError()
}

/** @param without memories that are removed by the same write */
export function planInsertInto (
  bank: Bank, memories: readonly NewMemory[], now: number, without: ReadonlySet<Entry> = new Set(),
): WritePlan<InsertOutcome[]> {
  const standing = (entry: Entry | undefined): (Standing & { entry: Entry }) | undefined => {
    if (entry === undefined || without.has(entry)) return undefined
    return { memory: entry.memory, fingerprint: entry.fingerprint, passageCount: entry.passages.length, entry }
  }
  const plan = planInsert(memories, {
    byFingerprint: (fingerprint) => standing(bank.byFingerprint.get(fingerprint)),
    byKey: (key) => standing(bank.byKey.get(key)),
    byId: (memoryId) => standing(bank.byId.get(memoryId)),
    isKnown: (memoryId) => {
      const last = bank.last(memoryId)
      return last !== undefined && !without.has(last)
    },
  }, now)
  // Generated ids are unique; a second memory with the same id would leave the first in the indexes permanently.
  const taken = [...plan.added, ...plan.addedPast].find(({ memoryId }) => bank.last(memoryId) !== undefined)
  if (taken !== undefined) throw new Error(`The memory id ${taken.memoryId} is taken`)
  const revised = planRevisions(bank, plan.revisions)
  const removal = removalOf(bank, plan.removed.map(({ entry }) => entry))
  return {
    added: [...plan.added, ...revised.added],
    removed: [...removal.removed, ...revised.removed],
    addedPast: [...plan.addedPast.map((memory) => ({ ...memory, endedAt: null })), ...revised.addedPast],
    removedPast: [...revised.removedPast, ...removal.removedPast],
    gone: removal.gone,
    outcome: plan.outcome,
  }
}

export function planReplacementIn (
  bank: Bank, { documentIds, keep }: DocumentReplacement, memories: readonly NewMemory[], now: number,
): WritePlan<InsertOutcome[]> {
  if (!keep.every((id) => bank.byId.has(id))) throw new MemoryChangedError()
  const staying = new Set(keep)
  const repeated = new Set(memories.map(({ fingerprint }) => fingerprint))
  const stays = (memoryId: string) => (
    staying.has(memoryId) || repeated.has(bank.byId.get(memoryId)?.fingerprint ?? '')
  )
  // A fact stays with a memory that it is derived from.
  const outdated = new Set(documentIds.flatMap((id) => [
    ...bank.document(id).filter(({ memory, fingerprint }) => (
      !staying.has(memory.memoryId) && !repeated.has(fingerprint) &&
      !(memory.kind === 'fact' && memory.derivedFrom.some(stays))
    )),
    ...bank.past.document(id).filter(({ isLast }) => isLast),
  ]))
  const insertion = planInsertInto(bank, memories, now, outdated)
  const removal = removalOf(bank, [...outdated])
  return {
    ...insertion,
    removed: [...insertion.removed, ...removal.removed],
    removedPast: [...insertion.removedPast!, ...removal.removedPast],
    gone: [...insertion.gone!, ...removal.gone],
  }
}

export function planImportInto (
  bank: Bank, memories: readonly NewMemory[], onConflict: OnConflict,
): WritePlan<ImportOutcome> {
  const existing = {
    byId: (memoryId: string) => bank.last(memoryId),
    byFingerprint: (fingerprint: string) => bank.byFingerprint.get(fingerprint),
    byKey: (key: string) => bank.byKey.get(key),
  }
  const toExisting = ({ memory: { memoryId, trust, key, version, state }, fingerprint }: Entry) => (
    { memoryId, fingerprint, trust, key, version, isCurrent: state === 'current' }
  )
  const plan = planImport(memories, existing, toExisting, onConflict)
  const revised = new Map(plan.added.flatMap((memory) => onConflict !== 'revise' || memory.revises === undefined
    ? []
    : [[memory.memoryId, memory]]))
  const kept = plan.removed.flatMap((entry): EntrySource[] => {
    const next = revised.get(entry.memory.memoryId)
    return next === undefined ? [] : [earlierVersion(entry, next.changedAt)]
  })
  const isCurrent = ({ state }: NewMemory) => state === 'current'
  const next = plan.removed.filter(({ memory }) => revised.has(memory.memoryId))
  const removal = removalOf(bank, plan.removed.filter((entry) => !next.includes(entry)))
  return {
    added: plan.added.filter(isCurrent),
    addedPast: [
      ...plan.added.filter((memory) => !isCurrent(memory)).map((memory) => ({ ...memory, endedAt: null })),
      ...plan.added.flatMap(({ earlier = [] }) => earlier),
      ...kept,
    ],
    removed: [...removal.removed, ...next],
    removedPast: removal.removedPast,
    gone: removal.gone,
    outcome: plan.outcome,
  }
}

/** @throws MemoryChangedError, PlaceTakenError */
export function planRevision (bank: Bank, revisions: readonly Revision[]): WritePlan<void> {
  const own = new Set(revisions.map(({ memory }) => memory.memoryId))
  for (const { memory, fingerprint } of revisions) {
    if (bank.last(memory.memoryId)?.memory.version !== memory.version - 1) throw new MemoryChangedError()
    if (memory.state !== 'current') continue
    const sameKey = memory.key === null ? undefined : bank.byKey.get(memory.key)?.memory
    if (sameKey !== undefined && !own.has(sameKey.memoryId)) throw new PlaceTakenError(sameKey.memoryId, memory.key!)
    const equal = bank.byFingerprint.get(fingerprint)?.memory
    if (equal !== undefined && !own.has(equal.memoryId)) throw new PlaceTakenError(equal.memoryId)
  }
  return { ...planRevisions(bank, revisions), outcome: undefined }
}

/** Of memories that are in the version which their revisions follow. */
function planRevisions (bank: Bank, revisions: readonly Revision[]) {
  const plan = {
    added: [] as NewMemory[], removed: [] as Entry[], addedPast: [] as EntrySource[], removedPast: [] as Entry[],
  }
  for (const { memory, fingerprint, passages } of revisions) {
    const entry = bank.last(memory.memoryId)!
    const next = { ...memory, fingerprint, passages: passages ?? entry.indexed() }
    if (bank.partOf(entry) === bank) plan.removed.push(entry)
    else plan.removedPast.push(entry)
    plan.addedPast.push(earlierVersion(entry, memory.changedAt))
    if (memory.state === 'current') plan.added.push(next)
    else plan.addedPast.push({ ...next, endedAt: null })
  }
  return plan
}

function earlierVersion (entry: Entry, endedAt: number): EntrySource {
  return { ...entry.memory, fingerprint: entry.fingerprint, passages: entry.indexed(), endedAt }
}

/** The versions of a memory before its last one. */
export function earlierOf (bank: Bank, { memory: { memoryId } }: Entry): readonly Entry[] {
  return bank.hasPast ? bank.past.earlier.get(memoryId) ?? [] : []
}

/** Removes memories, given as their last versions, with their earlier ones. */
export function removalOf (bank: Bank, entries: readonly Entry[]) {
  const [removed, last] = [[] as Entry[], [] as Entry[]]
  for (const entry of entries) (bank.partOf(entry) === bank ? removed : last).push(entry)
  return { removed, removedPast: [...last, ...entries.flatMap((entry) => earlierOf(bank, entry))], gone: entries }
}

/** The facts, as their last versions, that are derived from a memory. */
export function derivedFrom (bank: Bank, memoryId: string): readonly Entry[] {
  return lastFacts(bank).filter(({ memory }) => memory.derivedFrom.includes(memoryId))
}

function lastFacts (bank: Bank): readonly Entry[] {
  return [...bank.facts, ...bank.hasPast ? bank.past.facts : []].filter(({ isLast }) => isLast)
}

/** The facts, as their last versions, of which no source is left without these memories. */
export function derivedOnlyFrom (bank: Bank, gone: readonly Entry[]): readonly Entry[] {
  const facts = lastFacts(bank)
  if (facts.length === 0) return []
  const ids = new Set(gone.map(({ memory }) => memory.memoryId))
  return facts.filter(({ memory: { derivedFrom } }) => (
    derivedFrom.some((id) => ids.has(id)) && derivedFrom.every((id) => ids.has(id) || bank.last(id) === undefined)
  ))
}

/** The last versions of the memories of the bank that a selector selects, as of the call. */
export async function select (bank: Bank, selector: Selector): Promise<readonly Entry[]> {
  const lastPast = () => bank.hasPast ? bank.past.ordered.snapshot().filter(({ isLast }) => isLast) : []
  switch (selector.kind) {
    case 'ids': return [...new Set(selector.memoryIds)].flatMap((memoryId) => bank.last(memoryId) ?? [])
    case 'all': return [...bank.ordered.snapshot(), ...lastPast()]
    case 'filters': {
      const accept = compileFilters(selector.filters)
      const selected: Entry[] = []
      if (accept === undefined) return selected
      for (const entry of [...bank.ordered.snapshot(), ...lastPast()]) {
        if (isDue()) await giveWay()
        if (accept(entry.memory)) selected.push(entry)
      }
      return selected
    }
  }
}
