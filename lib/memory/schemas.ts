import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import { BankConfigurationSchema } from '../config/schema.js'
import { BANK_ID_PATTERN } from '../identity/context.js'
import { BANK_ID_IN_WORDS } from '../validation/ids.js'
import { TRUST_LEVELS } from '../identity/trust.js'

/*
 * The records of the wire. They are the types of the library, the validators of the routes, and OpenAPI, in one.
 * Optional request fields may also be null, which means absent; the routes take such nulls out before validation.
 */

export const strict = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) => Type.Object(properties, { additionalProperties: false, ...options })
const nullable = (options: Record<string, unknown> = {}) => Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })
const nullableInstant = (description: string) => nullable({ format: 'date-time', description })
const instant = (description: string) => Type.String({ format: 'date-time', description: `${description} RFC 3339 with an offset.` })
const clamped = (description: string) => Type.Integer({ description })

export const BankId = Type.String({ pattern: BANK_ID_PATTERN, 'x-allowed': BANK_ID_IN_WORDS, description: 'Name of a bank.', examples: ['user-alice'] })
export const MemoryId = Type.String({ format: 'uuid', description: 'UUIDv7.', examples: ['01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'] })
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 100, description: 'An untagged memory never matches a tag filter.' })
export const TagsMatch = Type.Enum(['any', 'all'], { description: 'Whether one tag suffices. Default any.' })
const trust = (description: string) => Type.Enum([...TRUST_LEVELS], { description })
/** A filter that recall and reflect share. */
export const minTrust = Type.Optional(trust('Only memories that are trusted at least so much. Default: all.'))
export const MetadataSchema = Type.Unsafe<Record<string, string | number | boolean | null>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description: 'Flat map to string, number, boolean or null.',
})

const retainFields = {
  content: Type.String({ description: 'The memory\'s text: 1–50,000 characters after trimming, unless the bank\'s barriers say otherwise.', examples: ['Alice prefers tea over coffee.'] }),
  tags: Type.Optional(Tags),
  metadata: Type.Optional(MetadataSchema),
  occurred_at: Type.Optional(instant('When what the memory tells happened.')),
  document_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'The document or conversation that the memory is a part of.' })),
  source: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'Where the memory comes from.' })),
  expires_at: Type.Optional(instant('When the memory ceases to exist; in the future.')),
}

export const RetainItem = strict(retainFields)
export const RetainRequest = strict({ bank_id: BankId, ...retainFields }, { examples: [{ bank_id: 'user-alice', content: 'Alice prefers tea over coffee.', tags: ['preference'] }] })
export const RetainAnswer = strict({
  stored: Type.Boolean({ description: 'False for an exact repeat, and for a near-duplicate that the bank does not take (`signal_quality.dedup`).' }),
  memory_id: MemoryId,
  chunk_count: Type.Integer({ description: 'Passages that the text was split into for search.' }),
  deduplicated: Type.Boolean({ description: 'True when the memory stood already; `memory_id` is its id.' }),
  bank_id: BankId,
  updated: Type.Optional(Type.Boolean({ description: 'True when the content took the place of a near-duplicate, under its id.' })),
  near_duplicate: Type.Optional(strict({
    memory_id: MemoryId,
    similarity: Type.Number({ description: 'Within 0–1.' }),
  }, { description: 'The memory that this one nearly repeats, when the bank looks for such (`signal_quality.dedup`).' })),
  trust: Type.Optional(trust('Of the memory at `memory_id`, when it is less than trusted: `untrusted` by who wrote it, `suspect` when it looks like an instruction to a model or hides text.')),
  redactions: Type.Optional(Type.Array(Type.String(), { description: 'Metadata keys that the bank\'s barriers removed.' })),
})
export const RetainBatchRequest = strict({ bank_id: BankId, items: Type.Array(RetainItem, { minItems: 1, maxItems: 1000 }) }, { examples: [{ bank_id: 'user-alice', items: [{ content: 'Alice lives in Lyon.' }, { content: 'Alice plays the cello.' }] }] })
export const RetainBatchAnswer = strict({ results: Type.Array(RetainAnswer, { description: 'In the order of the items.' }) })

