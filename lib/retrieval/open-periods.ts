import { DAY_MS } from '../time/days.js'

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
const SEVERAL_UNITS = String.raw`(\d{1,3}|${NUMBERS.slice(2).join('|')}) (day|week|month|year)s`
const ONE_UNIT = '(?:an?|one|the) (day|night|week|month|year)'
/** A distance from the time that follows: `three years before 2020`, `the day after Christmas`. */
const DISTANCE = new RegExp(String.raw`\b(?:${SEVERAL_UNITS}|${ONE_UNIT}) (?:before|after) (?:the )?$`, 'i')
/** The length of such a period, and of one beside a month of an unknown year. */
const NEARBY_MS = 60 * DAY_MS
/** The length of a period that is open to the past, or to the future from a time to come: a hundred years. */
const OPEN_PERIOD_MS = 36_525 * DAY_MS
const PARTS = ['early', 'mid', 'late']

/** What the words before a time say about its period. */
export interface Opening {
  /** `before`, `since` and the like. */
  readonly direction: string | undefined
  /** Which third of the time is meant, from 0; undefined for the whole. */
  readonly third: number | undefined
  readonly isNearby: boolean
  readonly distance: Distance | undefined
}

interface Distance {
  readonly count: number
  readonly unit: string
}

/** @param before the text before a time */
export function openingOf (before: string): Opening {
  const [, direction, part] = DIRECTION.exec(before) ?? []
  return {
    direction: direction?.toLowerCase(),
    third: part === undefined ? undefined : PARTS.indexOf(part.toLowerCase()),
    isNearby: NEARBY.test(before),
    distance: distanceOf(before),
  }
}

function distanceOf (before: string): Distance | undefined {
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
export function extendInDirection (
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
