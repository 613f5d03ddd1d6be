import { Type, type Static } from 'typebox'
import { strict, clamped, BankId } from './common.js'
import { MemoryRecord } from './memory-record.js'

const day = (description: string) => Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$', 'x-allowed': 'that is a day as YYYY-MM-DD', description, examples: ['2026-01-31'],
})

export const GrowthQuery = strict({
  days: Type.Optional(clamped('Clamped to 1–366. Default 30.')),
  until: Type.Optional(day('The last day. Default today.')),
})

export const GrowthAnswer = strict({
  bank_id: BankId,
  from: day('The first day.'),
  until: day('The last day.'),
  count_before: Type.Integer({ description: 'Memories that were retained before the first day.' }),
  days: Type.Array(strict({ day: day('In UTC.'), memory_count: Type.Integer() }), { description: 'Every day of the range, in order.' }),
}, { description: 'The memories that the bank has now, by the day on which they were retained.' })

const neighbours = (description: string) => Type.Optional(clamped(`${description} Clamped to 0–50. Default 5.`))

export const NeighboursQuery = strict({ before: neighbours('Memories before it.'), after: neighbours('Memories after it.') })

export const NeighboursAnswer = strict({
  memory: MemoryRecord,
  before: Type.Array(MemoryRecord, { description: 'In the order of the document: the last is next to the memory.' }),
  after: Type.Array(MemoryRecord, { description: 'In the order of the document: the first is next to the memory.' }),
  more_before: Type.Boolean({ description: 'Whether the document has others before these.' }),
  more_after: Type.Boolean({ description: 'Whether the document has others after these.' }),
}, { description: 'A document is in the order of `occurred_at`, else `retained_at`. A memory without `document_id` has no neighbours.' })

export type NeighboursQuery = Static<typeof NeighboursQuery>
export type NeighboursAnswer = Static<typeof NeighboursAnswer>
export type GrowthQuery = Static<typeof GrowthQuery>
export type GrowthAnswer = Static<typeof GrowthAnswer>