const memoryFields = {
  memory_id: MemoryId,
  bank_id: BankId,
  text: Type.String({ description: 'The whole memory.' }),
  tags: Type.Array(Type.String()),
  metadata: MetadataSchema,
  occurred_at: nullableInstant('When what the memory tells happened.'),
  retained_at: Type.String({ format: 'date-time' }),
  expires_at: nullableInstant('When the memory ceases to exist.'),
  document_id: nullable(),
  source: nullable(),
  trust: trust('How far the memory may be believed, decided when it was written: by who wrote it, and `suspect` when it looks like an instruction to a model or hides text.'),
}

export const MemoryRecord = strict(memoryFields)
const StrategyScore = strict({
  rank: Type.Optional(Type.Integer({ description: 'From 1, among the candidates of the strategy; absent when it was none of them.' })),
  score: Type.Number({ description: 'Within 0–1.' }),
})
const Scores = strict({
  lexical: Type.Optional(StrategyScore),
  semantic: Type.Optional(StrategyScore),
  signals: Type.Optional(Type.Record(Type.String(), Type.Number(), { description: 'What each scorer added, weight included (`retrieval.scorers` in the configuration).' })),
  rerank: Type.Optional(strict({ rank: Type.Integer(), score: Type.Number({ description: 'On the scale of the reranker.' }) })),
}, { description: 'Rank and score per strategy and what the scorers added (`explain`).' })
export const Hit = strict({
  ...memoryFields,
  score: Type.Number({ description: 'Within 0–1; comparable within one answer.' }),
  passages: Type.Optional(Type.Array(strict({
    text: Type.String(),
    start: Type.Integer({ description: 'UTF-16 offset into the text.' }),
    end: Type.Integer({ description: 'UTF-16 offset behind the passage.' }),
    score: Type.Number(),
  }), { description: 'What matched, best first, when the memory was split.' })),
  scores: Type.Optional(Scores),
})

const scope = {
  bank_id: Type.Optional(BankId),
  banks: Type.Optional(Type.Array(BankId, { minItems: 1, maxItems: 64, description: 'Several banks in one ranking; instead of bank_id.' })),
}
export const query = Type.String({ minLength: 1, maxLength: 8192, examples: ['What does Alice drink?'] })

/** What a memory must satisfy. */
const filters = {
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(TagsMatch),
  metadata: Type.Optional(MetadataSchema),
  occurred_after: Type.Optional(instant('Inclusive.')),
  occurred_before: Type.Optional(instant('Exclusive.')),
  as_of: Type.Optional(instant('Only memories retained by then; inclusive.')),
  min_trust: minTrust,
}

const referenceTime = Type.Optional(Type.String({
  format: 'date-time',
  description: 'What relative times in the query, as "yesterday" or "two weeks ago", are counted from; for questions about a conversation of the past. RFC 3339 with an offset. Default now. It moves nothing else: what has expired stays expired.',
}))

/** What bounds a recall: filters, and how much of the ranking is given. */
export const recallBounds = {
  max_results: Type.Optional(clamped('Hits at most; clamped to 1–1000. Default 10.')),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Tokens of all hits together; the first hit that does not fit ends the list.' })),
  ...filters,
  reference_time: referenceTime,
  min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Hits of a lower score are left out.' })),
}

