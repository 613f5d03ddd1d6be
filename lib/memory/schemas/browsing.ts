import { Type, type Static } from 'typebox'
import { strict, clamped, BankId } from './common.js'
import { MEMORY, MemoryRecord } from './memory-record.js'
import { GROWTH_DAYS, NEIGHBOURS } from './ranges.js'

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
