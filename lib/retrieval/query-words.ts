import { stem } from '../text/stems.js'
import { words } from '../text/words.js'
import { latestAndNext } from './calendar-periods.js'
import type { TimeSpan } from './open-periods.js'

/** What the wording of a query asks for, as far as it decides which of its words only frame it. */
interface QueryForm {
  readonly asksForAssistantTurn: boolean
  readonly asksForMethod: boolean
  readonly asksForAdvice: boolean
}

/** Words that only frame a query and that its answer need not contain. */
const FRAME_WORDS = stemsOf(`something anything someone anyone might also many much ever both different various certain
  specific main currently usually exactly really mention discuss describe according regarding including considering`)
/**
 * Verbs that say little without their object: a memory that answers `How do I get to the office?` says `ride` or
 * `walk`, and one with `get` in it has it by chance. `make` and `take` are not among them, because what was made or
 * which steps were taken is often told with the same verb.
 */
const LIGHT_VERBS = stemsOf('get give go come keep put let find happen')
/** `going to` marks the future, in the statement of a plan as well as in a query about it. */
const FUTURE = /\bgoing to\b/i
const GO = stem('go')
const KIND_OF = /\b(?:kinds?|types?|sorts?) of\b/i
const KIND_WORDS = stemsOf('kind type sort')
/** The unit of the time that is asked for: `What time of day`, `On which days`. An answer says `at noon`. */
const TIME_UNIT = new RegExp([
  String.raw`\b(?:what|which)\s+(?:[a-z]+\s+)?(times?|dates?|days?|weeks?|months?|years?)\b`,
  String.raw`(?:\s+of\s+(?:the\s+)?(day|week|month|year)\b)?`,
].join(''), 'gi')
/** Words that only mark a request for advice. */
const ADVICE_WORDS = stemsOf('suggest recommend suggestion recommendation tips advice ideas help please give find ' +
  'interesting good best great nice')
/** Words that only mark a query for what an assistant said. */
const ASSISTANT_STATEMENT_WORDS = stemsOf(`recommend recommendation suggest suggestion advise advice tell told say said
  explain provide give gave remind previous earlier conversation chat discussion talk`)
/** Words that only mark a query for how something was or is to be done. */
const METHOD_WORDS = stemsOf('approach approaches way ways method methods strategy strategies step steps plan plans')

/** A query with more names a month without a year. */
const MAX_PERIODS = 4
const NO_PERIODS: readonly TimeSpan[] = []

/** Words of a time, and words that ask for anything at all: `What happened last week?`, `my plans for 5 May`. */
const PERIOD_WORDS = stemsOf(`today tonight yesterday tomorrow day date week weekend month year hour minute morning
  afternoon evening night noon ago last next past this earlier recent recently previous since until till through
  within now before after during between around early late mid middle beginning start end first second third fourth
  half quarter latter christmas xmas eve boxing new st saint easter halloween thanksgiving valentine independence
  spring summer autumn fall winter monday tuesday wednesday thursday friday saturday sunday january february march
  april may june july august september october november december one two three four five six seven eight nine ten
  eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy
  eighty ninety few couple several happen happened go went going gone plan event appointment schedule calendar session
  conversation chat anything something everything all thing activity talk discuss mention tell told say said write
  wrote note memory remember recall know list summary summarize show give else`)
/** Short names of days and months, which are stems of other words too: of `wedding`, `Mars` and `sunny`. */
const SHORT_NAMES = new Set(words(`mon tue tues wed thu thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov
  dec`))
/** `Patrick` alone is the name of a person. */
const SAINT = new Set(['st', 'saint'])
const FIGURES = /^(?:\d+(?:st|nd|rd|th)?|[qh]\d)$/

/**
 * Finds the words that only frame a query. They are terms only when the query has no others.
 * @returns whether a stem of the query is one of them
 */
export function frameWordsOf (
  text: string, { asksForAssistantTurn, asksForMethod, asksForAdvice }: QueryForm,
): (stem: string) => boolean {
  const sets = [FRAME_WORDS, LIGHT_VERBS]
  if (KIND_OF.test(text)) sets.push(KIND_WORDS)
  const units = new Set<string>()
  for (const [, unit, whole = ''] of text.matchAll(TIME_UNIT)) units.add(unit!.toLowerCase()).add(whole.toLowerCase())
  if (units.size > 0) sets.push(stemsOf([...units].join(' ')))
  if (asksForAdvice) sets.push(ADVICE_WORDS)
  if (asksForAssistantTurn) sets.push(ASSISTANT_STATEMENT_WORDS)
  if (asksForAssistantTurn || asksForMethod) sets.push(METHOD_WORDS)
  const asksForFuture = FUTURE.test(text)
  return (stem) => !(asksForFuture && stem === GO) && sets.some((set) => set.has(stem))
}

/**
 * The periods of a query that names periods and nothing else, as `What did we do on 5 May?` does: memories of the
 * period answer it even if they share no word with it. Of a month without a year, the latest and the next.
 * @param stems of the query, without stop words
 * @param now the time to which the query refers
 * @returns an empty list for any other query
 */
export function soughtPeriods (
  text: string, stems: readonly string[], spans: readonly TimeSpan[], now: number,
): readonly TimeSpan[] {
  if (spans.length === 0 || !namesTimesOnly(text, stems)) return NO_PERIODS
  if (spans.length <= MAX_PERIODS) return spans
  return latestAndNext(spans.toSorted((a, b) => a.from - b.from), now)
}

/**
 * Whether a text has no words but those of a time, and those that ask for anything at all.
 * @param stems of the text, without stop words
 */
export function namesTimesOnly (text: string, stems: readonly string[]): boolean {
  let shortNames: ReadonlySet<string> | undefined
  // Read from the text once, however many words are short.
  const isShortName = (word: string) => (
    shortNames ??= new Set(words(text).filter((name) => SHORT_NAMES.has(name)).map(stem))
  ).has(word)
  return stems.every((word, place) => (
    PERIOD_WORDS.has(word) || FIGURES.test(word) || (word === 'patrick' && SAINT.has(stems[place - 1]!)) ||
    isShortName(word)
  ))
}

function stemsOf (text: string): ReadonlySet<string> {
  return new Set(words(text).map(stem))
}