export const RecallRequest = strict({
  query,
  ...scope,
  ...recallBounds,
  rewrite: Type.Optional(Type.Boolean({ description: 'Searches other wordings of the query as well, which the language model thinks of; 501 unless the server has it switched on (`retrieval.rewrite`). Default false.' })),
  model_rerank: Type.Optional(Type.Boolean({ description: 'Has the language model order the best candidates; 501 unless the server has it switched on (`retrieval.model_rerank`). Default false.' })),
  explain: Type.Optional(Type.Boolean({ description: 'Adds `scores` to each hit, and `trace`. Default false.' })),
}, { examples: [{ bank_id: 'user-alice', query: 'What does Alice drink?', max_results: 5 }] })
export const Trace = strict({
  stages: Type.Array(strict({ name: Type.String(), duration_ms: Type.Number() })),
  strategies: Type.Array(strict({ name: Type.String(), weight: Type.Number(), candidates: Type.Integer({ description: 'Candidates that reached the fusion.' }) })),
})
const DEGRADATIONS = ['rewrite', 'semantic', 'rerank'] as const
export const Degraded = Type.Array(Type.Enum([...DEGRADATIONS]), { description: 'What the answer went without, because a model was down or late. Absent when nothing was.' })
export const RecallAnswer = strict({
  hits: Type.Array(Hit),
  total_available: Type.Integer({ description: 'Memories that were candidates after filters, whatever max_results is.' }),
  truncated: Type.Boolean({ description: 'True when max_tokens ended the list.' }),
  usage: strict({ tokens: Type.Integer({ description: 'Tokens (o200k_base) of the hits given.' }) }),
  degraded: Type.Optional(Degraded),
  trace: Type.Optional(Trace),
})

export const ReflectRequest = strict({
  query,
  ...scope,
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Tokens of the answer at most.' })),
  ...filters,
  reference_time: referenceTime,
  include_sources: Type.Optional(Type.Boolean({ description: 'Default true.' })),
  instructions: Type.Optional(Type.String({ minLength: 1, maxLength: 4000, description: 'Wishes for tone, length, language and form of the answer. They add nothing to the evidence.', examples: ['Answer in one sentence, informally.'] })),
  response_schema: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'JSON Schema of an object that the answer is also given as, in `structured`: at most 16 KiB, 8 levels and 256 properties, without references and patterns. 501 when the configured model cannot.' })),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1, description: 'Milliseconds that the answer may take; clamped to what the server allows (`reflect.timeout_ms`).' })),
}, { examples: [{ bank_id: 'user-alice', query: 'What does Alice drink?' }] })
export const ReflectUsage = strict({
  tokens: Type.Integer({ description: 'input_tokens and output_tokens together.' }),
  input_tokens: Type.Integer({ description: 'Of the prompt, as the language model counts them; 0 when none was asked.' }),
  output_tokens: Type.Integer({ description: 'Of what it answered.' }),
  cost: Type.Optional(Type.Number({ description: 'By the `prices` of the configuration; absent when the model has none there.' })),
})
/** What a reflect says beside its sources and cost. */
export const reflectConclusion = {
  answer: Type.String({ description: '`[1]` cites the first of the sources.' }),
  abstained: Type.Boolean({ description: 'True when the memories do not answer the question. When there was no evidence at all, no model was called.' }),
  structured: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description: 'The answer by `response_schema`; absent when it abstained.' })),
  unverified: Type.Optional(Type.Boolean({ description: 'True when no mark of the answer names a source; absent otherwise.' })),
  truncated: Type.Optional(Type.Boolean({ description: 'True when max_tokens cut the answer; absent otherwise.' })),
  degraded: Type.Optional(Type.Array(Type.Enum([...DEGRADATIONS, 'model']), { description: 'What the answer went without. `model`: the language model could not be had, and the answer is sentences of the memories. Absent when nothing was missing.' })),
}
export const ReflectAnswer = strict({
  ...reflectConclusion,
  sources: Type.Array(Hit, { description: 'The evidence, in the order of the marks; empty with include_sources false, and when it abstained.' }),
  usage: ReflectUsage,
})

