import { FIRST_INSTANT, LAST_INSTANT } from '../base/clock.js'
import { DAY_MS, startOfDay, utcDate, WEEK_MS } from '../base/days.js'
import {
  isEveryYear, latestAndNext, mondayOf, MONTHS, RECURRENCES, SHORT_WEEKDAY, WEEKDAYS_FROM_MONDAY, yearOf, namedPeriods,
} from './calendar-periods.js'
import { parseDates, readableDates, type NamedDate } from './date-parser.js'

/** A period that a text names, in milliseconds since the epoch, half-open. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** A direction, and the third of a month or a year: `since early 2020`. */
const DIRECTION = /\b(before|until|by|after|since|from)\s+(?:the\s+)?(?:(early|mid|late)\s+)?$/i
/** Words before a direction that keep its period near the time that it is open from. */
const NEARBY = new RegExp([
  String.raw`\b(?:days?|nights?|morning|evening|weekend|weeks?|months?|just|right|shortly|soon)\s+`,
  String.raw`(?:before|after)\s+(?:the\s+)?(?:(?:early|mid|late)\s+)?$`,
].join(''), 'i')
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const COUNTED_UNITS = String.raw`(\d{1,3}|${NUMBERS.slice(2).join('|')}) (day|week|month|year)s`
const ONE_UNIT = '(?:an?|one|the) (day|night|week|month|year)'
/** A distance from the time that follows: `three years before 2020`, `the day after Christmas`. */
const DISTANCE = new RegExp(String.raw`\b(?:${COUNTED_UNITS}|${ONE_UNIT}) (?:before|after) (?:the )?$`, 'i')
/** The length of such a period, and of one beside a month of an unknown year. */
const NEARBY_MS = 60 * DAY_MS
/** The length of a period that is open to the past, or to the future from a time to come: a hundred years. */
const OPEN_PERIOD_MS = 36_525 * DAY_MS
const PARTS = ['early', 'mid', 'late']

/** What the words before a time say about its period. */
interface Opening {
  /** `before`, `since` and the like. */
  readonly direction: string | undefined
  /** Which third of the time is meant, from 0; undefined for the whole. */
  readonly third: number | undefined
  readonly isNearby: boolean
  readonly distance: { readonly count: number, readonly unit: string } | undefined
}

/** @param before the text before a time */
function openingOf (before: string): Opening {
  const [, direction, part] = DIRECTION.exec(before) ?? []
  return {
    direction: direction?.toLowerCase(),
    third: part === undefined ? undefined : PARTS.indexOf(part.toLowerCase()),
    isNearby: NEARBY.test(before),
    distance: distanceOf(before),
  }
}

function distanceOf (before: string): Opening['distance'] {
  const found = DISTANCE.exec(before)
  if (found === null) return undefined
  const [, count = 'one', units, unit] = found
  const place = NUMBERS.indexOf(count.toLowerCase())
  return { count: place < 0 ? Number(count) : place, unit: (units ?? unit!).toLowerCase() }
}

/**
 * A span beside a word such as `before` or `since` is open on one side. With `since` and `after` it reaches to the
 * reference, or a hundred years on from a time to come; with `before`, `until` and `by` it reaches a hundred years back
 * and excludes the time itself. At a distance it is as long as the unit: "three years before 2020" is 2017.
 */
function extendInDirection (
  { from, to }: TimeSpan, { direction, third, isNearby, distance }: Opening, reference: number,
): TimeSpan {
  if (distance !== undefined) {
    const { count, unit } = distance
    return direction === 'before'
      ? { from: moved(from, -count, unit), to: moved(from, 1 - count, unit) }
      : { from: moved(to, count - 1, unit), to: moved(to, count, unit) }
  }
  const length = isNearby ? NEARBY_MS : OPEN_PERIOD_MS
  // Thirds are rounded to whole days, so that they overlap instead of leaving out a day.
  const days = (to - from) / DAY_MS / 3
  if (direction === 'before' || direction === 'until' || direction === 'by') {
    return { from: from - length, to: third === undefined ? from : from + Math.ceil((third + 1) * days) * DAY_MS }
  }
  if (direction !== 'after' && direction !== 'since') return { from, to }
  const start = third === undefined ? from : from + Math.floor(third * days) * DAY_MS
  return { from: start, to: isNearby || start > reference ? to + length : Math.max(to, reference) }
}

function moved (instant: number, count: number, unit: string): number {
  if (unit === 'month' || unit === 'year') {
    return new Date(instant).setUTCMonth(new Date(instant).getUTCMonth() + count * (unit === 'year' ? 12 : 1))
  }
  return instant + count * (unit === 'week' ? 7 : 1) * DAY_MS
}

