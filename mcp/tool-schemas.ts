import { Type, type TObject, type TProperties, type TSchema } from 'typebox'
import {
  BanksAnswer, clamped, ForgetAnswer, ForgetRequest, IDEMPOTENCY_PERIOD, nullable, PAGE_SIZE, RecallRequest,
  reflectConclusion, ReflectRequest, RetainAnswer, RetainRequest, strict,
} from '../lib/memory/schemas.js'
import { MemoryView } from './views.js'

const idempotency = {
  idempotency_key: Type.Optional(Type.String({
    description: `A call with the same key and arguments within ${IDEMPOTENCY_PERIOD} gets the same answer and is ` +
      'not executed again.',
  })),
}

/** The properties of a schema without some of them. */
function without<P extends TProperties, K extends keyof P> ({ properties }: TObject<P>, ...names: K[]): Omit<P, K> {
  const remaining = { ...properties }
  for (const name of names) delete remaining[name]
  return remaining
}

export const RetainInput = strict({ ...without(RetainRequest, 'replace_document'), ...idempotency })
export const RecallInput = strict(without(RecallRequest, 'explain', 'rewrite', 'model_rerank'))
export const ReflectInput = strict(without(ReflectRequest, 'response_schema', 'timeout_ms'))
export const ForgetInput = strict({ ...ForgetRequest.properties, ...idempotency })
export const ListBanksInput = strict({
  limit: Type.Optional(clamped('Number of banks in one answer.', PAGE_SIZE)),
  cursor: Type.Optional(Type.String({
    minLength: 1, maxLength: 1024, description: '`next_cursor` of the previous answer.',
  })),
})

export const RetainOutput = RetainAnswer
export const RecallOutput = strict({
  memories: Type.Array(MemoryView, { description: 'In descending order of score.' }),
  total_available: Type.Integer({ description: 'Number of memories that were candidates after filters.' }),
  truncated: Type.Boolean({ description: 'True when max_tokens or the limit on answers cut the list or a text.' }),
  degraded: Type.Optional(Type.Array(Type.String(), { description: 'Stages of the search that were skipped.' })),
})
export const ReflectOutput = strict({
  answer: reflectConclusion.answer,
  abstained: reflectConclusion.abstained,
  unverified: reflectConclusion.unverified,
  truncated: Type.Optional(Type.Boolean({
    description: 'True when max_tokens or the limit on answers cut the answer; absent otherwise.',
  })),
  degraded: Type.Optional(Type.Array(Type.String(), { description: 'What was not available for the answer.' })),
  sources: Type.Array(MemoryView, {
    description: 'What the answer cites, in the order of the citation numbers; the rest of the evidence follows ' +
      'with `include_sources: "all"`.',
  }),
  sources_truncated: Type.Optional(Type.Boolean({
    description: 'True when the limit on answers cut the sources; absent otherwise.',
  })),
})
export const ForgetOutput = strict({
  ...ForgetAnswer.properties,
  sample: Type.Optional(Type.Array(MemoryView, {
    description: 'The first memories, at most ten. Present with dry_run, for a caller that may also read the bank.',
  })),
  truncated: Type.Optional(Type.Boolean({
    description: 'True when `memory_ids` or `sample` is not complete; absent otherwise.',
  })),
})
export const ListBanksOutput = strict({
  banks: BanksAnswer.properties.banks,
  next_cursor: nullable({
    description: 'Null when there are no more banks. An answer before the last may have fewer than `limit`, or none.',
  }),
})

/** The arguments that name a bank. A pinned endpoint has none of them. */
export const BANK_ARGUMENTS = ['bank_id', 'banks'] as const

/**
 * A schema as clients get it: plain JSON Schema without the `x-` keywords, and with a type for every `enum`, because
 * some models need it.
 */
export function published (schema: TSchema): { type: 'object', [keyword: string]: unknown } {
  const plain: unknown = JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value).filter(([keyword]) => !keyword.startsWith('x-'))
    const isTextEnum = 'enum' in value && !('type' in value) && Array.isArray(value.enum)
    return Object.fromEntries(isTextEnum ? [['type', 'string'], ...entries] : entries)
  })
  return { ...(plain as Record<string, unknown>), type: 'object' }
}