export const ForgetRequest = strict({
  bank_id: BankId,
  memory_ids: Type.Optional(Type.Array(MemoryId, { minItems: 1, maxItems: 1000 })),
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(TagsMatch),
  scope: Type.Optional(Type.Literal('all', { description: 'The whole bank; asks for `admin`.' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Counts and deletes nothing. Default false.' })),
}, { description: 'Exactly one of memory_ids, tags and scope.', examples: [{ bank_id: 'user-alice', tags: ['preference'], dry_run: true }] })
export const ForgetAnswer = strict({ deleted_count: Type.Integer(), memory_ids: Type.Array(MemoryId, { description: 'Up to 1000.' }) })

const cursor = Type.String({ minLength: 1, maxLength: 1024, description: '`next_cursor` of the page before.' })
const pageFields = { limit: Type.Optional(clamped('Clamped to 1–200. Default 50.')), cursor: Type.Optional(cursor) }
const nextCursor = nullable({ description: 'Null on the last page.' })

export const PageQuery = strict(pageFields)
export const MemoriesQuery = strict({ ...pageFields, tags: Type.Optional(Tags), tags_match: Type.Optional(TagsMatch) })
export const MemoriesAnswer = strict({ memories: Type.Array(MemoryRecord), next_cursor: nextCursor })
const bankFields = { bank_id: BankId, memory_count: Type.Integer(), last_retained_at: nullableInstant('Null when the bank is empty.') }
export const BankAnswer = strict(bankFields)
export const BanksAnswer = strict({ banks: Type.Array(BankAnswer), next_cursor: nextCursor })
export const StatisticsAnswer = strict({
  ...bankFields,
  chunk_count: Type.Integer(),
  pending_embeddings: Type.Optional(Type.Integer({ description: 'Memories whose vectors are still to be made; until then they are found by words. Absent when recall goes by words alone.' })),
  token_count: Type.Integer(),
  first_retained_at: nullableInstant('Of the oldest memory.'),
  first_occurred_at: nullableInstant('Earliest occurred_at.'),
  last_occurred_at: nullableInstant('Latest occurred_at.'),
  tags: Type.Array(strict({ tag: Type.String(), memory_count: Type.Integer() }), { description: 'By falling count; the first 100.' }),
})
export const AdminBanksQuery = strict({ tenant_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })) })
export const AdminBanksAnswer = strict({ banks: Type.Array(strict({ tenant_id: nullable(), ...bankFields })) })

const entityTag = Type.String({ description: 'Entity tag of the configuration, for If-Match; also in the header ETag.', examples: ['"r17"'] })
export const BankConfigAnswer = strict({
  config: BankConfigurationSchema,
  effective: Type.Object(BankConfigurationSchema.properties, { additionalProperties: false, description: 'What is in force for the bank: defaults, the server\'s file, profiles and the bank\'s own configuration together.' }),
  origin: Type.Record(Type.String(), Type.Enum(['default', 'file', 'profile', 'bank']), { description: 'Where each value of `effective` comes from, by its path.', examples: [{ 'homeostasis.recall_max_tokens': 'bank' }] }),
  etag: entityTag,
  updated_at: nullableInstant('Null when the bank has no configuration of its own.'),
  updated_by: nullable({ description: 'The principal who set it.' }),
})
export const BankConfigHistoryAnswer = strict({
  history: Type.Array(strict({
    config: Type.Unsafe<Static<typeof BankConfigurationSchema> | null>({ anyOf: [BankConfigurationSchema, { type: 'null' }], description: 'Null where it was taken back.' }),
    etag: entityTag,
    updated_at: Type.String({ format: 'date-time' }),
    updated_by: nullable(),
  }), { description: 'Newest first; the last 100 changes.' }),
})
export const DeleteBankAnswer = strict({
  bank_id: BankId,
  deleted_count: Type.Integer({ description: 'Memories that were deleted.' }),
  config_deleted: Type.Boolean({ description: 'Whether the bank had a configuration of its own.' }),
})

