import type { PreparedMemory } from './preparation.js'
import type { RetainedItem, StoredMemory } from './retain-answer.js'

/** A memory to be written. Several items of one request may share it. */
export interface PlannedMemory {
  /** Its place in the plan. */
  readonly index: number
  memory: PreparedMemory
  /** Whether it replaces the memory of the bank with the same id. */
  readonly replaces: boolean
}

/** The memory that holds an item's content: one of the plan, or one in the bank. */
export type ItemTarget = PlannedMemory | StoredMemory

export interface NearDuplicate<T extends ItemTarget = ItemTarget> {
  target: T
  similarity: number
}

/** What becomes of one item. */
export interface ItemDecision {
  kind: RetainedItem['kind']
  /** The memory that the item becomes or, for `skipped`, the one that it repeats. */
  target: ItemTarget
  /** Absent when the item is new or an exact repeat. */
  near?: NearDuplicate
}

export interface RetainPlan {
  memories: readonly PlannedMemory[]
  /** In the order of the items. */
  items: ItemDecision[]
}
