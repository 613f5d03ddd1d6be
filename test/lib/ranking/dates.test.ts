import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { daysToNearestSpan, timeSpans } from '../../../lib/ranking/dates.js'
import { DAY } from './candidates.js'

/** A Thursday. */
const NOW = Date.parse('2026-01-15T10:00:00Z')

/** The spans that a text names, as dates: the first day and the day after the last. */
function named (text: string, reference = NOW): string[] {
  return timeSpans(text, reference).map(({ from, to }) => `${date(from)} ${date(to)}`)
}

function date (instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

const cases: Record<string, Record<string, string[]>> = {
  'a day': {
    'What was served on 7 May 2023?': ['2023-05-07 2023-05-08'],
    'What was served on May 7th, 2023?': ['2023-05-07 2023-05-08'],
    'We met on 7 May,2023.': ['2023-05-07 2023-05-08'],
    'The bill of 2024-02-29': ['2024-02-29 2024-03-01'],
    'The party of 12/31/2023': ['2023-12-31 2024-01-01'],
  },
  'a day without a year is the latest in the past, and the next if it is closer': {
    'What did we do on 5 May?': ['2025-05-05 2025-05-06', '2026-05-05 2026-05-06'],
    'since 5 May': ['2025-05-05 2026-01-15'],
    'What happened on 3 January?': ['2026-01-03 2026-01-04'],
  },
  'a month': {
    'The trip of March 2024': ['2024-03-01 2024-04-01'],
    'in December 2023': ['2023-12-01 2024-01-01'],
    'In June 2021 and May 2022': ['2021-06-01 2021-07-01', '2022-05-01 2022-06-01'],
  },
  'a month beside a word that tells the year': {
    'last June': ['2025-06-01 2025-07-01'],
    'last May': ['2025-05-01 2025-06-01'],
    'next April': ['2026-04-01 2026-05-01'],
    'this March': ['2026-03-01 2026-04-01'],
  },
  'a month or a day beside a word that tells the year apart from it': {
    'What did I do in October last year?': ['2025-10-01 2025-11-01'],
    'last year in October': ['2025-10-01 2025-11-01'],
    'in March of this year': ['2026-03-01 2026-04-01'],
    'next year in May': ['2027-05-01 2027-06-01'],
    'on 5 May last year': ['2025-05-05 2025-05-06'],
    'on May 5th this year': ['2026-05-05 2026-05-06'],
    'last year on the 5th of May': ['2025-05-05 2025-05-06'],
    'since October last year': ['2025-10-01 2026-01-15'],
  },
  'a relative time': {
    'What did I eat yesterday?': ['2026-01-14 2026-01-15'],
    'What is on today?': ['2026-01-15 2026-01-16'],
    'Who comes tomorrow?': ['2026-01-16 2026-01-17'],
    'What did I eat this morning?': ['2026-01-15 2026-01-16'],
    'Who called last night?': ['2026-01-14 2026-01-15'],
    'three days ago': ['2026-01-12 2026-01-13'],
    'last Friday': ['2026-01-09 2026-01-10'],
    'a week ago': ['2026-01-07 2026-01-10'],
    'last week': ['2026-01-05 2026-01-12'],
    'the past two weeks': ['2026-01-01 2026-01-15'],
    'in the past month': ['2025-12-15 2026-01-15'],
    'What did I do in the last three days?': ['2026-01-12 2026-01-15'],
    'the past few days': ['2026-01-12 2026-01-15'],
    'the last couple of days': ['2026-01-13 2026-01-15'],
    'Who called last Fri?': ['2026-01-09 2026-01-10'],
    'Mon chat est parti.': [],
    'The Sun is a newspaper.': [],
    'What is planned for the next two weeks?': ['2026-01-15 2026-01-30'],
    'the next few days': ['2026-01-15 2026-01-19'],
    'the next three months': ['2026-01-15 2026-04-16'],
    'last month': ['2025-12-01 2026-01-01'],
    'last weekend': ['2026-01-10 2026-01-12'],
    'this weekend': ['2026-01-17 2026-01-19'],
    'next month': ['2026-02-01 2026-03-01'],
    'last year': ['2025-01-01 2026-01-01'],
    'two years ago': ['2024-01-01 2025-01-01'],
  },
  'a year or a season': {
    'Where did we live in 2021?': ['2021-01-01 2022-01-01'],
    'In 2019 and 2022': ['2019-01-01 2020-01-01', '2022-01-01 2023-01-01'],
    'the year 2020': ['2020-01-01 2021-01-01'],
    'spring 2024': ['2024-03-01 2024-06-01'],
    'the summer of 2023': ['2023-06-01 2023-09-01'],
    'autumn in 2023': ['2023-09-01 2023-12-01'],
    'Fall 2023': ['2023-09-01 2023-12-01'],
    'winter 2022': ['2022-12-01 2023-03-01'],
  },
  'a range': {
    'from 3 May 2023 to 9 May 2023': ['2023-05-03 2023-05-10'],
    'the fair of 3-5 June 2024': ['2024-06-03 2024-06-06'],
  },
  'no time': {
    'What does Alice like?': [],
    'room 101': [],
    'What does June like?': [],
    'They march on.': [],
    'April has a dog.': [],
    'It costs 1999 dollars.': [],
    'version 2.5': [],
    'She may come, or she may not.': [],
    'May I ask something?': [],
    'They spring up and fall down.': [],
    'Do we offer 24/7 support?': [],
    'What is the 1/2 cup rule?': [],
    'ratio 3/4': [],
    'blood pressure 12/8': [],
    'sun cream SPF 50': [],
    'Sun cream SPF 50': [],
    'I sat next to whom at table 4?': [],
    'Wed them in 3 steps': [],
    'Which 5 may be deleted?': [],
    'may 5 people come?': [],
    'How do I cook for 5 minutes?': [],
    'for about 3 weeks': [],
    '': [],
    '?': [],
  },
}
for (const [what, texts] of Object.entries(cases)) {
  t.test(`${what} is recognised`, async (t) => {
    for (const [text, expected] of Object.entries(texts)) t.strictSame(named(text), expected, text)
  })
}

t.test('a week has seven days, and three when it is so many weeks ago', async (t) => {
  for (const [text, days] of [['last week', 7], ['two weeks ago', 3], ['next week', 7]] as const) {
    const [span, ...more] = timeSpans(text, NOW)
    t.strictSame(more, [])
    t.equal(span!.to - span!.from, days * DAY, text)
  }
})

t.test('a week is that of the calendar, on each of its days', async (t) => {
  for (const reference of [Date.UTC(2026, 0, 12, 1), Date.UTC(2026, 0, 15, 12), Date.UTC(2026, 0, 18, 23)]) {
    t.strictSame(named('What happened last week?', reference), ['2026-01-05 2026-01-12'])
    t.strictSame(named('What is on this week?', reference), ['2026-01-12 2026-01-19'])
    t.strictSame(named('next week', reference), ['2026-01-19 2026-01-26'])
  }
})

t.test('the month of May needs a year, a day or another sign, because "may" is also a verb', async (t) => {
  t.ok(named('in May').includes('2025-05-01 2025-06-01'))
  t.strictSame(named('May 2025'), ['2025-05-01 2025-06-01'])
  t.strictSame(named('You may go in 2023'), ['2023-01-01 2024-01-01'])
  t.strictSame(named('It may rain tomorrow'), ['2026-01-16 2026-01-17'])
})

t.test('a month without a year means that month in several years around the present', async (t) => {
  const spans = named('What happened in March?')
  t.ok(
    spans.includes('2026-03-01 2026-04-01') && spans.includes('2025-03-01 2025-04-01') &&
      spans.includes('2024-03-01 2024-04-01'),
  )
  t.ok(spans.every((span) => /^\d{4}-03-01 \d{4}-04-01$/.test(span)))
})

t.test('"before" and "after" give the time on that side of a date', async (t) => {
  const june = { from: Date.UTC(2024, 5), to: Date.UTC(2024, 6) }
  for (const word of ['before', 'until', 'by']) {
    const [span] = timeSpans(`What did she do ${word} June 2024?`, NOW)
    t.ok(span!.from < june.from && span!.to === june.from, word)
  }
  for (const word of ['after', 'since']) {
    const [span] = timeSpans(`What did she do ${word} June 2024?`, NOW)
    t.ok(span!.from === june.from && span!.to > june.to, word)
  }
})

t.test('relative times are counted from the reference', async (t) => {
  t.strictSame(named('yesterday', Date.UTC(2024, 2, 1)), ['2024-02-29 2024-03-01'])
  t.strictSame(named('yesterday', Date.UTC(2024, 0, 1)), ['2023-12-31 2024-01-01'])
  t.strictSame(named('1 year, 2 months and 3 days ago', Date.UTC(2024, 5, 20)), ['2023-04-01 2023-05-01'])
})

t.test('the distance in days is 0 within a span, and otherwise that to the nearest span', async (t) => {
  const spans = [{ from: 10 * DAY, to: 12 * DAY }, { from: 20 * DAY, to: 21 * DAY }]
  for (const [instant, days] of [[10, 0], [11.5, 0], [9, 1], [5, 5], [18, 2], [20.5, 0]] as const) {
    t.equal(daysToNearestSpan(spans, instant * DAY), days)
  }
  t.ok(Math.abs(daysToNearestSpan(spans, 13 * DAY) - 1) < 1e-6)
  t.equal(daysToNearestSpan([], 0), Infinity)
})

const BEYOND = [
  'in 9999999 weeks', '99999 years ago', 'in 273000 years', 'in 99999999999999999999 days', '31 February 2023',
  '0000-00-00', 'in 9000 years', '3000 years ago',
]

t.test('for any text the spans are few, have a length and are within the range of dates', async () => {
  const words = fc.constantFrom(
    'last', 'next', 'May', 'in', '7', '2023', '2024-02-30', 'March', 'before', 'since', 'ago', 'weeks', '99999',
    'summer', 'to', '-', '/', ',', 'Friday', 'noon', ...BEYOND,
  )
  const text = fc.oneof(fc.array(words, { maxLength: 12 }).map((list) => list.join(' ')), fc.string({
    maxLength: 60, unit: 'grapheme',
  }))
  fc.assert(fc.property(text, (text) => {
    const spans = timeSpans(text, NOW)
    assert.ok(spans.length <= 30)
    for (const { from, to } of spans) {
      assert.ok(from < to, text)
      assert.ok(!Number.isNaN(new Date(from).getTime()) && !Number.isNaN(new Date(to).getTime()))
    }
  }))
})

t.test('times outside the range of dates are ignored', async (t) => {
  for (const text of BEYOND) t.strictSame(timeSpans(text, NOW), [], text)
})

t.test('spans end with the years of four digits, in UTC', async (t) => {
  const last = Date.parse('9999-12-31T12:00:00Z')
  t.strictSame(timeSpans('tomorrow', last), [])
  t.strictSame(timeSpans('today', last), [{ from: Date.UTC(9999, 11, 31), to: Date.parse('9999-12-31T23:59:59.999Z') }])
  t.strictSame(timeSpans('today', last, -10 * DAY / 24), [
    { from: Date.parse('9999-12-31T10:00:00Z'), to: Date.parse('9999-12-31T23:59:59.999Z') },
  ])
})

t.test('a run of durations is read in bounded time', async (t) => {
  for (const unit of ['2 weeks ', '2 weeks     ', ' couple weeks', 'a  couple  of  weeks     and ']) {
    t.type(timeSpans(`2023 ${unit.repeat(40)}`, NOW), Array)
  }
})

await t.test('a period with an open end reaches a hundred years back, or to the reference', async (t) => {
  for (const [text, ...expected] of [
    ['since 2022', '2022-01-01 2026-01-15'],
    ['since the summer of 2023', '2023-06-01 2026-01-15'],
    ['since March 2024', '2024-03-01 2026-01-15'],
    ['since March', '2025-03-01 2026-01-15'],
    ['since 5 March', '2025-03-05 2026-01-15'],
    ['since Friday', '2026-01-09 2026-01-15'],
    ['since yesterday', '2026-01-14 2026-01-15'],
    ['after 2020', '2020-01-01 2026-01-15'],
    ['after March 2027', '2027-03-01 2127-04-02'],
    ['before 2020', '1920-01-01 2020-01-01'],
    ['until March 2022', '1922-03-01 2022-03-01'],
    ['by 5 May 2024', '1924-05-05 2024-05-05'],
    ['since early 2020', '2020-01-01 2026-01-15'],
    ['since late 2020', '2020-09-01 2026-01-15'],
    ['since mid-2020', '2020-05-02 2026-01-15'],
    ['since late March', '2025-03-21 2026-01-15'],
    ['after early May 2024', '2024-05-01 2026-01-15'],
    ['until late March 2022', '1922-03-01 2022-04-01'],
    ['before early 2020', '1920-01-01 2020-05-02'],
    ['by mid March 2022', '1922-03-01 2022-03-22'],
    ['in late 2020', '2020-01-01 2021-01-01'],
    ['from early 2020', '2020-01-01 2021-01-01'],
  ] as const) t.strictSame(named(text), expected, text)
})

await t.test('a period that is said to be shortly before or after a time stays near it', async (t) => {
  t.strictSame(named('shortly before March 2022'), ['2021-12-31 2022-03-01'])
  t.strictSame(named('right after 5 May 2024'), ['2024-05-05 2024-07-05'])
  t.strictSame(named('just before 2020'), ['2019-11-02 2020-01-01'])
  t.strictSame(named('shortly before late March 2022'), ['2021-12-31 2022-04-01'])
  t.ok(named('until late March').includes('2024-12-31 2025-04-01'), 'the year of the month is not known')
  t.ok(named('before March').includes('2025-12-31 2026-03-01'), 'the year of the month is not known')
})

await t.test('months are counted from days that every month has', async (t) => {
  const at = (text: string, day: string) => named(text, Date.parse(`${day}T10:00:00Z`))
  t.same(at('Where was lunch last month?', '2024-05-31'), ['2024-04-01 2024-05-01'])
  t.same(at('last month', '2023-03-29'), ['2023-02-01 2023-03-01'])
  t.same(at('next month', '2024-01-31'), ['2024-02-01 2024-03-01'])
  t.same(at('two months ago', '2024-04-30'), ['2024-02-01 2024-03-01'])
  t.same(at('six months ago', '2024-08-31'), ['2024-02-01 2024-03-01'])
  t.same(at('in the past two months', '2024-04-30'), ['2024-02-28 2024-04-30'])
  t.same(at('yesterday or after last month', '2024-05-31'), ['2024-05-30 2024-05-31', '2024-04-01 2024-05-31'])
})

await t.test('days are those of the calendar at the offset of the reference', async (t) => {
  const hour = 3_600_000
  const spans = (text: string, reference: string, hours: number) => timeSpans(text, Date.parse(reference), hours * hour)
    .map(({ from, to }) => `${new Date(from).toISOString()} ${new Date(to).toISOString()}`)
  t.same(spans('yesterday', '2024-03-01T23:30:00-10:00', -10), ['2024-02-29T10:00:00.000Z 2024-03-01T10:00:00.000Z'])
  t.same(spans('in May 2023', '2024-03-01T23:30:00+02:00', 2), ['2023-04-30T22:00:00.000Z 2023-05-31T22:00:00.000Z'])
})

await t.test('a weekday or a weekend is the latest in the past, and the next if it is closer', async (t) => {
  const friday = Date.parse('2026-01-16T10:00:00Z')
  for (const [text, ...expected] of [
    ['What did we eat on Monday?', '2026-01-12 2026-01-13', '2026-01-19 2026-01-20'],
    ['What did we eat on Wednesday?', '2026-01-14 2026-01-15'],
    ['What did we eat on Friday?', '2026-01-16 2026-01-17'],
    ['What did we eat this Monday?', '2026-01-19 2026-01-20'],
    ['next Monday', '2026-01-19 2026-01-20'],
    ['the coming Monday', '2026-01-19 2026-01-20'],
    ['Monday 19 January', '2026-01-19 2026-01-20'],
    ['How was the weekend?', '2026-01-10 2026-01-12', '2026-01-17 2026-01-19'],
    ['this weekend', '2026-01-17 2026-01-19'],
    ['the coming weekend', '2026-01-17 2026-01-19'],
    ['since the weekend', '2026-01-10 2026-01-16'],
    ['from Monday to Wednesday', '2026-01-12 2026-01-15', '2026-01-19 2026-01-22'],
    ['next Monday to Wednesday', '2026-01-19 2026-01-22'],
  ] as const) t.strictSame(named(text, friday), expected, text)
})

await t.test('the time zone of the process does not matter', async (t) => {
  const { TZ } = process.env
  t.teardown(() => { if (TZ === undefined) delete process.env.TZ; else process.env.TZ = TZ })
  const at = (text: string, reference: string) => named(text, Date.parse(reference))
  for (const zone of ['America/Los_Angeles', 'Asia/Tokyo', 'Pacific/Kiritimati', 'UTC']) {
    process.env.TZ = zone
    for (const time of ['07:30', '23:30']) {
      t.same(at('Who called last night?', `2026-01-15T${time}:00Z`), ['2026-01-14 2026-01-15'], zone)
      t.same(at('What did we eat this month?', `2026-01-31T${time}:00Z`), ['2026-01-01 2026-02-01'], zone)
      t.same(at('What did we eat this year?', `2026-01-01T${time}:00Z`), ['2026-01-01 2027-01-01'], zone)
      t.same(at('What did we eat today?', `2026-03-29T${time}:00Z`), ['2026-03-29 2026-03-30'], zone)
      t.same(at('What did we eat last month?', `2024-05-31T${time}:00Z`), ['2024-04-01 2024-05-01'], zone)
      t.same(at('last Friday', `2026-01-15T${time}:00Z`), ['2026-01-09 2026-01-10'], zone)
    }
  }
})

await t.test('every year is read like the one 400 years later, which has the same calendar', async (t) => {
  const cycle = 146_097 * DAY
  const texts = [
    'last month', 'next year', 'on 10 June', 'last June', 'October last year', 'on Monday', 'the last quarter',
    'in the winter', 'last Christmas', 'last Thanksgiving', 'the first week of May', 'on the 31st', 'on 29 February',
    'from 3 to 5 May', 'three years before Christmas',
  ]
  for (const start of [
    '0009-03-31', '0048-02-29', '0050-06-11', '0099-12-31', '0100-01-01', '0900-07-01', '4000-02-29',
  ]) {
    const reference = Date.parse(start)
    const cycles = Math.trunc((Date.parse('2100-01-01') - reference) / cycle)
    for (const text of texts) {
      const later = timeSpans(text, reference + cycles * cycle)
      const moved = later.map(({ from, to }) => ({ from: from - cycles * cycle, to: to - cycles * cycle }))
      t.strictSame(timeSpans(text, reference), moved, `${text} ${start}`)
    }
  }
})
