import { Type, type Static } from 'typebox'
import { strict, BankId, MemoryId, Tags, TagsMatch } from './common.js'
import { MemoryRecord } from './memory-record.js'

export const ForgetRequest = strict({
  bank_id: BankId,
  memory_ids: Type.Optional(Type.Array(MemoryId, { minItems: 1, maxItems: 1000 })),
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(TagsMatch),
  scope: Type.Optional(Type.Literal('all', { description: 'The whole bank; asks for `admin`.' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Counts and deletes nothing. Default false.' })),
}, { description: 'Exactly one of memory_ids, tags and scope.', examples: [{ bank_id: 'user-alice', tags: ['preference'], dry_run: true }] })

export const ForgetAnswer = strict({
  deleted_count: Type.Integer(),
  memory_ids: Type.Array(MemoryId, { description: 'Up to 1000.' }),
  sample: Type.Optional(Type.Array(MemoryRecord, { description: 'With dry_run, and for a caller who may also read the bank: the first ten of the memories.' })),
})

export type ForgetRequest = Static<typeof ForgetRequest>
export type ForgetAnswer = Static<typeof ForgetAnswer>
