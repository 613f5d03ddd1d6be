import { Type, type Static } from 'typebox'
import { BankConfigurationSchema } from '../../config/schema.js'
import { BANK_CONFIG_HISTORY } from '../../stores/bank-configs.js'
import { PROPOSAL_STATES } from '../../stores/proposals.js'
import { MAX_COUNTED_VALUES } from '../../stores/most-frequent.js'
import {
  strict, clamped, MemoryId, nullable, nullableInstant, trust, BankId, DocumentId, TenantId, pageFields,
  optionalOrUndefined, BANKS_CURSOR, filters, retainedBounds,
} from './common.js'
import { MEMORY, MemoryRecord } from './memory-record.js'
import { GROWTH_DAYS, NEIGHBOURS } from './ranges.js'

const nextCursor = nullable({ description: 'Null on the last page.' })
export const PageQuery = strict(pageFields)
export const MemoriesQuery = strict({
  ...pageFields,
  tags: filters.tags,
  tags_match: filters.tags_match,
  metadata: Type.Optional(Type.String({
    minLength: 2,
    maxLength: 4096,
    description: 'A JSON object of strings, numbers, booleans and nulls. Only memories whose metadata contains all ' +
      'of its members.',
    examples: ['{"topic":"tea"}'],
  })),
  speakers: filters.speakers,
  occurred_after: filters.occurred_after,
  occurred_before: filters.occurred_before,
  ...retainedBounds,
  document_id: Type.Optional(DocumentId),
  as_of: filters.as_of,
  state: filters.state,
  valid_at: filters.valid_at,
  min_trust: filters.min_trust,
  trust: Type.Optional(trust('Only memories of exactly this level.')),
  order: Type.Optional(Type.Enum(['newest', 'oldest'], {
    description: 'Which memories come first. A cursor used with the opposite order continues from its position in ' +
      'the opposite direction. Default newest.',
  })),
  offset: Type.Optional(Type.Integer({
    minimum: 0, maximum: 100_000, description: 'Number of memories to skip, from the start or the cursor. Default 0.',
  })),
  total: Type.Optional(Type.Boolean({ description: 'Adds `total` to the answer. Default false.' })),
})
/** Maximum of `total`: more memories are not counted. */
export const MAX_TOTAL = 100_000

export const MemoriesAnswer = strict({
  memories: Type.Array(MemoryRecord),
  next_cursor: nextCursor,
  total: optionalOrUndefined(strict({
    count: Type.Integer({ description: `Number of memories that pass the filters, counted up to ${MAX_TOTAL}.` }),
    complete: Type.Boolean({ description: 'False when there are more.' }),
  }, { description: 'Present with `?total=true`.' })),
}, {
  title: 'MemoriesPage',
  description: 'A page of memories.',
  examples: [{ memories: [], next_cursor: null }],
})
const bankFields = {
  bank_id: BankId, memory_count: Type.Integer(), last_retained_at: nullableInstant('Null when the bank is empty.'),
}
const BANK = { bank_id: 'user-alice', memory_count: 1, last_retained_at: '2026-01-05T09:30:00.000Z' }
export const BankAnswer = strict(bankFields, { title: 'Bank', description: 'A bank.', examples: [BANK] })
export const BanksAnswer = strict({
  banks: Type.Array(BankAnswer),
  next_cursor: nullable({ description: BANKS_CURSOR }),
}, {
  title: 'BanksPage', description: 'A page of banks.', examples: [{ banks: [BANK], next_cursor: null }],
})

export const StatisticsAnswer = strict({
  ...bankFields,
  chunk_count: Type.Integer(),
  pending_embeddings: optionalOrUndefined(Type.Integer({
    description: 'Number of memories whose vectors have yet to be made; until then, only the lexical strategy finds ' +
      'them. Absent when recall uses only that strategy.',
  })),
  token_count: Type.Integer(),
  first_retained_at: nullableInstant('When the oldest memory was retained.'),
  first_occurred_at: nullableInstant('Earliest occurred_at.'),
  last_occurred_at: nullableInstant('Latest occurred_at.'),
  tags: Type.Array(strict({ tag: Type.String(), memory_count: Type.Integer() }, { title: 'TagCount' }), {
    description: `The ${MAX_COUNTED_VALUES} most frequent tags, in descending order of count.`,
  }),
  speakers: Type.Array(strict({ speaker: Type.String(), memory_count: Type.Integer() }, { title: 'SpeakerCount' }), {
    description: `The ${MAX_COUNTED_VALUES} most frequent speakers, in descending order of count.`,
  }),
}, {
  title: 'BankStatistics',
  description: 'Statistics of a bank.',
  examples: [{
    ...BANK,
    chunk_count: 1,
    token_count: 7,
    first_retained_at: '2026-01-05T09:30:00.000Z',
    first_occurred_at: null,
    last_occurred_at: null,
    tags: [{ tag: 'preference', memory_count: 1 }],
    speakers: [{ speaker: 'Alice', memory_count: 1 }],
  }],
})

