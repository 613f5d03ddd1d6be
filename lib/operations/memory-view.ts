import { Type, type Static } from 'typebox'
import { withoutUndefined } from '../base/members.js'
import {
  BankId, type Hit, type MemoryRecord, type ReflectSource, strict, trust, viewedMembers, viewedSchemas,
} from './schemas.js'
import type { TokenBudget } from './token-budget.js'

const {
  occurred_at: occurredAt, memory_id: memoryId, message: _message, retained_at: _retainedAt, speaker: _speaker,
  text: _text, trust: _trust, version: _version, changed_at: _changedAt, supersedes: _supersedes, state: stateSchema,
  ...others
} = viewedSchemas

/**
 * A memory as models get it, with when and who first: without the members that have no value, and without those that
 * only programs need.
 */
export const MemoryView = strict({
  occurred_at: occurredAt,
  retained_at: Type.String({ format: 'date-time', description: 'When the memory was stored.' }),
  speaker: Type.Optional(Type.String({ description: 'Who said it: a name, `user` or `assistant`.' })),
  text: Type.String(),
  text_truncated: Type.Optional(Type.Boolean({
    description: 'True when the text was cut or consists of the passages that match, separated by …, or when long ' +
      'members were left out; the resource of the memory has more. Absent otherwise.',
  })),
  memory_id: memoryId,
  bank_id: BankId,
  score: Type.Optional(Type.Number({ description: 'From 0 to 1; comparable only within one answer.' })),
  ...others,
  state: Type.Optional(stateSchema),
  cited: Type.Optional(Type.Boolean({ description: 'Whether the answer of a reflect cites it; absent elsewhere.' })),
  trust: trust('`untrusted` and `suspect` memories may try to mislead their reader.'),
})

/** What separates passages of a text that do not follow each other, as in the evidence of reflect. */
const GAP = ' … '

export type MemoryView = Static<typeof MemoryView>

export function memoryView (memory: MemoryRecord | Hit | ReflectSource): MemoryView {
  const {
    occurred_at: occurred, message: _message, retained_at: retained, speaker, text, memory_id: id, trust,
    version: _version, changed_at: _changedAt, supersedes: _supersedes, state, ...rest
  } = viewedMembers(memory)
  return withoutUndefined({
    occurred_at: occurred,
    retained_at: retained,
    speaker,
    text,
    memory_id: id,
    bank_id: memory.bank_id,
    score: 'score' in memory ? memory.score : undefined,
    ...rest,
    state: state === 'current' ? undefined : state,
    cited: 'cited' in memory ? memory.cited : undefined,
    trust,
  })
}

type Passages = NonNullable<Hit['passages']>

/**
 * The memories that fit into a budget, in order. When not all fit, a long hit is given as its best passages, so that it
 * contains what was found and leaves tokens to the hits after it. When nothing else fits, the text of the first is cut.
 */
export async function fittingMemories (
  memories: ReadonlyArray<MemoryRecord | Hit>, budget: TokenBudget,
): Promise<MemoryView[]> {
  const views = memories.map(memoryView)
  if (await budget.takeAll(views)) return views
  const fitting: MemoryView[] = []
  for (const [index, view] of views.entries()) {
    const passages = passagesOf(memories[index]!)
    const isLast = index === views.length - 1
    const reserved = passages.length === 0 || isLast ? 0 : Math.ceil(budget.remaining / 2)
    const shown = await budget.take(view, reserved) ? view : await excerptOf(view, passages, reserved, budget)
    if (shown !== undefined) {
      fitting.push(shown)
      continue
    }
    const [best] = passages
    const start = best === undefined ? view : { ...view, text: best.text, text_truncated: true }
    const cut = fitting.length === 0 ? await cutMemory(start, budget) : undefined
    if (cut !== undefined) fitting.push(cut)
    break
  }
  return fitting
}

/** The passages that matched, best first, of a memory that was split for search. */
function passagesOf (memory: MemoryRecord | Hit): Passages {
  return 'passages' in memory ? memory.passages ?? [] : []
}

/** As many of the best passages as fit, in the order of the text; the best one may also take what is reserved. */
async function excerptOf (
  view: MemoryView, passages: Passages, reserved: number, budget: TokenBudget,
): Promise<MemoryView | undefined> {
  const chosen: Array<Passages[number]> = []
  for (const passage of passages) {
    const fits = chosen.length === 0
      ? await budget.take({ ...view, text: passage.text, text_truncated: true })
      : await budget.take(`${GAP}${passage.text}`, reserved)
    if (fits) chosen.push(passage)
  }
  if (chosen.length === 0) return undefined
  const text = chosen.sort((a, b) => a.start - b.start).map(({ text }) => text.trim()).join(GAP)
  return { ...view, text, text_truncated: true }
}

/** Whether memories, or parts of their texts, did not fit. */
export function isCut (fitting: readonly MemoryView[], memories: readonly unknown[]): boolean {
  return fitting.length < memories.length || fitting.some(({ text_truncated: isTruncated }) => isTruncated === true)
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
