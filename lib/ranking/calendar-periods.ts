import { DAY_MS, startOfDay, utcDate, WEEK_MS } from '../base/days.js'
import type { TimeSpan } from './dates.js'

/** A period that recurs every year, in UTC. */
type Recurring = (year: number) => TimeSpan

/** Years, relative to the present one, in which a period of any year is searched. */
export const RECURRENCES = [-4, -3, -2, -1, 0, 1]
export const MONTHS = [
  'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
  'December',
]
/** The names of months and their short forms, as part of a regular expression. */
export const MONTH_NAME = '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|' +
  'sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
/** The names of weekdays without `day`, from Sunday on. */
export const WEEKDAYS = ['sun', 'mon', 'tues', 'wednes', 'thurs', 'fri', 'satur']
export const WEEKDAYS_FROM_MONDAY = [...WEEKDAYS.slice(1), ...WEEKDAYS.slice(0, 1)]
/** Matches their short names. */
export const SHORT_WEEKDAY = '(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)'
const SHORT_MONTHS = MONTHS.map((month) => month.slice(0, 3).toLowerCase())
/** The month in which a season of the northern hemisphere begins; winter runs into the next year. */
const SEASONS: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 }
/** The most months that lie between two that have a 31st. */
const MAX_MONTHS_WITHOUT_DAY = 2
/** The most years from one 29 February to the next, as from 1896 to 1904. */
const MAX_YEARS_WITHOUT_DAY = 8

/** @param year as text, or `last year`, `this year` or `next year` */
function inYear (period: Recurring, year: string, reference: number): TimeSpan[] {
  const present = yearOf(reference)
  const [word] = year.toLowerCase().split(' ')
  const offset = ({ last: -1, this: 0, next: 1 } as Readonly<Record<string, number>>)[word!]
  return [period(offset === undefined ? Number(year) : present + offset)]
}

function everyYear (period: Recurring, reference: number): TimeSpan[] {
  return RECURRENCES.map((offset) => period(yearOf(reference) + offset))
}

/** Whether the spans are of every year: other names of a time stand for one or two spans. */
export function isEveryYear (spans: readonly TimeSpan[]): boolean {
  return spans.length === RECURRENCES.length
}

/** Of spans in order, the last that has begun and the next. */
export function latestAndNext (spans: readonly TimeSpan[], reference: number): readonly TimeSpan[] {
  const next = spans.findIndex(({ from }) => from > reference)
  return next < 0 ? spans.slice(-1) : spans.slice(Math.max(0, next - 1), next + 1)
}

function inYearOrEvery (period: Recurring, year: string | undefined, reference: number): TimeSpan[] {
  return year === undefined ? everyYear(period, reference) : inYear(period, year, reference)
}

/** The latest period that is over, the present or the next one, by a word such as `last`, `this` or `next`. */
function relativePeriod (period: Recurring, word: string, reference: number): TimeSpan[] {
  const periods = everyYear(period, reference)
  switch (word.toLowerCase()) {
    case 'last': case 'past': case 'previous': return periods.filter(({ to }) => to <= reference).slice(-1)
    case 'this': case 'current': {
      const present = periods.find(({ from, to }) => from <= reference && reference < to)
      return [present ?? period(yearOf(reference))]
    }
    default: return [periods.find(({ from }) => from > reference) ?? period(yearOf(reference) + 1)]
  }
}

function season (name: string): Recurring {
  const first = SEASONS[name.toLowerCase()]!
  return (year) => months(year, first, 3)
}

/** @param index from 0 */
function quarter (index: number): Recurring {
  return (year) => months(year, 3 * index, 3)
}

function halfYear (isFirst: boolean): Recurring {
  return (year) => months(year, isFirst ? 0 : 6, 6)
}

function halfMonth (isFirst: boolean, month: number): Recurring {
  return (year) => isFirst
    ? { from: utcDate(year, month, 1), to: utcDate(year, month, 16) }
    : { from: utcDate(year, month, 16), to: utcDate(year, month + 1, 1) }
}

