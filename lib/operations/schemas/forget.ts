import { Type, type Static } from 'typebox'
import { strict, BankId, MemoryId, memoryFilters, retainedBounds } from './common.js'
import { MemoryRecord } from './memory-record.js'

/** The most ids of a request and of an answer. */
export const MAX_FORGET_IDS = 1000
/** How many memories a dry run shows. */
export const FORGET_SAMPLE_SIZE = 10

const { tags_match: tagsMatch, ...conditions } = { ...memoryFilters, ...retainedBounds }

/** The fields by which a forget selects memories other than by id. */
export const FORGET_FILTERS = Object.keys(conditions) as ReadonlyArray<keyof typeof conditions>

export const ForgetRequest = strict({
  bank_id: BankId,
  memory_ids: Type.Optional(Type.Array(MemoryId, { minItems: 1, maxItems: MAX_FORGET_IDS })),
  ...conditions,
  tags_match: tagsMatch,
  scope: Type.Optional(Type.Literal('all', { description: 'The whole bank; requires the permission `admin`.' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Counts the memories and deletes none. Default false.' })),
}, {
  // The operation checks the choice itself.
  'x-choice': {
    memory_ids: [],
    scope: [],
    ...Object.fromEntries(FORGET_FILTERS.map((name) => [name, FORGET_FILTERS])),
    tags: [...FORGET_FILTERS, 'tags_match'],
  },
  title: 'ForgetRequest',
  description: 'The memories to delete: those of memory_ids, or all (scope), or those that pass every given filter.',
  examples: [{ bank_id: 'user-alice', tags: ['preference'], dry_run: true }],
})

export const ForgetAnswer = strict({
  deleted_count: Type.Integer(),
  memory_ids: Type.Array(MemoryId, {
    description: `Ids of the memories in ascending order, at most ${MAX_FORGET_IDS}.`,
  }),
  sample: Type.Optional(Type.Array(MemoryRecord, {
    description: `The first ${FORGET_SAMPLE_SIZE} memories. Present with dry_run, for a caller that may also read ` +
      'the bank. A repeat with the same idempotency key shows only those that still exist.',
  })),
}, {
  title: 'ForgetAnswer',
  description: 'The deleted memories or, with dry_run, those that would be deleted.',
  examples: [{ deleted_count: 1, memory_ids: ['01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'] }],
})

export type ForgetRequest = Static<typeof ForgetRequest>
export type ForgetAnswer = Static<typeof ForgetAnswer>
