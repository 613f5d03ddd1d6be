import t from 'tap'
import { timeSpans } from '../../../lib/ranking/dates.js'

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
    ['a fortnight ago', '2025-12-31 2026-01-03'],
    ['half a year ago', '2025-07-01 2025-08-01'],
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

await t.test('a range of ISO dates, or between days by their names, includes both ends', async (t) => {
  for (const [text, ...expected] of [
    ['between 2026-01-05 and 2026-01-10', '2026-01-05 2026-01-11'],
    ['between 2026-01-05T10:00:00Z and 2026-01-10T10:00:00Z', '2026-01-05 2026-01-11'],
    ['between 2026-01-05 and today', '2026-01-05 2026-01-16'],
    ['between 2026-01-05 and now', '2026-01-05 2026-01-16'],
    ['from 2026-01-05 until 2026-01-10', '2026-01-05 2026-01-11'],
    ['from 2026-01-05 till 2026-01-10', '2026-01-05 2026-01-11'],
    ['from 2026-01-05 through 2026-01-10', '2026-01-05 2026-01-11'],
    ['from 2026-01-05 until today', '2026-01-05 2026-01-16'],
    ['between Monday and Wednesday', '2026-01-12 2026-01-15'],
    ['between last Monday and today', '2026-01-12 2026-01-16'],
    ['between yesterday and tomorrow', '2026-01-14 2026-01-17'],
    ['until 2026-01-10', '1926-01-10 2026-01-10'],
    ['until 2026-02-30'],
    ['in 2019-20', '2019-01-01 2020-01-01'],
    ['between Monday’s plan and today’s plan', '2026-01-12 2026-01-13', '2026-01-15 2026-01-16'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('hours and minutes up to the present count as the days that they are in', async (t) => {
  for (const [text, ...expected] of [
    ['in the last 24 hours', '2026-01-14 2026-01-15'],
    ['within the last 48 hours', '2026-01-13 2026-01-15'],
    ['the last twenty-four hours', '2026-01-14 2026-01-15'],
    ['the past few hours', '2026-01-15 2026-01-16'],
    ['in the past hour', '2026-01-15 2026-01-16'],
    ['the last 30 minutes', '2026-01-15 2026-01-16'],
    ['the next 24 hours', '2026-01-15 2026-01-17'],
    ['How many hours is my shift?'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('"previous" is read as "last"', async (t) => {
  for (const [text, ...expected] of [
    ['in the previous week', '2026-01-05 2026-01-12'],
    ['the previous two weeks', '2026-01-01 2026-01-15'],
    ['the previous month', '2025-12-01 2026-01-01'],
    ['the previous year', '2025-01-01 2026-01-01'],
    ['on the previous Friday', '2026-01-09 2026-01-10'],
    ['the previous weekend', '2026-01-10 2026-01-12'],
    ['the previous day', '2026-01-14 2026-01-15'],
    ['my previous day job'], ['the previous weekly report'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('numbers of several words are read whole', async (t) => {
  for (const [text, ...expected] of [
    ['twenty-one days ago', '2025-12-25 2025-12-26'],
    ['Thirty one days ago', '2025-12-15 2025-12-16'],
    ['fifteen days ago', '2025-12-31 2026-01-01'],
    ['forty weeks ago', '2025-04-09 2025-04-12'],
    ['twelve days ago', '2026-01-03 2026-01-04'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('figures and names of any length are read in bounded time', async (t) => {
  for (const unit of [
    '1.', '1/', '12/8 ', 'between 3 ', 'between Monday ', 'previous ', 'twenty-', '2026-01-05 until ', 'may 5 a ',
    'Sun ', '1', '.2026-', 'to ', 'sat ',
  ]) {
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
  t.strictSame(named('since the 20th'), ['2025-12-20 2026-01-15'])
  t.strictSame(timeSpans('on 29 February', Date.parse('2028-01-20T10:00:00Z')).map(({ from }) => date(from)), [
    '2024-02-29', '2028-02-29',
  ])
})
