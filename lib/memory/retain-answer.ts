import type { NewMemory } from '../stores/vector-store.js'
import type { PreparedMemory } from './preparation.js'
import {
  isPlanned, type ItemTarget, type RetainContext, type RetainedItem, type RetainPlan, type RetainResult, type Target,
} from './retain-plan.js'
import type { RetainAnswer, RetainBatchAnswer } from './schemas.js'
import { withoutUndefined } from '../validation/members.js'

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
