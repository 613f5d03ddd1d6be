import {
  beforeLast, dayOfMonth, everyYear, halfMonth, halfYear, inYear, inYearOrEvery, leapDays, MONTH_NAME, monthOf, quarter,
  relativePeriod, relativeQuarter, season, weekdayOfMonth, WEEKDAYS, weekendOfMonth, weekendsAgo, weekOfMonth, years,
} from './calendar-periods.js'
import { HOLIDAY_NAME, holidayIn } from './holidays.js'
import type { TimeSpan } from './open-periods.js'

/** The groups of all rules; each has those of its own pattern. */
interface Groups {
  count: string
  day: string
  end?: string
  first?: string
  from: string
  holiday: string
  index: string
  month: string
  ordinal: string
  season: string
  to: string
  unit: string
  weekday: string
  which: string
  year: string
}

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
