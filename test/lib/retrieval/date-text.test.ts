import t from 'tap'
import { timeSpans } from '../../../lib/retrieval/dates.js'

const NOW = Date.parse('2026-01-15T10:00:00Z')

function named (text: string): string[] {
  return timeSpans(text, NOW).map(({ from, to }) => `${date(from)} ${date(to)}`)
}

function date (instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

await t.test('short dates and names are read where their words or capitals show what they are', async (t) => {
  for (const [text, ...expected] of [
    ['on 3/4', '2025-03-04 2025-03-05', '2026-03-04 2026-03-05'],
    ['Friday, 3/4', '2026-03-04 2026-03-05'],
    ['from 3/4 to 3/8', '2025-03-04 2025-03-09', '2026-03-04 2026-03-09'],
    ['between 3/4 and 3/8', '2025-03-04 2025-03-09', '2026-03-04 2026-03-09'],
    ['3/4/2025', '2025-03-04 2025-03-05'],
    ['last sun at 4', '2026-01-11 2026-01-12'],
    ['What was on at 4, Sun?', '2026-01-11 2026-01-12', '2026-01-18 2026-01-19'],
    ['on 5 may 2025', '2025-05-05 2025-05-06'],
    ['on 5 may at home', '2025-05-05 2025-05-06', '2026-05-05 2026-05-06'],
    ['on may 5 at home', '2025-05-05 2025-05-06', '2026-05-05 2026-05-06'],
    ['5 may 2025', '2025-05-05 2025-05-06'],
    ['mar 5, 2025', '2025-03-05 2025-03-06'],
    ['for the past 2 weeks', '2026-01-01 2026-01-15'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('dates with dots have the day before the month', async (t) => {
  for (const [text, ...expected] of [
    ['Insurance renewal: 1.12.2026.', '2026-12-01 2026-12-02'],
    ['Was war am 5.6.2026?', '2026-06-05 2026-06-06'],
    ['am 5.6.26', '2026-06-05 2026-06-06'],
    ['since 13.5.2025', '2025-05-13 2026-01-15'],
    ['2024.5.6', '2024-05-06 2024-05-07'],
    ['1.12.2026-3.12.2026', '2026-12-01 2026-12-04'],
    ['5/6/2026', '2026-05-06 2026-05-07'],
    ['5.13.2026'], ['32.1.2026'], ['31.2.2026'], ['Is 10.5.12 the gateway?'], ['v10.5.2012'], ['at 10.12.10.2024'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('a range between two days, or two months, includes both', async (t) => {
  for (const [text, ...expected] of [
    ['between 3 and 5 May 2026', '2026-05-03 2026-05-06'],
    ['between the 3rd and the 5th of May 2026', '2026-05-03 2026-05-06'],
    ['between May 3 and 5, 2026', '2026-05-03 2026-05-06'],
    ['from 3 to 5 May 2026', '2026-05-03 2026-05-06'],
    ['3-5 May 2026', '2026-05-03 2026-05-06'],
    ['between 5.6.2025 and 7.6.2025', '2025-06-05 2025-06-08'],
    ['between March and May 2024', '2024-03-01 2024-06-01'],
    ['between 10 and 12 people'], ['from 10 to 12'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('figures and names of any length are read in bounded time', async (t) => {
  for (const unit of ['1.', '1/', '12/8 ', 'between 3 ', 'may 5 a ', 'Sun ', '1', '.2026-', 'to ', 'sat ']) {
    const began = performance.now()
    timeSpans(unit.repeat(8192 / unit.length), NOW)
    t.ok(performance.now() - began < 1000, unit)
  }
})

await t.test('a month in lower case is read beside a word that shows that the number is a day', async (t) => {
  for (const [text, ...expected] of [
    ['dentist dec 3 at noon', '2025-12-03 2025-12-04'],
    ['what happened march 3 at the office', '2025-03-03 2025-03-04', '2026-03-03 2026-03-04'],
    ['what did I do 5 may 2025 in Paris', '2025-05-05 2025-05-06'],
    ['which 5 may be deleted'],
    ['may 5 people enter'],
    ['What happened Mon 12/25?', '2025-12-25 2025-12-26'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('a range of days without a year is the latest, and the next if it is closer', async (t) => {
  for (const [text, ...expected] of [
    ['between 3 May and 10 May', '2025-05-03 2025-05-11', '2026-05-03 2026-05-11'],
    ['from 3 to 5 May', '2025-05-03 2025-05-06', '2026-05-03 2026-05-06'],
    ['between May and July', '2025-05-01 2025-08-01', '2026-05-01 2026-08-01'],
    ['between 3 and 5 January', '2026-01-03 2026-01-06'],
    ['between 9 and 5 on Monday', '2026-01-12 2026-01-13'],
    ['from 3 to 5 May 2024', '2024-05-03 2024-05-06'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('a direction from a day without a year is as open as from one with a year', async (t) => {
  t.strictSame(named('after 5 May')[0], '2025-05-05 2026-01-15')
  t.match(named('before 5 May')[0], / 2025-05-05$/)
  t.strictSame(timeSpans('on 29 February', Date.parse('2028-01-20T10:00:00Z')).map(({ from }) => date(from)), [
    '2024-02-29', '2028-02-29',
  ])
})
