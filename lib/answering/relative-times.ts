import { DAY_MS } from '../base/days.js'
import { MONTHS, SHORT_WEEKDAY, WEEKDAYS } from '../ranking/calendar-periods.js'
import { timeSpans } from '../ranking/dates.js'

const NUMBER = String.raw`(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)`
const WEEKDAY = `(?:${WEEKDAYS.join('|')})day`
/** Times that only the date of what is said makes sense of. */
const RELATIVE = new RegExp(String.raw`\b(?:${[
  'yesterday|tomorrow|last night',
  String.raw`${NUMBER} (?:days?|weeks?|weekends?|months?|years?) ago`,
  String.raw`the (?:week|weekend|month|year) before last`,
  String.raw`(?:last|next|this(?: past| coming)?|past) (?:week(?:end)?|month|year|spring|summer|autumn|fall|winter)`,
  String.raw`(?:last|next|this(?: past| coming)?) (?:${WEEKDAY}|${SHORT_WEEKDAY}\b\.?|${MONTHS.join('|')})`,
].join('|')})(?![\w-])`, 'gi')
/** The most that one sentence gets, so that the quotation stays readable. */
const MAX_RESOLVED = 2

export function mentionsRelativeTime (text: string): boolean {
  return text.search(RELATIVE) !== -1
}

/**
 * The times of a text that are relative to when it was said, and what they mean as dates: `last month`, `May 2023`.
 * @param said milliseconds since the epoch
 */
export function resolvedTimes (text: string, said: number): Array<{ words: string, means: string }> {
  const resolved: Array<{ words: string, means: string }> = []
  for (const [words] of text.matchAll(RELATIVE)) {
    if (resolved.length >= MAX_RESOLVED) break
    if (resolved.some((known) => known.words.toLowerCase() === words.toLowerCase())) continue
    const means = meaningOf(words, said)
    if (means !== undefined) resolved.push({ words, means })
  }
  return resolved
}

function meaningOf (words: string, said: number): string | undefined {
  const yearsAgo = new RegExp(String.raw`^(${NUMBER}) years? ago$`, 'i').exec(words)
  if (/^(?:last|this|next|past) year$/i.test(words) || yearsAgo !== null) {
    const [span] = timeSpans(words, said)
    return span === undefined ? undefined : String(new Date((span.from + span.to) / 2).getUTCFullYear())
  }
  if (/\bmonths? ago$/i.test(words)) {
    const [span] = timeSpans(words, said)
    return span === undefined ? undefined : monthOf((span.from + span.to) / 2)
  }
  const spans = timeSpans(words.replace(/^this past /i, 'last '), said)
  const [span] = spans
  return spans.length === 1 && span !== undefined ? formatPeriod(span.from, span.to) : undefined
}

/** A day as `17 July 2023`, in UTC. */
export function formatDate (instant: number): string {
  const date = new Date(instant)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

function monthOf (instant: number): string {
  const date = new Date(instant)
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** A half-open period of whole days: a day, a month, a year, or its first and last day. */
function formatPeriod (from: number, to: number): string {
  const [first, last] = [new Date(from), new Date(to - 1)]
  const isSameYear = first.getUTCFullYear() === last.getUTCFullYear()
  const isSameMonth = isSameYear && first.getUTCMonth() === last.getUTCMonth()
  if (to - from <= DAY_MS) return formatDate(from)
  const isWholeMonth = first.getUTCDate() === 1 && new Date(to).getUTCDate() === 1
  if (isWholeMonth && isSameMonth) return monthOf(from)
  if (isWholeMonth && isSameYear && first.getUTCMonth() === 0 && last.getUTCMonth() === 11) {
    return String(first.getUTCFullYear())
  }
  if (isSameMonth) return `${first.getUTCDate()}–${formatDate(to - 1)}`
  const start = isSameYear ? formatDate(from).replace(/ \d+$/, '') : formatDate(from)
  return `${start} – ${formatDate(to - 1)}`
}
