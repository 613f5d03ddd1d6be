import t from 'tap'
import { timeSpans } from '../../../lib/ranking/dates.js'
import { analyzeQuery } from '../../helpers/retrieval.js'

/** A Tuesday. */
const NOW = Date.parse('2026-11-24T10:00:00Z')
const day = (instant: number) => new Date(instant).toISOString().slice(0, 10)
const named = (text: string, now = NOW) => timeSpans(text, now).map(({ from, to }) => `${day(from)} ${day(to)}`)

const cases: Record<string, Record<string, string[]>> = {
  'a season': {
    'Where were we last summer?': ['2026-06-01 2026-09-01'],
    'last winter': ['2025-12-01 2026-03-01'],
    'this autumn': ['2026-09-01 2026-12-01'],
    'this winter': ['2026-12-01 2027-03-01'],
    'next spring': ['2027-03-01 2027-06-01'],
    'summer last year': ['2025-06-01 2025-09-01'],
    'since last summer': ['2026-06-01 2026-11-24'],
    'before the winter of 2024': ['1924-12-01 2024-12-01'],
  },
  'a holiday': {
    'What did we eat on Christmas Eve 2024?': ['2024-12-24 2024-12-25'],
    'last Christmas': ['2025-12-24 2025-12-27'],
    'Christmas last year': ['2025-12-24 2025-12-27'],
    'next Easter': ['2027-03-26 2027-03-30'],
    'Easter 2024': ['2024-03-29 2024-04-02'],
    'Easter of 2038': ['2038-04-23 2038-04-27'],
    'Thanksgiving 2024': ['2024-11-28 2024-11-29'],
    'last Halloween': ['2026-10-31 2026-11-01'],
    'New Year’s Eve 2025': ['2025-12-31 2026-01-01'],
    'Valentine\'s Day 2026': ['2026-02-14 2026-02-15'],
    'this St. Patrick\'s Day': ['2026-03-17 2026-03-18'],
    'next Independence Day': ['2027-07-04 2027-07-05'],
    'Boxing Day 2025': ['2025-12-26 2025-12-27'],
  },
  'a quarter or a half': {
    'What was our revenue in Q1 2026?': ['2026-01-01 2026-04-01'],
    '2025-Q4': ['2025-10-01 2026-01-01'],
    'Q2 of last year': ['2025-04-01 2025-07-01'],
    'the last quarter of 2025': ['2025-10-01 2026-01-01'],
    'last quarter': ['2026-07-01 2026-10-01'],
    'this quarter': ['2026-10-01 2027-01-01'],
    'next quarter': ['2027-01-01 2027-04-01'],
    'the first half of 2025': ['2025-01-01 2025-07-01'],
    'H2 2025': ['2025-07-01 2026-01-01'],
    'the second half of May 2025': ['2025-05-16 2025-06-01'],
  },
  'a part of a month': {
    'the first week of May 2025': ['2025-05-01 2025-05-08'],
    'the last week of February 2024': ['2024-02-23 2024-03-01'],
    'the first weekend of May 2026': ['2026-05-02 2026-05-04'],
    'last weekend of May last year': ['2025-05-31 2025-06-02'],
    'by the end of May 2025': ['1925-05-01 2025-06-01'],
    'since the middle of May 2026': ['2026-05-11 2026-11-24'],
  },
  'a weekday of a month': {
    'the third Thursday of November 2025': ['2025-11-20 2025-11-21'],
    'last Tuesday of May 2026': ['2026-05-26 2026-05-27'],
    'the first Sunday in March last year': ['2025-03-02 2025-03-03'],
  },
  'the leap day': {
    'What did we do on 29 February?': ['2024-02-29 2024-03-01', '2028-02-29 2028-03-01'],
    'on Thursday, February 29th': ['2024-02-29 2024-03-01', '2028-02-29 2028-03-01'],
    'since the 29th of February': ['2024-02-29 2026-11-24'],
    'on February 29, 2020': ['2020-02-29 2020-03-01'],
    '29 February 2026': [],
  },
  'a distance from a time': {
    'What did we do three years before 2020?': ['2017-01-01 2018-01-01'],
    'two years after 2015': ['2017-01-01 2018-01-01'],
    '3 months before 2020': ['2019-10-01 2019-11-01'],
    'a week before Christmas 2025': ['2025-12-17 2025-12-24'],
    'two weeks after Easter 2026': ['2026-04-14 2026-04-21'],
    'the day after Thanksgiving 2025': ['2025-11-28 2025-11-29'],
    'two days after 5 May 2026': ['2026-05-07 2026-05-08'],
    'the days after Thanksgiving 2025': ['2025-11-27 2026-01-27'],
    'a week after the meeting': [],
    'a month before the move': [],
    'two years after the wedding in 2020': ['2020-01-01 2021-01-01'],
  },
  'a week, weekend, month or year before the last': {
    'the week before last': ['2026-11-09 2026-11-16'],
    'the weekend before last': ['2026-11-14 2026-11-16'],
    'the month before last': ['2026-09-01 2026-10-01'],
    'the year before last': ['2024-01-01 2025-01-01'],
    'three weekends ago': ['2026-11-07 2026-11-09'],
  },
  'a range of years': {
    'Where did I live between 2019 and 2022?': ['2019-01-01 2023-01-01'],
    'from 2019 to 2022, in Lyon': ['2019-01-01 2023-01-01'],
    '2019–2022': ['2019-01-01 2023-01-01'],
  },
  'a day by its number': {
    'What happened on the 20th?': ['2026-11-20 2026-11-21', '2026-12-20 2026-12-21'],
    'on the 31st': ['2026-10-31 2026-11-01', '2026-12-31 2027-01-01'],
    'on the 3rd of last month': ['2026-10-03 2026-10-04'],
    'on the 31st of this month': ['2026-11-01 2026-12-01'],
  },
  'several times': {
    'last summer and on Christmas Eve 2024': ['2026-06-01 2026-09-01', '2024-12-24 2024-12-25'],
    'between last summer and yesterday': ['2026-06-01 2026-09-01', '2026-11-23 2026-11-24'],
  },
  'no time': {
    'the fall of Rome': [],
    'Who was there after the fall?': [],
    'in the spring collection': [],
    'Which beans are configured in Spring?': [],
    'the spring framework': [],
    'the Christmas tree': [],
    'an Easter egg hunt': [],
    'the 20th century': [],
    'on the 20th floor': [],
    'on the 3rd attempt': [],
    Q1: [],
    'Q1 question': [],
    'in Q5': [],
    'H1 heading': [],
    'a quarter of an hour': [],
    'the last quarter of the game': [],
    'the first half of the game': [],
    'half of them': [],
    'between 2019 and 2022 items': [],
    'from 2022 to 2019': [],
  },
}
for (const [what, texts] of Object.entries(cases)) {
  t.test(`${what} is recognised`, async (t) => {
    for (const [text, expected] of Object.entries(texts)) t.strictSame(named(text), expected, text)
  })
}

