import type { ImportOutcome, InsertOutcome } from '../stores/vector-store.js'
import type { Trust } from '../identity/trust.js'
import type { WriteResult } from './idempotency.js'
import type { RetainAnswer, RetainBatchAnswer } from './schemas.js'

/** The facts of a stored memory that an answer contains. */
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
  near?: { target: Target, similarity: number }
  redactions: readonly string[]
}

/**
 * The data that the answer of a retain needs beside the outcome of the write. Idempotency records keep it across
 * releases: members may be added, none changed.
 */
export interface RetainContext {
  bankId: string
  /** The written memories in order; the outcome tells of which the store had an exact repeat. */
  memories: readonly StoredMemory[]
  items: readonly RetainedItem[]
}

/** An insert reports an outcome for each memory. An import that replaces stores all of them or fails. */
export type RetainOutcome = InsertOutcome[] | ImportOutcome

export type RetainResult = WriteResult<RetainContext, RetainOutcome>

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
        ...(kind === 'updated' && stored && { updated: true }),
        ...(near !== undefined && !(kind === 'stored' && isRepeat) && {
          near_duplicate: { memory_id: memoryOf(near.target).memoryId, similarity: near.similarity },
        }),
        ...(redactions.length > 0 && { redactions: [...redactions] }),
        ...(trust !== 'trusted' && { trust }),
      }
    }),
  }
}
