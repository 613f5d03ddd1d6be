import type { ImportOutcome, InsertOutcome } from '../stores/vector-store.js'
import type { Trust } from '../identity/trust.js'
import type { WriteResult } from './idempotency.js'
import type { RetainAnswer, RetainBatchAnswer } from './schemas.js'

/** What an answer tells of a memory that is in the bank. */
export interface StoredMemory {
  memoryId: string
  passageCount: number
  trust: Trust
}

/** The place in `memories` of one that is written, or one that was in the bank before. */
export type Target = number | StoredMemory

/** What was decided about an item before the write. */
export interface RetainedItem {
  kind: 'stored' | 'updated' | 'skipped'
  /** What holds the item's content. */
  target: Target
  /** Absent when it repeats nothing, or exactly. */
  near?: { target: Target, similarity: number }
  redactions: readonly string[]
}

/**
 * What the answer of a retain needs beside the outcome of the write. It is kept over releases: members may be added,
 * none changed.
 */
export interface RetainContext {
  bankId: string
  /** What is written, in order; as it stands unless the store has an exact repeat of it. */
  memories: readonly StoredMemory[]
  items: readonly RetainedItem[]
}

/** An insert says what became of each memory. An import that replaces stores every one, or fails. */
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
