import { DAY_MS, utcDate } from '../time/days.js'
import type { TimeSpan } from './open-periods.js'

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
export const HOLIDAY_NAME = "(?:christmas|xmas)(?: eve| day)?|boxing day|new year['’]?s (?:eve|day)|halloween|" +
  "valentine['’]?s(?: day)?|(?:st\\.? |saint )patrick['’]?s day|independence day|thanksgiving(?: day)?|easter"

/** The days of a holiday: fixed ones, Thanksgiving in the United States, and Easter of the western churches. */
export function holidayIn (year: number, name: string): TimeSpan {
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
