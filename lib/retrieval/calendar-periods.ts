import { DAY_MS, startOfDay, utcDate, WEEK_MS } from '../time/days.js'
import type { TimeSpan } from './open-periods.js'

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
export function inYear (period: Recurring, year: string, reference: number): TimeSpan[] {
  const present = yearOf(reference)
  const [word] = year.toLowerCase().split(' ')
  const offset = ({ last: -1, this: 0, next: 1 } as Readonly<Record<string, number>>)[word!]
  return [period(offset === undefined ? Number(year) : present + offset)]
}

export function everyYear (period: Recurring, reference: number): TimeSpan[] {
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

export function inYearOrEvery (period: Recurring, year: string | undefined, reference: number): TimeSpan[] {
  return year === undefined ? everyYear(period, reference) : inYear(period, year, reference)
}

/** The latest period that is over, the present or the next one, by a word such as `last`, `this` or `next`. */
export function relativePeriod (period: Recurring, word: string, reference: number): TimeSpan[] {
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

export function season (name: string): Recurring {
  const first = SEASONS[name.toLowerCase()]!
  return (year) => months(year, first, 3)
}

/** @param index from 0 */
export function quarter (index: number): Recurring {
  return (year) => months(year, 3 * index, 3)
}

export function halfYear (isFirst: boolean): Recurring {
  return (year) => months(year, isFirst ? 0 : 6, 6)
}

export function halfMonth (isFirst: boolean, month: number): Recurring {
  return (year) => isFirst
    ? { from: utcDate(year, month, 1), to: utcDate(year, month, 16) }
    : { from: utcDate(year, month, 16), to: utcDate(year, month + 1, 1) }
}

/** @param name its first three letters or more @returns the month from 0 */
export function monthOf (name: string): number {
  return SHORT_MONTHS.indexOf(name.slice(0, 3).toLowerCase())
}

/** Seven days of a month, from its first or one of the next; or its last seven. @param place from 0, or `last` */
export function weekOfMonth (place: number | 'last', month: number): Recurring {
  return (year) => {
    const from = place === 'last' ? utcDate(year, month + 1, 1) - WEEK_MS : utcDate(year, month, 1) + place * WEEK_MS
    return { from, to: from + WEEK_MS }
  }
}

/** The Saturday and Sunday of a month, by the place of the Saturday. */
export function weekendOfMonth (place: number | 'last', month: number): Recurring {
  return weekdayOfMonth(place, 6, month, 2)
}

/** @param weekday from 0 for Sunday @param days of the period that begins with it */
export function weekdayOfMonth (place: number | 'last', weekday: number, month: number, days = 1): Recurring {
  return (year) => {
    const week = weekOfMonth(place, month)(year)
    const from = week.from + (weekday - new Date(week.from).getUTCDay() + 7) % 7 * DAY_MS
    return { from, to: from + days * DAY_MS }
  }
}

/** The quarter beside the present one. */
export function relativeQuarter (word: string, reference: number): TimeSpan {
  const offset = /^(?:last|past|previous)$/i.test(word) ? -1 : /^(?:this|current)$/i.test(word) ? 0 : 1
  return quarter(Math.floor(new Date(reference).getUTCMonth() / 3) + offset)(yearOf(reference))
}

/** The unit before the last one: of `week`, the week that began two Mondays before the present week. */
export function beforeLast (unit: string, reference: number): TimeSpan {
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
export function weekendsAgo (count: number, reference: number): TimeSpan {
  const from = mondayOf(reference) - 2 * DAY_MS - (count - 1) * WEEK_MS
  return { from, to: from + 2 * DAY_MS }
}

/** The years from one to another, both included; none when they are in the wrong order. */
export function years (first: number, last: number): TimeSpan[] {
  return first < last ? [months(first, 0, 12 * (last - first + 1))] : []
}

/**
 * A day by its number alone: the latest, and the next.
 * @param word `last`, `this` or `next` before `month`, which names one
 */
export function dayOfMonth (day: number, word: string | undefined, reference: number): readonly TimeSpan[] {
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
export function leapDays (reference: number): readonly TimeSpan[] {
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