/** @param name its first three letters or more @returns the month from 0 */
function monthOf (name: string): number {
  return SHORT_MONTHS.indexOf(name.slice(0, 3).toLowerCase())
}

/** Seven days of a month, from its first or one of the next; or its last seven. @param place from 0, or `last` */
function weekOfMonth (place: number | 'last', month: number): Recurring {
  return (year) => {
    const from = place === 'last' ? utcDate(year, month + 1, 1) - WEEK_MS : utcDate(year, month, 1) + place * WEEK_MS
    return { from, to: from + WEEK_MS }
  }
}

/** The Saturday and Sunday of a month, by the place of the Saturday. */
function weekendOfMonth (place: number | 'last', month: number): Recurring {
  return weekdayOfMonth(place, 6, month, 2)
}

/** @param weekday from 0 for Sunday @param days of the period that begins with it */
function weekdayOfMonth (place: number | 'last', weekday: number, month: number, days = 1): Recurring {
  return (year) => {
    const week = weekOfMonth(place, month)(year)
    const from = week.from + (weekday - new Date(week.from).getUTCDay() + 7) % 7 * DAY_MS
    return { from, to: from + days * DAY_MS }
  }
}

/** The quarter beside the present one. */
function relativeQuarter (word: string, reference: number): TimeSpan {
  const offset = /^(?:last|past|previous)$/i.test(word) ? -1 : /^(?:this|current)$/i.test(word) ? 0 : 1
  return quarter(Math.floor(new Date(reference).getUTCMonth() / 3) + offset)(yearOf(reference))
}

/** The unit before the last one: of `week`, the week that began two Mondays before the present week. */
function beforeLast (unit: string, reference: number): TimeSpan {
  const [year, month] = [yearOf(reference), new Date(reference).getUTCMonth()]
  switch (unit.toLowerCase()) {
    case 'year': return months(year - 2, 0, 12)
    case 'month': return months(year, month - 2, 1)
    case 'weekend': return weekendsAgo(2, reference)
    default: {
      const from = mondayOf(reference) - 2 * WEEK_MS
      return { from, to: from + WEEK_MS }
    }
  }
}

/** The Saturday and Sunday before the present week, or so many weeks earlier. @param count from 1 */
function weekendsAgo (count: number, reference: number): TimeSpan {
  const from = mondayOf(reference) - 2 * DAY_MS - (count - 1) * WEEK_MS
  return { from, to: from + 2 * DAY_MS }
}

/** The years from one to another, both included; none when they are in the wrong order. */
function years (first: number, last: number): TimeSpan[] {
  return first < last ? [months(first, 0, 12 * (last - first + 1))] : []
}

/**
 * A day by its number alone: the latest, and the next.
 * @param word `last`, `this` or `next` before `month`, which names one
 */
function dayOfMonth (day: number, word: string | undefined, reference: number): readonly TimeSpan[] {
  const month = new Date(reference).getUTCMonth()
  if (word !== undefined) {
    const offset = ({ last: -1, this: 0 } as Readonly<Record<string, number>>)[word.toLowerCase()] ?? 1
    return dayIn(month + offset, day, reference)
  }
  const around: TimeSpan[] = []
  for (let offset = -MAX_MONTHS_WITHOUT_DAY; offset <= MAX_MONTHS_WITHOUT_DAY; offset++) {
    around.push(...dayIn(month + offset, day, reference))
  }
  return latestAndNext(around, reference)
}

/** The latest 29 February, and the next. */
function leapDays (reference: number): readonly TimeSpan[] {
  const around: TimeSpan[] = []
  for (let year = -MAX_YEARS_WITHOUT_DAY; year <= MAX_YEARS_WITHOUT_DAY; year++) {
    around.push(...dayIn(1 + 12 * year, 29, reference))
  }
  return latestAndNext(around, reference)
}

/** @returns nothing for a day that the month does not have */
function dayIn (month: number, day: number, reference: number): TimeSpan[] {
  const from = utcDate(yearOf(reference), month, day)
  return new Date(from).getUTCDate() === day ? [{ from, to: from + DAY_MS }] : []
}