export const ProposalsQuery = strict({
  ...pageFields,
  state: Type.Optional(Type.Enum([...PROPOSAL_STATES], { description: 'Default open.' })),
})
export type ProposalsQuery = Static<typeof ProposalsQuery>

const PROPOSAL = {
  id: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e60',
  memory_id: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f',
  may_supersede: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5e',
  because: 'place',
  created_at: '2026-01-05T09:30:00.000Z',
  state: 'open',
  decided_at: null,
  decided_by: null,
} as const
export const ProposalAnswer = strict({
  id: Type.String({ format: 'uuid' }),
  memory_id: MemoryId,
  may_supersede: MemoryId,
  because: Type.String({
    description: 'value, number, negation or place: another one in a statement about the same. near_duplicate: ' +
      'nearly the same words.',
  }),
  created_at: Type.String({ format: 'date-time' }),
  state: Type.Enum([...PROPOSAL_STATES], { title: 'ProposalState' }),
  decided_at: nullableInstant('Null while it is open.'),
  decided_by: nullable({ description: 'The principal; null when the settings of the bank decided.' }),
}, { title: 'Proposal', description: 'That a memory may take the place of an older one.', examples: [PROPOSAL] })
export type ProposalAnswer = Static<typeof ProposalAnswer>
export const ProposalsAnswer = strict({ proposals: Type.Array(ProposalAnswer), next_cursor: nextCursor }, {
  title: 'ProposalsPage',
  description: 'A page of proposals, newest first.',
  examples: [{ proposals: [PROPOSAL], next_cursor: null }],
})
export type ProposalsAnswer = Static<typeof ProposalsAnswer>

export const AdminBanksQuery = strict({ tenant_id: Type.Optional(TenantId('Absent: the banks of all tenants.')) })
const AdminBank = strict({ tenant_id: nullable(), ...bankFields }, {
  title: 'AdminBank', description: 'A bank of a tenant.',
})
export const AdminBanksAnswer = strict({ banks: Type.Array(AdminBank) }, {
  title: 'AdminBanksAnswer',
  description: 'Banks with their tenants.',
  examples: [{ banks: [{ tenant_id: null, ...BANK }] }],
})
const entityTag = Type.String({
  description: 'Entity tag of the configuration, for If-Match; also in the ETag header.',
  examples: ['"hXZQ0b1rmzKq7yTnW5cJfA"'],
})

export const BankConfigAnswer = strict({
  config: BankConfigurationSchema,
  effective: Type.Object(BankConfigurationSchema.properties, {
    additionalProperties: false,
    title: 'BankConfig',
    description: 'The settings in force for the bank: defaults, the server\'s file, profiles and the bank\'s own ' +
      'configuration combined.',
  }),
  origin: Type.Record(
    Type.String(), Type.Enum(['default', 'file', 'profile', 'bank'], { title: 'SettingOrigin' }),
    {
      description: 'Where each value of `effective` comes from, by its path.',
      examples: [{ 'homeostasis.recall_max_tokens': 'bank' }],
    },
  ),
  ceilings: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The operator\'s value of each limit, by its path: the bank may set a tighter one, never a looser ' +
      'one.',
    examples: [{ 'homeostasis.recall_max_tokens': 4000 }],
  }),
  etag: entityTag,
  updated_at: nullableInstant('Null when the bank has no configuration of its own.'),
  updated_by: nullable({ description: 'The principal that set the configuration.' }),
}, {
  title: 'BankConfigAnswer',
  description: 'The bank\'s own configuration, the settings in force, and the origin of each value.',
  examples: [{
    config: { mission: 'Be brief.' },
    effective: { mission: 'Be brief.' },
    origin: { mission: 'bank' },
    ceilings: { 'reflect.max_evidence': 20 },
    etag: '"hXZQ0b1rmzKq7yTnW5cJfA"',
    updated_at: '2026-01-05T09:30:00.000Z',
    updated_by: 'user:alice',
  }],
})

