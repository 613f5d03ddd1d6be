import { Type, type Static, type TObject, type TProperties } from 'typebox'
import { strict } from './common.js'
import { oneBankOrSeveral, scope, query, filters, referenceTime } from './filters.js'
import { Hit, HIT } from './memory-record.js'
import { DEGRADATIONS } from './recall.js'

export const ReflectRequest = strict({
  query,
  ...scope,
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Tokens of the answer at most.' })),
  ...filters,
  reference_time: referenceTime,
  include_sources: Type.Optional(Type.Boolean({ description: 'Default true.' })),
  instructions: Type.Optional(Type.String({ minLength: 1, maxLength: 4000, description: 'Instructions for tone, length, language and form of the answer. They add nothing to the evidence.', examples: ['Answer in one sentence, informally.'] })),
  response_schema: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'JSON Schema of an object that the answer is also given as, in `structured`: at most 16 KiB, 8 levels and 256 properties, without references and patterns. 501 when the configured model cannot.' })),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1, description: 'Milliseconds that the answer may take; clamped to what the server allows (`reflect.timeout_ms`).' })),
}, {
  ...oneBankOrSeveral,
  title: 'ReflectRequest',
  description: 'A question; to exactly one of `bank_id` and `banks`.',
  examples: [{ bank_id: 'user-alice', query: 'What does Alice drink?' }],
})

export const ReflectUsage = strict({
  tokens: Type.Integer({ description: 'input_tokens and output_tokens together.' }),
  input_tokens: Type.Integer({ description: 'Of the prompt, as the language model counts them; 0 when none was asked.' }),
  output_tokens: Type.Integer({ description: 'Of what it answered.' }),
  cost: Type.Optional(Type.Number({ description: 'By the `prices` of the configuration; absent when the model has none there.' })),
}, { title: 'ReflectUsage', description: 'What the answer cost.' })

/** The answer of a reflect without its sources and usage. */
export const reflectConclusion = {
  answer: Type.String({ description: '`[1]` cites the first of the sources.' }),
  abstained: Type.Boolean({ description: 'True when the memories do not answer the question. When there was no evidence at all, no model was called.' }),
  structured: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description: 'The answer by `response_schema`; absent when it abstained.' })),
  unverified: Type.Optional(Type.Boolean({ description: 'True when no mark of the answer names a source; absent otherwise.' })),
  truncated: Type.Optional(Type.Boolean({ description: 'True when max_tokens cut the answer; absent otherwise.' })),
  degraded: Type.Optional(Type.Array(Type.Enum([...DEGRADATIONS, 'model'], { title: 'ReflectDegradation' }), { description: 'What the answer went without. `model`: the language model could not be had, and the answer is sentences of the memories. Absent when nothing was missing.' })),
}

export const ReflectAnswer = strict({
  ...reflectConclusion,
  sources: Type.Array(Hit, { description: 'The evidence, in the order of the marks; empty with include_sources false, and when it abstained.' }),
  usage: ReflectUsage,
}, {
  title: 'ReflectAnswer',
  description: 'The answer with its sources.',
  examples: [{
    answer: 'Alice drinks tea. [1]',
    abstained: false,
    sources: [HIT],
    usage: { tokens: 131, input_tokens: 120, output_tokens: 11 },
  }],
})

const event = <const Name extends string, P extends TProperties>(name: Name, title: string, data: TObject<P>) => (
  strict({ event: Type.Literal(name), data }, { title })
)

/** The events of a reflect that goes well, in their order, as pairs of the name and the data as JSON. */
export const reflectEvents = [
  event('evidence', 'EvidenceEvent', strict({ sources: Type.Array(Hit) })),
  event('delta', 'DeltaEvent', strict({ text: Type.String({ description: 'The next piece of the answer.' }) })),
  event('usage', 'UsageEvent', ReflectUsage),
  event('done', 'DoneEvent', strict(reflectConclusion, {
    title: 'ReflectConclusion', description: 'The whole answer.',
  })),
] as const

export type ReflectRequest = Static<typeof ReflectRequest>
export type ReflectAnswer = Static<typeof ReflectAnswer>
export type ReflectEvent = Static<typeof reflectEvents[number]>