function months (year: number, first: number, count: number): TimeSpan {
  return { from: utcDate(year, first), to: utcDate(year, first + count) }
}

/** The first day of the week of an instant. */
export function mondayOf (instant: number): number {
  const day = startOfDay(instant)
  return day - (new Date(day).getUTCDay() + 6) % 7 * DAY_MS
}

export function yearOf (instant: number): number {
  return new Date(instant).getUTCFullYear()
}

/** First day of a holiday in a year, as month from 0 and day, and the number of its days. */
type Holiday = (year: number) => readonly [month: number, day: number, days: number]

const THURSDAY = 4

const HOLIDAYS: ReadonlyArray<readonly [name: RegExp, holiday: Holiday]> = [
  [/^(?:christmas|xmas) eve$/, () => [11, 24, 1]],
  [/^(?:christmas|xmas) day$/, () => [11, 25, 1]],
  [/^(?:christmas|xmas)$/, () => [11, 24, 3]],
  [/^boxing day$/, () => [11, 26, 1]],
  [/^new year'?s eve$/, () => [11, 31, 1]],
  [/^new year'?s day$/, () => [0, 1, 1]],
  [/^halloween$/, () => [9, 31, 1]],
  [/^valentine/, () => [1, 14, 1]],
  [/patrick/, () => [2, 17, 1]],
  [/^independence day$/, () => [6, 4, 1]],
  [/^thanksgiving/, (year) => [10, nthWeekday(year, 10, THURSDAY, 4), 1]],
  // From Good Friday to Monday.
  [/^easter$/, (year) => [...easterSunday(year, -2), 4]],
]

/** The names of holidays, as a part of a regular expression that ignores case. */
const HOLIDAY_NAME = "(?:christmas|xmas)(?: eve| day)?|boxing day|new year['’]?s (?:eve|day)|halloween|" +
  "valentine['’]?s(?: day)?|(?:st\\.? |saint )patrick['’]?s day|independence day|thanksgiving(?: day)?|easter"

/** The days of a holiday: fixed ones, Thanksgiving in the United States, and Easter of the western churches. */
function holidayIn (year: number, name: string): TimeSpan {
  const folded = name.toLowerCase().replace('’', "'")
  const [, holiday] = HOLIDAYS.find(([pattern]) => pattern.test(folded))!
  const [month, day, days] = holiday(year)
  const from = utcDate(year, month, day)
  return { from, to: from + days * DAY_MS }
}

/** The day of a month that is its nth such weekday. */
function nthWeekday (year: number, month: number, weekday: number, nth: number): number {
  const first = new Date(utcDate(year, month, 1)).getUTCDay()
  return 1 + (weekday - first + 7) % 7 + (nth - 1) * 7
}

/**
 * Easter Sunday in the Gregorian calendar, by the anonymous algorithm in J. Meeus, "Astronomical Algorithms" (1991),
 * chapter 8.
 * @param offset days that are added
 */
function easterSunday (year: number, offset: number): [month: number, day: number] {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const ofCentury = year % 100
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3)
  const epact = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(ofCentury / 4) - epact - ofCentury % 4) % 7
  const late = Math.floor((golden + 11 * epact + 22 * weekday) / 451)
  const sum = epact + weekday - 7 * late + 114
  return [Math.floor(sum / 31) - 1, sum % 31 + 1 + offset]
}

/** The groups of all rules; each has those of its own pattern. */
type Groups = Partial<Record<'end' | 'first', string>> & Record<
  'count' | 'day' | 'from' | 'holiday' | 'index' | 'month' | 'ordinal' | 'season' | 'to' | 'unit' | 'weekday' |
  'which' | 'year', string
>

interface Rule {
  pattern: RegExp
  /** @returns nothing for what is no time */
  read: (groups: Groups, reference: number) => readonly TimeSpan[]
}

interface NamedPeriod {
  /** Where its name begins in the text. */
  index: number
  spans: readonly TimeSpan[]
}