export const ImportQuery = strict({
  on_conflict: Type.Optional(Type.Enum(['skip', 'overwrite'], { description: 'Default skip.' })),
  config: Type.Optional(Type.Enum(['ignore', 'apply'], { description: 'apply: the configuration that the export carries, if any, takes the place of the bank\'s. Default ignore.' })),
})
export const ImportAnswer = strict({ imported: Type.Integer(), skipped: Type.Integer(), overwritten: Type.Integer() })
/** A line of an export; an import takes the same, with the ids and instants that it knows. */
export const ImportLine = strict({
  text: retainFields.content,
  memory_id: Type.Optional(Type.String({ format: 'uuid7' })),
  bank_id: Type.Optional(Type.String({ description: 'Information only.' })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 100 })),
  metadata: Type.Optional(MetadataSchema),
  occurred_at: retainFields.occurred_at,
  retained_at: Type.Optional(instant('When the memory was first retained. Default now.')),
  expires_at: retainFields.expires_at,
  document_id: retainFields.document_id,
  source: retainFields.source,
  trust: Type.Optional(trust('Lowers the trust that the importer\'s memories have; it cannot raise it.')),
})

const Permission = Type.Enum(['read', 'write', 'forget', 'admin'])
export const WhoamiQuery = strict({ bank_id: Type.Optional(BankId) })
export const WhoamiAnswer = strict({
  principal: nullable(),
  actor: Type.Unsafe<{ type: string, id: string, claims: Record<string, string> } | null>({
    type: ['object', 'null'],
    properties: { type: { type: 'string' }, id: { type: 'string' }, claims: { type: 'object', additionalProperties: { type: 'string' } } },
    required: ['type', 'id', 'claims'],
    additionalProperties: false,
  }),
  tenant_id: nullable(),
  on_behalf_of: nullable(),
  permissions: Type.Optional(Type.Array(strict({ permission: Permission, granted_by: Type.String() }), { description: 'What the caller may do on the bank of ?bank_id=.' })),
})

type Of<S extends TSchema> = Static<S>
export type RetainItem = Of<typeof RetainItem>
export type RetainRequest = Of<typeof RetainRequest>
export type RetainAnswer = Of<typeof RetainAnswer>
export type RetainBatchRequest = Of<typeof RetainBatchRequest>
export type RetainBatchAnswer = Of<typeof RetainBatchAnswer>
export type MemoryRecord = Of<typeof MemoryRecord>
export type Hit = Of<typeof Hit>
export type RecallRequest = Of<typeof RecallRequest>
export type RecallAnswer = Of<typeof RecallAnswer>
export type Trace = Of<typeof Trace>
export type ReflectRequest = Of<typeof ReflectRequest>
export type ReflectAnswer = Of<typeof ReflectAnswer>
export type ForgetRequest = Of<typeof ForgetRequest>
export type ForgetAnswer = Of<typeof ForgetAnswer>
export type PageQuery = Of<typeof PageQuery>
export type MemoriesQuery = Of<typeof MemoriesQuery>
export type MemoriesAnswer = Of<typeof MemoriesAnswer>
export type BankAnswer = Of<typeof BankAnswer>
export type BanksAnswer = Of<typeof BanksAnswer>
export type StatisticsAnswer = Of<typeof StatisticsAnswer>
export type AdminBanksQuery = Of<typeof AdminBanksQuery>
export type AdminBanksAnswer = Of<typeof AdminBanksAnswer>
export type BankConfigAnswer = Of<typeof BankConfigAnswer>
export type BankConfigHistoryAnswer = Of<typeof BankConfigHistoryAnswer>
export type DeleteBankAnswer = Of<typeof DeleteBankAnswer>
export type ImportAnswer = Of<typeof ImportAnswer>
export type ImportLine = Of<typeof ImportLine>
export type WhoamiAnswer = Of<typeof WhoamiAnswer>