/**
 * A text without any of these words names no time. The check avoids the parser, which is the slowest part of analysing
 * a query.
 */
const TIME_WORD = new RegExp(String.raw`\d|\b(?:${[
  String.raw`(?:last|past|previous|next) (?:[\w-]+ ){0,2}(?:days|hours?|minutes)|previous day`,
  `(?:on|last|next|this|past|since|until|till) ${SHORT_WEEKDAY}`,
  'today|tonight|(?:this|last) (?:morning|afternoon|evening|night)|yesterday|tomorrow|ago',
  'weekend|week|month|quarter|half|year|spring|summer|autumn|fall|winter',
  'christmas|xmas|easter|halloween|thanksgiving|boxing day|valentine|patrick|independence day',
  `(?:${WEEKDAYS_FROM_MONDAY.join('|')})day`,
  MONTHS.join('|').toLowerCase(),
  'jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec',
].join('|')})s?\b`, 'i')
/**
 * The words that make the name of a month a date when no year or day does: `march` and `may` are also verbs, `June` and
 * `April` also names of people.
 */
const IN_MONTH =
  /\b(in|during|of|since|until|by|before|after|from|every|early|late|mid|around|last|next|this|past)\s+$/i
/** Not the verb: `may have`, `may I`. */
const NO_VERB = String.raw`(?! (?:have|be|not|i|we|you|he|she|they|it)\b)`
/** The parser reads a bare `May` as a month only after `in`. */
const BARE_MAY = new RegExp(
  String.raw`\b(last|next|this|past|since|until|before|after|during|by|from|early|late|mid) may\b${NO_VERB}`, 'gi',
)
/** `two weeks`, `couple of days`, `few months`. */
const SEVERAL_UNITS = String.raw`(?:\w+\s+(?:of\s+)?)?(?:minutes|hours|days|weeks|months|years)`
/** Periods that end in the present: `the past two weeks`, `the last few months`, `the past month`. */
const PERIOD = new RegExp(
  String.raw`^(?:the\s+)?(?:(?:past|last)\s+${SEVERAL_UNITS}|past\s+(?:week|month|year)|(?:past|last)\s+hour)\b`, 'i',
)
/** Those that begin in the present: `the next two weeks`. */
const COMING_PERIOD = new RegExp(String.raw`^(?:the\s+)?next\s+${SEVERAL_UNITS}\b`, 'i')
const CALENDAR_WEEK = /^(?:this|last|next) week$/i
/** What precedes a weekday or a weekend to come, besides the words that the parser reads. */
const UPCOMING = /\b(?:coming|upcoming)\s+$/i
const PART_OF_TODAY = /^this (?:morning|afternoon|evening|night)\b/i
/** A distance without the time that it is counted from, which is not the present: `a week after the meeting`. */
const DISTANCE_ALONE = /\b(?:before|after)$/i
/** The second year of `in 2019 and 2022` has no word of its own. */
const SECOND_YEAR_OF_IN = String.raw`(?<=\b(?:in|of|during) \d{4} )(?:and|or)`
/** The year of a whole date is none. */
const YEAR = new RegExp([
  String.raw`\b(in|of|during|since|before|after|by|until|year|early|late|mid|around|${SECOND_YEAR_OF_IN}) `,
  String.raw`((?:19|20)\d\d)\b(?![-/]\d\d?[-/]\d)`,
].join(''), 'gi')
/** Only the beginning of a text is parsed. */
const MAX_CHARACTERS = 1000
/** Only so many bare years of a text are read. */
const MAX_YEARS = 4
/** Only the first spans are kept: room for four times that recur every year. */
const MAX_SPANS = 4 * RECURRENCES.length

/**
 * The times that a text names, by chrono-node: dates, months, years, weekdays and relative times. The bare name of a
 * month counts only next to a year, a day or a word such as `in` or `last`.
 * @param reference the instant that relative times are counted from
 * @param utcOffset of the calendar, in milliseconds east of UTC
 */
export function timeSpans (text: string, reference: number, utcOffset = 0): TimeSpan[] {
  if (!TIME_WORD.test(text)) return []
  // A local time is the UTC time of an instant that is moved by the offset.
  const spans = localTimeSpans(text, reference + utcOffset)
  if (utcOffset === 0) return spans
  return spans.map(({ from, to }) => withinYears({ from: from - utcOffset, to: to - utcOffset }))
}

/**
 * @param isMemory whether it is the text of a memory: of the years that a time without one may mean, those next to the
 * reference then count
 */