const MONTH = `(?<month>${MONTH_NAME})\\b`
const DIGITS = '(?:19|20)\\d\\d'
const YEAR = '(?<year>(?:19|20)\\d\\d|(?:last|this|next) year)\\b'
const OF_YEAR = `,? (?:of |in )?${YEAR}`
const WHICH = '(?<which>last|past|previous|this|current|next|coming|upcoming)'
const SEASON = '(?<season>spring|summer|autumn|fall|winter)\\b'
const HOLIDAY = `(?<holiday>${HOLIDAY_NAME})\\b`
const ORDINAL = '(?<ordinal>first|second|third|fourth|last|1st|2nd|3rd|4th)'
const HALF = '(?:(?<first>first|1st)|second|2nd|latter) half of'
const LEAP_DAY = '(?:29(?:th)?(?: of)? feb(?:ruary)?|feb(?:ruary)? 29(?:th)?)\\b'
const WEEKDAY = `(?<weekday>${WEEKDAYS.join('|')})day`
const PLACES: Readonly<Record<string, number>> = {
  first: 0, '1st': 0, second: 1, '2nd': 1, third: 2, '3rd': 2, fourth: 3, '4th': 3,
}
const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6 }
/** What follows a time and not the first part of a compound: `in the spring?`, not `in the spring collection`. */
const END = '(?=[?.!,;:)]|\\s*$| (?:a|an|and|as|at|by|did|do|does|for|from|had|has|have|he|how|i|if|in|is|it|my|on|' +
  'or|our|she|so|than|that|the|they|to|was|we|were|what|when|where|which|who|why|will|with|you|your|last|this|next)\\b)'
/** What was read is replaced by this character, so that the parser of dates does not read a part of it again. */
const READ = '_'

