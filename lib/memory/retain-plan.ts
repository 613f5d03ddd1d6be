import type { Trust } from '../identity/trust.js'
import type { ImportOutcome, InsertOutcome } from '../stores/vector-store.js'
import type { WriteResult } from './idempotency.js'
import type { PreparedMemory } from './preparation.js'

/** The properties of a stored memory that an answer contains. */
export interface StoredMemory {
  memoryId: string
  passageCount: number
  trust: Trust
}

/** The index in `memories` of a memory that is written, or a memory that was in the bank before. */
export type Target = number | StoredMemory

/** The decision about an item before the write. */
export interface RetainedItem {
  kind: 'stored' | 'updated' | 'skipped'
  /** The memory that holds the item's content. */
  target: Target
  /** Absent when the item is new or an exact repeat. */
  near?: { target: Target, similarity: number } | undefined
  redactions: readonly string[]
}

/**
 * The data that the answer of a retain needs in addition to the outcome of the write. Idempotency records keep it
 * across releases: properties may be added, but not changed.
 */
export interface RetainContext {
  bankId: string
  /** The written memories in order; the outcome shows of which the store already had an exact repeat. */
  memories: readonly StoredMemory[]
  items: readonly RetainedItem[]
}

/** An insert reports an outcome for each memory. An import that replaces stores all of them or fails. */
export type RetainOutcome = InsertOutcome[] | ImportOutcome

export type RetainResult = WriteResult<RetainContext, RetainOutcome>

/** A memory to be written. Several items of one request may share it. */
export interface PlannedMemory {
  /** Its index in the plan. */
  readonly index: number
  memory: PreparedMemory
  /** The fingerprint of the memory of the bank that it replaces and whose id it keeps, if it replaces one. */
  readonly replaces: string | undefined
}

/** The memory that holds an item's content: one of the plan, or one in the bank. */
export type ItemTarget = PlannedMemory | StoredMemory

export interface NearDuplicate<T extends ItemTarget = ItemTarget> {
  target: T
  similarity: number
}

/** The decision about one item. */
export interface ItemDecision {
  kind: RetainedItem['kind']
  /** The memory that the item becomes or, for `skipped`, the one that it repeats. */
  target: ItemTarget
  /** Absent when the item is new or an exact repeat. */
  near?: NearDuplicate | undefined
}

export interface RetainPlan {
  memories: readonly PlannedMemory[]
  /** In the order of the items. */
  items: ItemDecision[]
}

export function isPlanned (target: ItemTarget): target is PlannedMemory {
  return 'replaces' in target
}

/** The plan of a bank without `dedup`: every item is written. */
export function planWithoutDedup (items: readonly PreparedMemory[]): RetainPlan {
  const memories = items.map((memory, index): PlannedMemory => ({ index, memory, replaces: undefined }))
  return { memories, items: memories.map((target) => ({ kind: 'stored', target })) }
}