function localTimeSpans (text: string, reference: number, isMemory = false): TimeSpan[] {
  const presentYear = yearOf(reference)
  const looked = readableDates(text.slice(0, MAX_CHARACTERS), presentYear).replace(BARE_MAY, '$1 in May')
  const spans: TimeSpan[] = []
  const add = (named: readonly TimeSpan[], opening: Opening) => {
    addSpans(spans, isMemory && isEveryYear(named) ? latestAndNext(named, reference) : named, opening, reference)
  }
  const { found: periods, rest } = namedPeriods(looked, reference)
  for (const { index, spans: named } of periods) {
    const opening = openingOf(looked.slice(0, index))
    // "Since the 20th" begins with the latest.
    add(opening.direction === 'since' && named.length === 2 ? named.slice(0, 1) : named, opening)
  }
  for (const found of parseDates(rest, reference)) {
    const { start } = found
    const year = start.get('year')!
    const month = start.get('month')! - 1
    const day = start.get('day')!
    const before = looked.slice(0, found.index).replace(/\b(?:in\s+)+$/i, '')
    const opening = openingOf(before)
    const { direction, third } = opening
    const isClosest = isMemory || /\b(?:this|next)\b/i.test(found.text) || UPCOMING.test(before)
    const end = found.end
    const from = utcDate(year, month, day)
    let named: TimeSpan[]
    // "From 10 to 12" is most often no time, and names no day; "for 5 minutes" is a duration.
    const isPartOfToday = PART_OF_TODAY.test(found.text)
    if ((isTimeOfDay(start) && !isPartOfToday) || /^for\b/i.test(found.text)) continue
    if (DISTANCE_ALONE.test(found.text)) continue
    if (isPartOfToday) named = [{ from, to: from + DAY_MS }]
    else if (end != null) named = rangeOf(found, from, end, isClosest, reference)
    else if (PERIOD.test(found.text)) named = [{ from, to: Math.max(reference, from + DAY_MS) }]
    else if (COMING_PERIOD.test(found.text)) named = [{ from: startOfDay(reference), to: from + DAY_MS }]
    else if (/\bweeks?\s+ago\b/i.test(found.text)) named = [{ from: from - DAY_MS, to: from + 2 * DAY_MS }]
    else if (CALENDAR_WEEK.test(found.text)) {
      // The parser begins `this week` on a Sunday, which is the day before the week.
      const monday = mondayOf(/^this/i.test(found.text) ? reference : from)
      named = [{ from: monday, to: monday + 7 * DAY_MS }]
    } else if (/\bweeks?\b/i.test(found.text)) named = [{ from: from - 3 * DAY_MS, to: from + 4 * DAY_MS }]
    else if (/\bweekends?\b/i.test(found.text)) {
      const saturday = from - (new Date(from).getUTCDay() === 0 ? DAY_MS : 0)
      named = (isClosest ? [saturday] : closest(found, saturday, opening, reference))
        .map((one) => ({ from: one, to: one + 2 * DAY_MS }))
    } else if (/\bmonths?\b/i.test(found.text)) named = [{ from: utcDate(year, month), to: utcDate(year, month + 1) }]
    else if (/\byears?\b/i.test(found.text)) named = [{ from: utcDate(year, 0), to: utcDate(year + 1, 0) }]
    else if (start.isCertain('day') || start.isCertain('weekday')) {
      named = (isClosest ? [from] : closest(found, from, opening, reference))
        .map((one) => ({ from: one, to: one + DAY_MS }))
    } else if (start.isCertain('month')) {
      const word = (third === undefined ? IN_MONTH.exec(before)?.[1]?.toLowerCase() : direction) ??
        (before.length < found.index || /^in\b/i.test(found.text) ? 'in' : undefined)
      if (word === undefined && !start.isCertain('year')) continue
      const years = start.isCertain('year') ? [year] : yearsOfMonth(word!, month, reference)
      named = years.map((one) => ({ from: utcDate(one, month), to: utcDate(one, month + 1) }))
    } else continue
    add(named, opening)
    if (spans.length >= MAX_SPANS) break
  }
  return spans.length > 0 ? spans.slice(0, MAX_SPANS) : yearsIn(looked, reference)
}

function addSpans (spans: TimeSpan[], named: readonly TimeSpan[], opening: Opening, reference: number): void {
  // One that recurs every year has no open end.
  const side = isEveryYear(named) ? { ...opening, isNearby: true } : opening
  for (const span of named) {
    const extended = withinYears(extendInDirection(span, side, reference))
    // `In 9000 years` leads beyond them.
    if (extended.from < extended.to) spans.push(extended)
  }
}

