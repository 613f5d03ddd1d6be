import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { spanFilters } from '../../../lib/ranking/search.js'
import { compileFilters } from '../../../lib/stores/filters.js'
import { DAY, memory } from './candidates.js'

const MARCH = { from: Date.UTC(2025, 2), to: Date.UTC(2025, 3) }
const JUNE = { from: Date.UTC(2025, 5), to: Date.UTC(2025, 6) }

t.test('a question without a time needs no second search', async (t) => {
  t.strictSame(spanFilters({ tags: { values: ['a'], match: 'any' } }, []), [])
})

t.test('each time is searched separately, with some days after it, and the other filters still hold', async (t) => {
  const given = { tags: { values: ['a'], match: 'any' as const }, metadata: { n: 1 }, asOf: 5 }
  const filters = spanFilters(given, [MARCH, JUNE])
  t.equal(filters.length, 2)
  for (const [index, span] of [MARCH, JUNE].entries()) {
    const { occurredAfter, occurredBefore, ...rest } = filters[index]!
    t.strictSame(rest, given)
    t.ok(occurredAfter! <= span.from && occurredBefore! > span.to)
  }
})

t.test('too many times, as those of a month without a year, are not searched', async (t) => {
  t.strictSame(spanFilters(
    {}, Array.from({ length: 6 }, (_, year) => ({ from: Date.UTC(2020 + year, 4), to: Date.UTC(2020 + year, 5) })),
  ), [])
})

t.test('a bound of the request is never widened', async (t) => {
  const [filters] = spanFilters({ occurredAfter: MARCH.from + 5 * DAY, occurredBefore: MARCH.from + 6 * DAY }, [MARCH])
  t.strictSame(filters, { occurredAfter: MARCH.from + 5 * DAY, occurredBefore: MARCH.from + 6 * DAY })
})

t.test('a time that the request excludes is not searched', async (t) => {
  t.strictSame(spanFilters({ occurredAfter: Date.UTC(2026, 0) }, [MARCH]), [])
  t.strictSame(spanFilters({ occurredBefore: Date.UTC(2020, 0) }, [MARCH]), [])
})

t.test('the hits of a narrowed search pass the filters of the request too', async () => {
  const instant = fc.integer({ min: 0, max: 100 }).map((days) => Date.UTC(2025, 0) + days * DAY)
  const span =
    fc.tuple(instant, fc.integer({ min: 1, max: 40 })).map(([from, days]) => ({ from, to: from + days * DAY }))
  const bounds = fc.record({ occurredAfter: instant, occurredBefore: instant }, { requiredKeys: [] })
  fc.assert(fc.property(bounds, fc.array(span, { maxLength: 2 }), fc.option(instant), (filters, spans, occurredAt) => {
    const one = memory('a', { occurredAt })
    const passes = compileFilters(filters)?.(one) ?? true
    const narrowed = spanFilters(filters, spans).some((each) => compileFilters(each)!(one))
    if (narrowed) assert.ok(passes)
    const within = occurredAt !== null && spans.some(({ from, to }) => occurredAt >= from && occurredAt < to)
    if (within && passes) assert.ok(narrowed)
  }))
})
