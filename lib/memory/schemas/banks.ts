import { Type, type Static } from 'typebox'
import { BankConfigurationSchema } from '../../config/schema.js'
import { strict, nullable, nullableInstant, instant, clamped, trust, BankId } from './common.js'
import { filters } from './filters.js'
import { MemoryRecord } from './memory-record.js'

const cursor = Type.String({ minLength: 1, maxLength: 1024, description: '`next_cursor` of the page before.' })
const pageFields = { limit: Type.Optional(clamped('Clamped to 1–200. Default 50.')), cursor: Type.Optional(cursor) }
const nextCursor = nullable({ description: 'Null on the last page.' })
export const PageQuery = strict(pageFields)
export const MemoriesQuery = strict({
  ...pageFields,
  tags: filters.tags,
  tags_match: filters.tags_match,
  metadata: Type.Optional(Type.String({ minLength: 2, maxLength: 4096, description: 'A JSON object of strings, numbers, booleans and nulls, all of which the memory has.', examples: ['{"topic":"tea"}'] })),
  occurred_after: filters.occurred_after,
  occurred_before: filters.occurred_before,
  retained_after: Type.Optional(instant('Inclusive.')),
  retained_before: Type.Optional(instant('Exclusive.')),
  document_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  min_trust: filters.min_trust,
  trust: Type.Optional(trust('Only memories of exactly this level.')),
  order: Type.Optional(Type.Enum(['newest', 'oldest'], { description: 'Which comes first. With the other order a cursor goes the other way from its place. Default newest.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: 'Memories to pass over, from the start or the cursor. Default 0.' })),
  total: Type.Optional(Type.Boolean({ description: 'Adds `total`. Default false.' })),
})
export const MemoriesAnswer = strict({
  memories: Type.Array(MemoryRecord),
  next_cursor: nextCursor,
  total: Type.Optional(strict({
    count: Type.Integer({ description: 'Memories that pass the filters, counted up to 100000.' }),
    complete: Type.Boolean({ description: 'False when there are more.' }),
  }, { description: 'With ?total=true.' })),
})
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

export type PageQuery = Static<typeof PageQuery>
export type MemoriesQuery = Static<typeof MemoriesQuery>
export type MemoriesAnswer = Static<typeof MemoriesAnswer>
export type BankAnswer = Static<typeof BankAnswer>
export type BanksAnswer = Static<typeof BanksAnswer>
export type StatisticsAnswer = Static<typeof StatisticsAnswer>
export type AdminBanksQuery = Static<typeof AdminBanksQuery>
export type AdminBanksAnswer = Static<typeof AdminBanksAnswer>
export type BankConfigAnswer = Static<typeof BankConfigAnswer>
export type BankConfigHistoryAnswer = Static<typeof BankConfigHistoryAnswer>
export type DeleteBankAnswer = Static<typeof DeleteBankAnswer>
