import type { ImportOutcome, InsertOutcome, NewMemory, StoredMemory } from '../stores/vector-store.js'
import { withoutUndefined } from '../validation/members.js'
import type { WriteResult } from './idempotency.js'
import type { PreparedMemory } from './preparation.js'
import type { RetainAnswer, RetainBatchAnswer } from './schemas.js'

/** The index in `memories` of a memory that is written, or a memory that was in the bank before. */
export type Target = number | StoredMemory

/** The decision about an item before the write. */
interface RetainedItem {
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
interface RetainContext {
  bankId: string
  /** The written memories in order; the outcome shows of which the store already had an exact repeat. */
  memories: readonly StoredMemory[]
  items: readonly RetainedItem[]
}

/** An insert reports an outcome for each memory. An import that replaces stores all of them or fails. */
type RetainOutcome = InsertOutcome[] | ImportOutcome

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

export function contextOf (
  bankId: string, plan: RetainPlan, memories: readonly NewMemory[], prepared: readonly PreparedMemory[],
): RetainContext {
  return {
    bankId,
    memories: memories.map(({ memoryId, passages, trust }) => ({ memoryId, passageCount: passages.length, trust })),
    items: plan.items.map(({ kind, target, near }, index): RetainedItem => ({
      kind,
      target: targetOf(target),
      near: near && { target: targetOf(near.target), similarity: near.similarity },
      redactions: prepared[index]!.redactions,
    })),
  }
}

function targetOf (target: ItemTarget): Target {
  return isPlanned(target) ? target.index : target
}

/** @param result of one item */
export function retainAnswer (result: RetainResult): RetainAnswer {
  return retainBatchAnswer(result).results[0]!
}

export function retainBatchAnswer ({ context: { bankId, memories, items }, outcome }: RetainResult): RetainBatchAnswer {
  const inserted = Array.isArray(outcome) ? outcome : []
  const repeatOf = (target: Target) => {
    const found = typeof target === 'number' ? inserted[target] : undefined
    return found?.stored === false ? found : undefined
  }
  const memoryOf = (target: Target) => repeatOf(target) ?? (typeof target === 'number' ? memories[target]! : target)
  return {
    results: items.map(({ kind, target, near, redactions }): RetainAnswer => {
      const { memoryId, passageCount, trust } = memoryOf(target)
      const isRepeat = repeatOf(target) !== undefined
      const stored = kind !== 'skipped' && !isRepeat
      return {
        stored,
        memory_id: memoryId,
        chunk_count: passageCount,
        deduplicated: !stored,
        bank_id: bankId,
        ...withoutUndefined({
          updated: kind === 'updated' && stored ? true : undefined,
          near_duplicate: near === undefined || (kind === 'stored' && isRepeat)
            ? undefined
            : { memory_id: memoryOf(near.target).memoryId, similarity: near.similarity },
          redactions: redactions.length > 0 ? [...redactions] : undefined,
          trust: trust === 'trusted' ? undefined : trust,
        }),
      }
    }),
  }
}

/**
 * The answer for a caller who may not read the bank: how similar a text is to a memory tells what that memory says. It
 * is made for each request, so that a repeat by idempotency key has the near-duplicate only while its caller may read.
 */
export function withoutNearDuplicate ({ near_duplicate: _, ...answer }: RetainAnswer): RetainAnswer {
  return answer
}
