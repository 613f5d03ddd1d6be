import { Type, type Static } from 'typebox'
import { strict, clamped, BankId } from './common.js'

const day = (description: string) => Type.String({ format: 'date', description, examples: ['2026-01-31'] })

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

export type GrowthQuery = Static<typeof GrowthQuery>
export type GrowthAnswer = Static<typeof GrowthAnswer>