const RULES: readonly Rule[] = [
  // Summer of 2024, last summer, in the summer. "After the fall" tells of an accident, and Spring is a framework.
  rule(`\\b${SEASON}${OF_YEAR}`, (groups, now) => inYear(season(groups.season), groups.year, now)),
  rule(`\\b${WHICH} ${SEASON}${END}`, (groups, now) => relativePeriod(season(groups.season), groups.which, now)),
  rule(`(?<=\\b(?:in|during|over|since|until|around|every) )the ${SEASON}${END}`, (groups, now) => (
    everyYear(season(groups.season), now)
  )),
  rule(`(?<=\\b(?:in|during|since|until|before|after|by|every) )${SEASON}${END}`, (groups, now) => (
    groups.season === 'Spring' ? [] : everyYear(season(groups.season), now)
  )),

  // Christmas 2025, last Christmas, on New Year's Eve; not the Christmas tree.
  rule(`\\b${HOLIDAY}${OF_YEAR}`, ({ holiday, year }, now) => inYear((one) => holidayIn(one, holiday), year, now)),
  rule(`\\b${WHICH} ${HOLIDAY}${END}`, ({ which, holiday }, now) => (
    relativePeriod((year) => holidayIn(year, holiday), which, now)
  )),
  rule(`\\b${HOLIDAY}${END}`, ({ holiday }, now) => everyYear((year) => holidayIn(year, holiday), now)),

  // Q1 2026, 2026-Q1, the first quarter of last year, last quarter, in Q3.
  rule(`\\bq(?<index>[1-4])(?: of|,|/|-)? ?${YEAR}`, ({ index, year }, now) => inYear(quarter(+index - 1), year, now)),
  rule('\\b(?<year>20\\d\\d)[ /-]?q(?<index>[1-4])\\b', ({ index, year }, now) => (
    inYear(quarter(+index - 1), year, now)
  )),
  rule(`\\b${ORDINAL} quarter${OF_YEAR}`, ({ ordinal, year }, now) => (
    inYear(quarter(PLACES[ordinal.toLowerCase()] ?? 3), year, now)
  )),
  rule(`\\b${WHICH} quarter${END}`, ({ which }, now) => [relativeQuarter(which, now)]),
  rule(`(?<=\\b(?:in|during|since|until|before|after|by|for) )q(?<index>[1-4])${END}`, ({ index }, now) => (
    everyYear(quarter(+index - 1), now)
  )),

  // The first half of 2025, H1 2025, the second half of May.
  rule(`\\b${HALF} (?:the year )?${YEAR}`, ({ first, year }, now) => (
    inYear(halfYear(first !== undefined), year, now)
  )),
  rule(`\\bh(?:(?<first>1)|2)[ /-]${YEAR}`, ({ first, year }, now) => inYear(halfYear(first !== undefined), year, now)),
  rule(`\\b${HALF} ${MONTH}(?:${OF_YEAR})?`, ({ first, month, year }, now) => (
    inYearOrEvery(halfMonth(first !== undefined, monthOf(month)), year, now)
  )),

  // The first week of May, the last weekend of June 2025.
  rule(`\\b${ORDINAL} (?:week(?<end>end)?) (?:of|in) ${MONTH}(?:${OF_YEAR})?`, (groups, now) => {
    const { ordinal, end, month, year } = groups
    const inMonth = end === undefined ? weekOfMonth : weekendOfMonth
    return inYearOrEvery(inMonth(PLACES[ordinal.toLowerCase()] ?? 'last', monthOf(month)), year, now)
  }),

  // The third Thursday of November, the last Tuesday of May 2026.
  rule(`\\b${ORDINAL} ${WEEKDAY} (?:of|in) ${MONTH}(?:${OF_YEAR})?`, ({ ordinal, weekday, month, year }, now) => {
    const place = PLACES[ordinal.toLowerCase()] ?? 'last'
    return inYearOrEvery(weekdayOfMonth(place, WEEKDAYS.indexOf(weekday.toLowerCase()), monthOf(month)), year, now)
  }),

  // On 29 February, which the parser reads only near one; not the end of a range.
  rule(`\\b(?:${WEEKDAY},? )?(?<!\\b(?:to|through) |[-–] ?)${LEAP_DAY}` +
    '(?! ?[-–]| (?:to|through|until)\\b|,? ?\\d{4})', (_, now) => leapDays(now)),

  // The week before last, two weekends ago.
  rule('\\b(?<unit>week|weekend|month|year) before last\\b', ({ unit }, now) => [beforeLast(unit, now)]),
  rule('\\b(?<count>an?|one|two|three|four|five|six|[1-9]) weekends? ago\\b', ({ count }, now) => (
    [weekendsAgo(NUMBERS[count.toLowerCase()] ?? Number(count), now)]
  )),

  // Between 2019 and 2022, 2019–2022; not between 2019 and 2022 items, nor in 2019 and 2022.
  rule(`\\b(?:(?:between|from) )?(?<from>${DIGITS})(?:(?<=\\bbetween ${DIGITS}) and | to | until | ?[-–] ?)` +
    `(?<to>${DIGITS})\\b${END}`, ({ from, to }) => years(+from, +to)),

  // On the 20th, by the 3rd of this month; not the 20th floor.
  rule('(?<=\\b(?:on|by|since|until|till|before|after|from) )the (?<day>[0-3]?\\d)(?:st|nd|rd|th)' +
    `(?: of (?:the|(?<which>this|last|next)) month)?${END}`, ({ day, which }, now) => dayOfMonth(+day, which, now)),
]

/**
 * Periods that the parser of dates does not read: seasons, holidays, quarters, halves, weeks of a month, ranges of
 * years and days of a month by their number alone.
 * @param text at most a thousand characters, as each rule searches all of it
 * @returns the periods by their place in the text, and the text without their names, of the same length
 */
export function namedPeriods (text: string, reference: number): { found: NamedPeriod[], rest: string } {
  const found: NamedPeriod[] = []
  let rest = text
  for (const { pattern, read } of RULES) {
    rest = rest.replace(pattern, (match: string, ...more: unknown[]) => {
      const spans = read(more.at(-1) as Groups, reference)
      if (spans.length === 0) return match
      found.push({ index: more.at(-3) as number, spans })
      return READ.repeat(match.length)
    })
  }
  return { found: found.sort((a, b) => a.index - b.index), rest }
}

function rule (source: string, read: Rule['read']): Rule {
  return { pattern: new RegExp(source, 'gi'), read }
}
