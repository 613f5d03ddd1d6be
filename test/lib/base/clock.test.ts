import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { formatAtOffset, formatInstant, parseInstant, systemClock, utcOffsetOf } from '../../../lib/base/clock.js'
import { anyUtf16 } from '../../helpers/arbitraries.js'

const VALID: Array<[text: string, utc: string]> = [
  ['2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000Z'],
  ['2026-01-15t10:00:00z', '2026-01-15T10:00:00.000Z'],
  ['2026-01-15T10:00:00.5Z', '2026-01-15T10:00:00.500Z'],
  ['2026-01-15T10:00:00.123456789Z', '2026-01-15T10:00:00.123Z'],
  ['2026-01-15T10:00:00.9999Z', '2026-01-15T10:00:00.999Z'],
  [`2026-01-15T10:00:00.${'5'.repeat(43)}Z`, '2026-01-15T10:00:00.555Z'],
  ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
  ['2026-01-15T10:00:00+00:00', '2026-01-15T10:00:00.000Z'],
  ['2026-01-15T10:00:00-00:00', '2026-01-15T10:00:00.000Z'],
  ['2026-01-15T10:00:00+05:30', '2026-01-15T04:30:00.000Z'],
  ['2026-01-15T10:00:00-08:00', '2026-01-15T18:00:00.000Z'],
  ['2026-01-01T00:00:00+14:00', '2025-12-31T10:00:00.000Z'],
  ['2026-01-15T10:00:00+23:59', '2026-01-14T10:01:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
  ['0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000Z'],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ['0099-12-31T00:00:00Z', '0099-12-31T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['0000-01-01T00:00:00-01:00', '0000-01-01T01:00:00.000Z'],
  // The examples of leap seconds in RFC 3339, section 5.8.
  ['1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000Z'],
  ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
  ['2016-12-31t23:59:60.5z', '2017-01-01T00:00:00.500Z'],
]

const INVALID: Array<[about: string, text: string]> = [
  ['nothing', ''],
  ['a fraction of nine million digits', `2026-01-15T10:00:00.${'5'.repeat(9_000_000)}Z`],
  ['a text of 65 characters', `2026-01-15T10:00:00.${'5'.repeat(44)}Z`],
  ['words', 'yesterday'],
  ['a date alone', '2026-01-15'],
  ['no offset', '2026-01-15T10:00:00'],
  ['no offset, with a fraction', '2026-01-15T10:00:00.000'],
  ['a space for the T', '2026-01-15 10:00:00Z'],
  ['no seconds', '2026-01-15T10:00Z'],
  ['an offset without a colon', '2026-01-15T10:00:00+0100'],
  ['an offset of hours', '2026-01-15T10:00:00+01'],
  ['an offset of 24 hours', '2026-01-15T10:00:00+24:00'],
  ['an offset of 60 minutes', '2026-01-15T10:00:00+01:60'],
  ['a minus of typography', '2026-01-15T10:00:00−08:00'],
  ['an empty fraction', '2026-01-15T10:00:00.Z'],
  ['a comma for the fraction', '2026-01-15T10:00:00,5Z'],
  ['a month 0', '2026-00-15T10:00:00Z'],
  ['a month 13', '2026-13-15T10:00:00Z'],
  ['a day 0', '2026-01-00T10:00:00Z'],
  ['31 April', '2026-04-31T10:00:00Z'],
  ['30 February', '2024-02-30T10:00:00Z'],
  ['29 February of a common year', '2026-02-29T10:00:00Z'],
  ['29 February of a century', '1900-02-29T10:00:00Z'],
  ['hour 24', '2026-01-15T24:00:00Z'],
  ['minute 60', '2026-01-15T10:60:00Z'],
  ['second 60 within a day', '1990-12-31T22:59:60Z'],
  ['second 60 within a month', '1990-12-30T23:59:60Z'],
  ['second 60 at the end of a month elsewhere', '1990-12-31T23:59:60+01:00'],
  ['second 60 with an offset of 60 minutes', '1990-12-31T23:59:60+00:60'],
  ['second 61', '1990-12-31T23:59:61Z'],
  ['a leap second after the year 9999', '9999-12-31T23:59:60Z'],
  ['five digits of a year', '12026-01-15T10:00:00Z'],
  ['a signed year', '+002026-01-15T10:00:00Z'],
  ['Arabic digits', '٢٠٢٦-01-15T10:00:00Z'],
  ['white space around', ' 2026-01-15T10:00:00Z'],
  ['a line feed behind', '2026-01-15T10:00:00Z\n'],
  ['an instant before the year 0 in UTC', '0000-01-01T00:00:00+01:00'],
  ['an instant after the year 9999 in UTC', '9999-12-31T23:59:59-01:00'],
]

t.test('an RFC 3339 date-time with an offset is read', async (t) => {
  for (const [text, utc] of VALID) t.equal(formatInstant(parseInstant(text)!), utc, text)
})

t.test('any other text is refused', async (t) => {
  for (const [about, text] of INVALID) t.equal(parseInstant(text), undefined, about)
})

t.test('every instant that is written can be read', async () => {
  const within = { min: Date.parse('0000-01-01T00:00:00.000Z'), max: Date.parse('9999-12-31T23:59:59.999Z') }
  fc.assert(
    fc.property(fc.integer(within), (instant) => parseInstant(formatInstant(instant)) === instant), { numRuns: 500 },
  )
})

t.test('every instant that is read can be written and read again, whatever its offset was', async (t) => {
  // The first and last days and hours of a year are where an offset leads out of it.
  const two = (max: number) => (
    fc.oneof(fc.integer({ min: 0, max }), fc.constantFrom(0, 1, max - 1)).map((n) => String(n).padStart(2, '0'))
  )
  const year = fc.oneof(fc.integer({ min: 0, max: 9999 }), fc.constantFrom(0, 9999)).map((n) => (
    String(n).padStart(4, '0')
  ))
  const offset = fc.oneof(
    fc.constantFrom('Z', 'z'),
    fc.tuple(fc.constantFrom('+', '-'), two(24), two(60)).map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
  )
  const text = fc.tuple(
    year, two(13), two(32), fc.constantFrom('T', 't'), two(24), two(60), two(60), fc.constantFrom('', '.1', '.0009'),
    offset,
  )
    .map(([y, m, d, T, h, min, s, fraction, z]) => `${y}-${m}-${d}${T}${h}:${min}:${s}${fraction}${z}`)
  let read = 0
  fc.assert(fc.property(text, (text) => {
    const instant = parseInstant(text)
    if (instant === undefined) return true
    read++
    const written = formatInstant(instant)
    return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(written) && parseInstant(written) === instant
  }), { numRuns: 500 })
  t.ok(read > 100, 'enough of the texts are valid')
})

t.test('an instant is written as JavaScript writes it, whatever was written before', async () => {
  const near = fc.constantFrom(0, -1, 999, 1000, -1000, -1001, 1_700_000_000_123, 1_700_000_000_999, 1_700_000_001_000)
  const instant =
    fc.oneof(near, near.map((one) => one + 0.7), fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }))
  fc.assert(fc.property(fc.array(instant), (instants) => {
    for (const one of instants) assert.equal(formatInstant(one), new Date(one).toISOString())
  }))
})

