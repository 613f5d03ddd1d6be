import { isAtLeast } from '../access/trust.js'
import {
  type InsertOutcome, LowerTrustError, type Memory, type NewMemory, type Revision, UnknownMemoriesError,
} from './vector-store.js'

/** A memory of the bank, with what the plan of a write needs of it. */
export interface Standing {
  readonly memory: Memory
  readonly fingerprint: string
  readonly passageCount: number
}

/** The memories of the bank that a write may meet. */
export interface Standings<S extends Standing = Standing> {
  /** Of current memories. */
  byFingerprint (fingerprint: string): S | undefined
  byKey (key: string): S | undefined
  byId (memoryId: string): S | undefined
  /** Whether a memory of any state has the id. */
  isKnown (memoryId: string): boolean
}

export interface InsertPlan<S> {
  /** Current memories. */
  added: NewMemory[]
  /** Memories whose place another of the same call has taken. */
  addedPast: NewMemory[]
  revisions: Revision[]
  /** Repeated by a memory of higher trust. */
  removed: S[]
  outcome: InsertOutcome[]
}

/**
 * Plans an insert memory by memory, as if each were stored alone. A repeat of higher trust replaces the memory that it
 * repeats, and a memory with a key or with ids supersedes those that are current.
 * @throws LowerTrustError, UnknownMemoriesError
 */
export function planInsert<S extends Standing> (
  memories: readonly NewMemory[], existing: Standings<S>, now: number,
): InsertPlan<S> {
  const added = new Map<string, NewMemory>()
  const keyed = new Map<string, NewMemory>()
  const addedPast: NewMemory[] = []
  const revisions: Revision[] = []
  const removed: S[] = []
  /** Ids of memories of the bank that are current no more. */
  const gone = new Set<string>()
  /** By the id of a memory of the bank: the memory of the call that takes its place. */
  const replacements = new Map<string, NewMemory>()
  const standing = (found: S | undefined) => found !== undefined && !gone.has(found.memory.memoryId) ? found : undefined
  const outcome = memories.map((given): InsertOutcome => {
    const memory = given.kind === 'memory' || given.key === null
      ? given
      : besides(given, keyed.get(given.key) ?? standing(existing.byKey(given.key))?.memory)
    const earlier = added.get(memory.fingerprint)
    if (earlier !== undefined) return repeatOf(earlier, earlier.passages.length)
    const repeated = standing(existing.byFingerprint(memory.fingerprint))
    if (repeated !== undefined) {
      if (isAtLeast(repeated.memory.trust, memory.trust)) return repeatOf(repeated.memory, repeated.passageCount)
      removed.push(repeated)
      gone.add(repeated.memory.memoryId)
      replacements.set(repeated.memory.memoryId, memory)
    }
    const targets = new Map<string, S>()
    const unknown: string[] = []
    for (const id of memory.supersedes) {
      const found = existing.byId(id)
      if (found === undefined && !existing.isKnown(id)) unknown.push(id)
      if (standing(found) !== undefined) targets.set(id, found!)
    }
    if (unknown.length > 0) throw new UnknownMemoriesError(unknown)
    const sameKey = memory.key === null ? undefined : standing(existing.byKey(memory.key))
    if (sameKey !== undefined) targets.set(sameKey.memory.memoryId, sameKey)
    const predecessor = memory.key === null ? undefined : keyed.get(memory.key)
    const superseded = [...targets.keys(), ...predecessor === undefined ? [] : [predecessor.memoryId]]
    const stored = superseded.length === 0
      ? memory
      : { ...memory, supersedes: [...new Set([...memory.supersedes, ...superseded])].sort() }
    for (const target of targets.values()) {
      gone.add(target.memory.memoryId)
      revisions.push(revisionOf(target, stored, now))
    }
    if (predecessor !== undefined) {
      requireTrust(predecessor, stored)
      added.delete(predecessor.fingerprint)
      addedPast.push({ ...predecessor, ...supersededBy(predecessor, stored, now) })
    }
    added.set(memory.fingerprint, stored)
    if (memory.key !== null) keyed.set(memory.key, stored)
    return superseded.length === 0
      ? { stored: true, memoryId: memory.memoryId }
      : { stored: true, memoryId: memory.memoryId, superseded }
  })
  // An item before the one of higher trust may repeat the memory that this removes.
  const corrected = outcome.map((each) => {
    const replacement = replacements.get(each.memoryId)
    return replacement === undefined ? each : repeatOf(replacement, replacement.passages.length)
  })
  return { added: [...added.values()], addedPast, revisions, removed, outcome: corrected }
}

/**
 * A fact supersedes only facts, of no higher trust and not of a later time: a model may read what was said first last.
 * Otherwise it has no key, and one of an earlier time ends when the fact under its key begins.
 */
function besides (fact: NewMemory, other: Memory | undefined): NewMemory {
  if (other === undefined) return fact
  if (other.kind !== 'fact' || !isAtLeast(fact.trust, other.trust)) return { ...fact, key: null }
  const from = beginOf(other)
  const own = beginOf(fact)
  if (from === null || own === null || own >= from) return fact
  return { ...fact, key: null, validUntil: fact.validUntil ?? from }
}

function beginOf ({ validFrom, occurredAt }: Memory): number | null {
  return validFrom ?? occurredAt
}

function repeatOf ({ memoryId, trust }: Memory, passageCount: number): InsertOutcome {
  return { stored: false, memoryId, passageCount, trust }
}

/** A writer of lower trust could otherwise take a fact away by a key. */
function requireTrust (superseded: Memory, by: Memory): void {
  if (!isAtLeast(by.trust, superseded.trust)) throw new LowerTrustError()
}

function revisionOf ({ memory, fingerprint }: Standing, by: Memory, now: number): Revision {
  requireTrust(memory, by)
  const next = {
    ...memory,
    ...supersededBy(memory, by, now),
    version: memory.version + 1,
    changedAt: Math.max(now, memory.changedAt),
    changedBy: by.changedBy,
    reason: 'superseded',
  }
  return { memory: next, fingerprint }
}

/** What changes in a memory whose place another takes; its validity may end where it begins. */
export function supersededBy (
  memory: Memory, by: Pick<Memory, 'validFrom' | 'occurredAt'> & { readonly memoryId: string | null }, now: number,
): Pick<Memory, 'state' | 'supersededBy' | 'validUntil'> {
  const until = by.validFrom ?? by.occurredAt ?? now
  return {
    state: 'superseded',
    supersededBy: by.memoryId,
    validUntil: memory.validUntil ?? Math.max(until, memory.validFrom ?? until),
  }
}