/** Entries of one page; each may have 32 KiB. */
export const CONFIG_HISTORY_PAGE = { min: 1, max: 10, default: 5 } as const

export const ConfigHistoryQuery = strict({
  limit: Type.Optional(clamped('Number of entries in one page.', CONFIG_HISTORY_PAGE)),
  cursor: pageFields.cursor,
})

export const BankConfigHistoryAnswer = strict({
  history: Type.Array(strict({
    config: Type.Unsafe<Static<typeof BankConfigurationSchema> | null>({
      anyOf: [BankConfigurationSchema, { type: 'null' }], description: 'Null when the configuration was reset.',
    }),
    etag: entityTag,
    updated_at: Type.String({ format: 'date-time' }),
    updated_by: nullable(),
  }, { title: 'BankConfigChange' }), {
    description: `Newest first. The last ${BANK_CONFIG_HISTORY} changes are kept.`,
  }),
  next_cursor: nextCursor,
}, {
  title: 'BankConfigHistory',
  description: 'A page of the latest changes of the configuration of a bank.',
  examples: [{ history: [], next_cursor: null }],
})

export const DeleteBankAnswer = strict({
  bank_id: BankId,
  deleted_count: Type.Integer({ description: 'Memories that were deleted.' }),
  config_deleted: Type.Boolean({ description: 'Whether the bank had a configuration of its own.' }),
}, {
  title: 'DeleteBankAnswer',
  description: 'What was deleted.',
  examples: [{ bank_id: 'user-alice', deleted_count: 1, config_deleted: false }],
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
export type ConfigHistoryQuery = Static<typeof ConfigHistoryQuery>
export type BankConfigHistoryAnswer = Static<typeof BankConfigHistoryAnswer>
export type DeleteBankAnswer = Static<typeof DeleteBankAnswer>

const day = (description: string) => Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$', 'x-allowed': 'that is a day as YYYY-MM-DD', description, examples: ['2026-01-31'],
})

export const GrowthQuery = strict({
  days: Type.Optional(clamped('Number of days.', GROWTH_DAYS)),
  until: Type.Optional(day('The last day. Default today.')),
})

export const GrowthAnswer = strict({
  bank_id: BankId,
  from: day('The first day.'),
  until: day('The last day.'),
  count_before: Type.Integer({ description: 'Number of memories that were retained before the first day.' }),
  days: Type.Array(strict({ day: day('In UTC.'), memory_count: Type.Integer() }, { title: 'DayGrowth' }), {
    description: 'Every day of the range, in order.',
  }),
}, {
  title: 'BankGrowth',
  description: 'The number of memories that the bank has now, by the day on which they were retained.',
  examples: [{
    bank_id: 'user-alice',
    from: '2026-01-04',
    until: '2026-01-05',
    count_before: 7,
    days: [{ day: '2026-01-04', memory_count: 0 }, { day: '2026-01-05', memory_count: 3 }],
  }],
})

export const NeighboursQuery = strict({
  before: Type.Optional(clamped('Number of memories before it.', NEIGHBOURS)),
  after: Type.Optional(clamped('Number of memories after it.', NEIGHBOURS)),
})

export const NeighboursAnswer = strict({
  memory: MemoryRecord,
  before: Type.Array(MemoryRecord, {
    description: 'In the order of the document; the last one is adjacent to the memory.',
  }),
  after: Type.Array(MemoryRecord, {
    description: 'In the order of the document; the first one is adjacent to the memory.',
  }),
  more_before: Type.Boolean({ description: 'Whether the document has more memories before these.' }),
  more_after: Type.Boolean({ description: 'Whether the document has more memories after these.' }),
}, {
  title: 'MemoryNeighbours',
  description: 'A memory and its neighbours in the document, which is ordered by `occurred_at`, else `retained_at`. ' +
    'A memory without `document_id` is returned alone.',
  examples: [{ memory: MEMORY, before: [], after: [], more_before: false, more_after: false }],
})

export type NeighboursQuery = Static<typeof NeighboursQuery>
export type NeighboursAnswer = Static<typeof NeighboursAnswer>
export type GrowthQuery = Static<typeof GrowthQuery>
export type GrowthAnswer = Static<typeof GrowthAnswer>
