import { stem } from '../text/stems.js'
import { words } from '../text/words.js'
import { latestAndNext } from './calendar-periods.js'
import type { TimeSpan } from './open-periods.js'

/** A query with more names a month without a year. */
const MAX_PERIODS = 4
const NO_PERIODS: readonly TimeSpan[] = []

/** Words of a time, and words that ask for anything at all: `What happened last week?`, `my plans for 5 May`. */
const PERIOD_WORDS = new Set(words(`today tonight yesterday tomorrow day date week weekend month year hour minute morning
  afternoon evening night noon ago last next past this earlier recent recently previous since until till through within now before after during between
  around early late mid middle beginning start end first second third fourth half quarter latter christmas xmas eve
  boxing new st saint easter halloween thanksgiving valentine independence spring summer autumn fall winter monday tuesday
  wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april may june july
  august september october november december jan feb mar apr jun jul aug sep sept oct nov dec one two three four five
  six seven eight nine ten eleven twelve
  thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
  few couple several happen happened go went going gone plan event appointment schedule
  calendar session conversation chat anything something everything all thing activity talk discuss mention tell told
  say said write wrote note memory remember recall know list summary summarize show give else`).map(stem))
/** `Patrick` alone is the name of a person. */
const SAINT = new Set(['st', 'saint'])
const FIGURES = /^(?:\d+(?:st|nd|rd|th)?|[qh]\d)$/

/**
 * The periods of a query that names periods and nothing else, as `What did we do on 5 May?` does: memories of the
 * period answer it even if they share no word with it. Of a month without a year, the latest and the next.
 * @param stems of the query, without stop words
 * @param now the time to which the query refers
 * @returns an empty list for any other query
 */
export function soughtPeriods (
  stems: readonly string[], spans: readonly TimeSpan[], now: number,
): readonly TimeSpan[] {
  if (spans.length === 0 || !namesTimesOnly(stems)) return NO_PERIODS
  if (spans.length <= MAX_PERIODS) return spans
  return latestAndNext(spans.toSorted((a, b) => a.from - b.from), now)
}

/** Whether a text has no words but those of a time, and those that ask for anything at all. */
export function namesTimesOnly (stems: readonly string[]): boolean {
  return stems.every((word, place) => (
    PERIOD_WORDS.has(word) || FIGURES.test(word) || (word === 'patrick' && SAINT.has(stems[place - 1]!))
  ))
}
