import { Type, type Static, type TObject, type TProperties } from 'typebox'
import { strict, optionalOrUndefined, oneBankOrSeveral, scope, query, filters, referenceTime } from './common.js'
import { Hit, HIT } from './memory-record.js'
import { DEGRADATIONS } from './recall.js'

export type IncludedSources = 'cited' | 'all' | false

export const ReflectRequest = strict({
  query,
  ...scope,
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Maximum tokens of the answer.' })),
  ...filters,
  reference_time: referenceTime,
  include_sources: Type.Optional(Type.Unsafe<IncludedSources | true>({
    enum: ['cited', 'all', true, false],
    description: 'Which sources the answer includes: `cited` (default; `true` means the same), the memories that it ' +
      'cites; `all`, after these also the rest of the evidence; false, none.',
  })),
  instructions: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 4000,
    description: 'Instructions for the tone, length, language and form of the answer. They never count as evidence.',
    examples: ['Answer in one sentence, informally.'],
  })),
  response_schema: Type.Optional(Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description: 'JSON Schema of an object in which the answer is also returned, as `structured`: at most 16 KiB, 8 ' +
      'levels and 256 properties, without references and patterns. 501 when the configured model does not support ' +
      'this.',
  })),
  timeout_ms: Type.Optional(Type.Integer({
    minimum: 1,
    description: 'Maximum milliseconds for the answer; clamped to the limit of the server (`reflect.timeout_ms`).',
  })),
}, {
  ...oneBankOrSeveral,
  title: 'ReflectRequest',
  description: 'A question. Requires exactly one of `bank_id` and `banks`.',
  examples: [{ bank_id: 'user-alice', query: 'What does Alice drink?' }],
})

export const ReflectUsage = strict({
  tokens: Type.Integer({ description: 'The sum of input_tokens and output_tokens.' }),
  input_tokens: Type.Integer({
    description: 'Tokens of the prompt, as the language model counts them; 0 when no model was called.',
  }),
  output_tokens: Type.Integer({ description: 'Tokens of the answer of the language model.' }),
  cost: optionalOrUndefined(Type.Number({
    description: 'Cost according to `prices` in the configuration; absent when the model has no price there.',
  })),
}, { title: 'ReflectUsage', description: 'Tokens and cost of the answer.' })

/** The answer of a reflect without its sources and usage. */
export const reflectConclusion = {
  answer: Type.String({ description: 'The answer; `[1]` cites the first source.' }),
  abstained: Type.Boolean({
    description: 'True when the memories do not answer the question. Without any evidence, no model is called.',
  }),
  structured: optionalOrUndefined(Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'The answer according to `response_schema`; absent when reflect abstained.',
  })),
  unverified: optionalOrUndefined(Type.Boolean({
    description: 'True when no citation in the answer names a source; absent otherwise.',
  })),
  truncated: optionalOrUndefined(Type.Boolean({
    description: 'True when max_tokens cut the answer; absent otherwise.',
  })),
  degraded: optionalOrUndefined(Type.Array(
    Type.Enum([...DEGRADATIONS, 'model'], { title: 'ReflectDegradation' }),
    {
      description: 'What was not available for the answer. `model`: the language model was not available, so the ' +
        'answer consists of sentences from the memories. Absent when nothing was missing.',
    },
  )),
}

export const ReflectSource = strict({
  ...Hit.properties,
  cited: Type.Boolean({ description: 'Whether the answer cites it.' }),
}, {
  title: 'ReflectSource', description: 'A memory that is evidence for an answer.', examples: [{ ...HIT, cited: true }],
})

const sources = Type.Array(ReflectSource, {
  description: 'What the answer cites, in the order of the citation numbers: `[1]` cites the first. With ' +
    '`include_sources: "all"` the rest of the evidence follows in the order of the ranking. Empty with ' +
    '`include_sources: false` and when reflect abstained.',
})

export const ReflectAnswer = strict({
  ...reflectConclusion,
  sources,
  usage: ReflectUsage,
}, {
  title: 'ReflectAnswer',
  description: 'The answer with its sources.',
  examples: [{
    answer: 'Alice drinks tea. [1]',
    abstained: false,
    sources: [{ ...HIT, cited: true }],
    usage: { tokens: 131, input_tokens: 120, output_tokens: 11 },
  }],
})

const event = <const Name extends string, P extends TProperties>(name: Name, title: string, data: TObject<P>) => (
  strict({ event: Type.Literal(name), data }, { title })
)

/** The events of a successful reflect in their order: the name, and the data as JSON. */
export const reflectEvents = [
  event('evidence', 'EvidenceEvent', strict({
    sources: Type.Array(Hit, {
      description: 'The evidence in the order of the ranking, without numbers; empty with `include_sources: false`.',
    }),
  })),
  event('delta', 'DeltaEvent', strict({ text: Type.String({ description: 'The next piece of the answer.' }) })),
  event('usage', 'UsageEvent', ReflectUsage),
  event('done', 'DoneEvent', strict({ ...reflectConclusion, sources }, {
    title: 'ReflectConclusion', description: 'The whole answer with its sources.',
  })),
] as const

export type ReflectRequest = Static<typeof ReflectRequest>
export type ReflectAnswer = Static<typeof ReflectAnswer>
export type ReflectSource = Static<typeof ReflectSource>
export type ReflectEvent = Static<typeof reflectEvents[number]>