/** The part of a span that lies in the years of four digits: no memory can have another time. */
function withinYears ({ from, to }: TimeSpan): TimeSpan {
  return { from: Math.max(from, FIRST_INSTANT), to: Math.min(to, LAST_INSTANT) }
}

function isTimeOfDay (start: NamedDate['start']): boolean {
  return start.isCertain('hour') && !start.isCertain('day') && !start.isCertain('weekday') &&
    !start.isCertain('month') && !start.isCertain('year')
}

/** A range of days; one of the future without a year, or between weekdays, may also be that before it. */
function rangeOf (
  { start }: NamedDate, from: number, end: NamedDate['start'], isClosest: boolean, reference: number,
): TimeSpan[] {
  // "Between 9 and 5 on Monday" has hours, and its end is not a day.
  if (start.isCertain('hour') && start.get('weekday') === end.get('weekday') && !end.isCertain('day')) {
    return [{ from, to: from + DAY_MS }]
  }
  const range = { from, to: dayAfter(end) }
  if (from <= reference || isClosest || [start, end].some((one) => one.isCertain('year'))) return [range]
  if (isOnlyWeekday(start)) return [{ from: from - WEEK_MS, to: range.to - WEEK_MS }, range]
  if (!start.isCertain('month')) return [range]
  return [{ from: new Date(from).setUTCFullYear(start.get('year')! - 1), to: dayAfter(end, -1) }, range]
}

/** The day after the last of a range, which may end with a month. */
function dayAfter (end: NamedDate['start'], years = 0): number {
  const [year, month] = [end.get('year')! + years, end.get('month')!]
  const isMonth = end.isCertain('month') && !end.isCertain('day')
  return isMonth ? utcDate(year, month) : utcDate(year, month - 1, end.get('day')! + 1)
}

/**
 * The days that a day without a year, or a weekday, can mean. The parser takes the closest; if that is in the future,
 * the latest in the past may be meant as well.
 */
function closest ({ start }: NamedDate, from: number, { direction }: Opening, reference: number): number[] {
  const isWholeDate = start.isCertain('day') && (start.isCertain('weekday') || start.isCertain('year'))
  if (from <= reference || isWholeDate) return [from]
  const isLeapDay = start.get('month') === 2 && start.get('day') === 29
  const past = isOnlyWeekday(start)
    ? from - WEEK_MS
    : new Date(from).setUTCFullYear(start.get('year')! - (isLeapDay ? 4 : 1))
  return direction === 'since' ? [past] : [past, from]
}

function isOnlyWeekday (start: NamedDate['start']): boolean {
  return start.isCertain('weekday') && !start.isCertain('day')
}

/** The years to try for a month without a year, by the word before the month. */
function yearsOfMonth (word: string, month: number, reference: number): number[] {
  const [year, present] = [yearOf(reference), new Date(reference).getUTCMonth()]
  if (word === 'last' || word === 'past') return [month < present ? year : year - 1]
  if (word === 'since') return [month <= present ? year : year - 1]
  if (word === 'next') return [month > present ? year : year + 1]
  return word === 'this' ? [year] : RECURRENCES.map((offset) => year + offset)
}

/** Bare years, which the parser does not read. */
function yearsIn (text: string, reference: number): TimeSpan[] {
  return [...text.matchAll(YEAR)].slice(0, MAX_YEARS).map(({ index, 1: word, 2: digits }) => {
    const year = Number(digits)
    const before = `${text.slice(0, index)}${word} `
    const span = { from: utcDate(year, 0), to: utcDate(year + 1, 0) }
    return extendInDirection(span, openingOf(before), reference)
  })
}

/** A year, a month by its name, or a date in figures. */
const EXPLICIT = new RegExp([
  String.raw`\b(?:19|20)\d\d\b`,
  String.raw`\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b`,
  String.raw`\b(?:${MONTHS.join('|')})\b`,
].join('|'))

/**
 * The absolute times that a memory's text names, in UTC. Relative ones (`yesterday`) are skipped: they lie near the
 * time of the memory itself, and the parser is too slow to run on every text.
 * @param reference the time of the memory
 */
export function explicitTimes (text: string, reference: number): TimeSpan[] {
  return EXPLICIT.test(text.slice(0, MAX_CHARACTERS)) ? localTimeSpans(text, reference, true) : []
}

/** Days between an instant and the nearest of the spans; 0 within one, Infinity when there is none. */
export function daysToNearestSpan (spans: readonly TimeSpan[], instant: number): number {
  let nearest = Infinity
  for (const { from, to } of spans) {
    const distance = instant < from ? from - instant : instant >= to ? instant - to + 1 : 0
    if (distance < nearest) nearest = distance
  }
  return nearest / DAY_MS
}