t.test('no text causes an exception', async () => {
  fc.assert(fc.property(anyUtf16, (text) => ['number', 'undefined'].includes(typeof parseInstant(text))))
})

t.test('the system clock returns milliseconds since the epoch', async (t) => {
  const before = Date.now()
  const now = systemClock()
  t.ok(before <= now && now <= Date.now())
})

t.test('an instant is written at an offset', async (t) => {
  const HOUR = 3_600_000
  const instant = Date.parse('2024-03-01T23:30:00Z')
  t.equal(formatAtOffset(instant, 0), '2024-03-01T23:30:00.000Z')
  t.equal(formatAtOffset(instant, 5.75 * HOUR), '2024-03-02T05:15:00.000+05:45')
  t.equal(formatAtOffset(instant, -10 * HOUR), '2024-03-01T13:30:00.000-10:00')
  t.equal(formatAtOffset(Date.parse('9999-12-31T23:59:59Z'), HOUR), '9999-12-31T23:59:59.000Z', 'beyond the years')
  for (const text of ['2024-03-02T05:15:00.000+05:45', '2024-03-01T13:30:00.000-10:00', '2024-03-01T23:30:00.000Z']) {
    t.equal(formatAtOffset(parseInstant(text)!, utcOffsetOf(text)), text)
  }
})