t.test('a period without a year is searched in six years', async (t) => {
  for (const [text, inLastYear] of Object.entries({
    'in the summer': '2025-06-01 2025-09-01',
    'every winter': '2025-12-01 2026-03-01',
    'at Christmas': '2025-12-24 2025-12-27',
    'in Q3': '2025-07-01 2025-10-01',
    'the first week of May': '2025-05-01 2025-05-08',
    'in the first half of June': '2025-06-01 2025-06-16',
    'the second Monday of June': '2025-06-09 2025-06-10',
    'the day before Christmas': '2025-12-23 2025-12-24',
  })) {
    const found = named(text)
    t.equal(found.length, 6, text)
    t.equal(found[3], inLastYear, text)
  }
})

t.test('"this" is the period that contains the reference', async (t) => {
  t.strictSame(named('this winter', Date.parse('2026-02-10T10:00:00Z')), ['2025-12-01 2026-03-01'])
  t.strictSame(named('last winter', Date.parse('2026-02-10T10:00:00Z')), ['2024-12-01 2025-03-01'])
  t.strictSame(named('this Christmas', Date.parse('2026-12-25T10:00:00Z')), ['2026-12-24 2026-12-27'])
})

t.test('a question that only names such a period seeks its memories', async (t) => {
  const sought = (text: string) => (
    analyzeQuery(text, NOW).soughtPeriods.map(({ from, to }) => `${day(from)} ${day(to)}`)
  )
  t.strictSame(sought('What happened last quarter?'), ['2026-07-01 2026-10-01'])
  t.strictSame(sought('What did we do at Christmas?'), ['2025-12-24 2025-12-27', '2026-12-24 2026-12-27'])
  t.strictSame(sought('What did we do in the first week of May 2025?'), ['2025-05-01 2025-05-08'])
  t.strictSame(sought('What did we talk about in our session on 5 May 2025?'), ['2025-05-05 2025-05-06'])
  t.strictSame(sought('What did we do on St. Patrick’s Day?'), ['2026-03-17 2026-03-18', '2027-03-17 2027-03-18'])
  t.strictSame(sought('What happened eleven days ago?'), ['2026-11-13 2026-11-14'])
  t.strictSame(sought('What happened on Sat?').length, 1)
  t.strictSame(sought('What did Patrick do last week?'), [])
  t.strictSame(sought('What happened at the wedding last week?'), [])
  t.strictSame(sought('What happened on Mars last week?'), [])
  t.strictSame(sought('What did Ada cook at Christmas?'), [])
})

t.test('a question about a season to come may be answered by memories of any time', async (t) => {
  t.ok(analyzeQuery('Where should we go in spring?', NOW).asksAboutPresent)
  t.notOk(analyzeQuery('Where did we go in spring?', NOW).asksAboutPresent)
})
