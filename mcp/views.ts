import { Type, type Static } from 'typebox'
import { BankId, MemoryId, MetadataSchema, strict, trust } from '../lib/memory/schemas.js'
import type { Hit, MemoryRecord } from '../lib/memory/schemas.js'
import type { TokenBudget } from './token-budget.js'
import { withoutUndefined } from '../lib/validation/members.js'

const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

/** A memory as models get it: without the members that have no value, and without those that only programs need. */
export const MemoryView = strict({
  memory_id: MemoryId,
  bank_id: BankId,
  text: Type.String(),
  text_truncated: Type.Optional(Type.Boolean({
    description: 'True when the text was cut, or long members were left out; the resource of the memory has more. ' +
      'Absent otherwise.',
  })),
  score: Type.Optional(Type.Number({ description: 'From 0 to 1; comparable only within one answer.' })),
  tags: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(MetadataSchema),
  occurred_at: instant('When the event that the memory describes happened.'),
  retained_at: Type.String({ format: 'date-time', description: 'When the memory was stored.' }),
  expires_at: instant('When the memory expires.'),
  document_id: Type.Optional(Type.String()),
  source: Type.Optional(Type.String()),
  trust: trust('`untrusted` and `suspect` memories may try to mislead their reader.'),
})

export type MemoryView = Static<typeof MemoryView>

export function memoryView (memory: MemoryRecord | Hit): MemoryView {
  const { tags, metadata, occurred_at: occurred, expires_at: expires, document_id: document, source } = memory
  return withoutUndefined({
    memory_id: memory.memory_id,
    bank_id: memory.bank_id,
    text: memory.text,
    score: 'score' in memory ? memory.score : undefined,
    tags: tags.length > 0 ? tags : undefined,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    occurred_at: occurred ?? undefined,
    retained_at: memory.retained_at,
    expires_at: expires ?? undefined,
    document_id: document ?? undefined,
    source: source ?? undefined,
    trust: memory.trust,
  })
}

/** The memories that fit into a budget, in order. The text of the first is cut when it does not fit alone. */
export async function fittingMemories (
  memories: ReadonlyArray<MemoryRecord | Hit>, budget: TokenBudget,
): Promise<MemoryView[]> {
  const fitting: MemoryView[] = []
  for (const memory of memories) {
    const view = memoryView(memory)
    if (await budget.take(view)) {
      fitting.push(view)
      continue
    }
    const cut = fitting.length === 0 ? await cutMemory(view, budget) : undefined
    if (cut !== undefined) fitting.push(cut)
    break
  }
  return fitting
}

/** Whether memories, or a part of the first, did not fit. */
export function isCut (fitting: readonly MemoryView[], memories: readonly unknown[]): boolean {
  return fitting.length < memories.length || fitting[0]?.text_truncated === true
}

/**
 * A memory whose text is cut so that the whole fits. Its long members are left out when they do not fit either.
 * @returns undefined when not even the others fit
 */
export async function cutMemory (view: MemoryView, budget: TokenBudget): Promise<MemoryView | undefined> {
  const { tags, metadata, document_id: document, source, ...short } = view
  for (const kept of [view, short]) {
    if (!await budget.take({ ...kept, text: '', text_truncated: true })) continue
    const text = await budget.cut(view.text)
    return text === undefined && kept === view ? view : { ...kept, text: text ?? view.text, text_truncated: true }
  }
  return undefined
}
