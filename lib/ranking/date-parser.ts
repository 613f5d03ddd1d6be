import { createRequire } from 'node:module'
import type * as chronoEn from 'chrono-node/en'
import { DAY_MS } from '../base/days.js'
import { MONTH_NAME, MONTHS, SHORT_WEEKDAY, WEEKDAYS } from './calendar-periods.js'

/**
 * Rewrites dates that chrono-node reads in another sense than their writers mean. Each regular expression takes linear
 * time.
 */

/** Figures with two dots or more: `5.6.2026`, but also versions and addresses. */
const DOTTED = /(?<!\d)\d+(?:\.\d+){2,}/g
/** The words before a dotted date whose year has two digits, which tell it from a version. */
const DOTTED_CONTEXT = /\b(?:on|am|vom) $/i
const WEEKDAY = `(?:${WEEKDAYS.join('|')})day`
const ISO_DAY = String.raw`(?:19|20)\d\d-\d\d-\d\d(?!\d)`
/** A day by a name, which may be the present. */
const NAMED_DAY = String.raw`(?:(?:(?:last|this|next) )?${WEEKDAY}|yesterday|today|now|tomorrow)\b`
/** Both ends of the period name a day or a month. */
const BETWEEN = new RegExp(
  String.raw`\b(between (?:the )?(?:\d|${MONTH_NAME}\b|${NAMED_DAY})[^.;?!]{0,24}?) and (?:the )?` +
    String.raw`(?=\d{1,2}(?:st|nd|rd|th)?\b|${ISO_DAY}|${MONTH_NAME}\b|${NAMED_DAY})`,
  'gi',
)
/** The parser reads "20 until 2026" as hours. */
const ISO_RANGE = new RegExp(String.raw`\b(${ISO_DAY}) (?:until|till|through) (?=${ISO_DAY}|${NAMED_DAY})`, 'gi')
/** Beside `from` the parser reads "3 to 5 May" as hours. */
const FROM_DAY = new RegExp(String.raw`\bfrom (?:the )?(?=\d{1,2} to (?:the )?\d{1,2} ${MONTH_NAME}\b)`, 'gi')
/** A day and a month without a year; fractions, ratios and readings look alike. */
const SLASHED = /(?<![\d/.-])(\d{1,2})\/(\d{1,2})(?!\/?\d)/g
/** What comes before such figures when they are a date: a word, a weekday, or the beginning of a range. */
const SLASHED_CONTEXT = new RegExp(String.raw`\b(?:${[
  String.raw`on|by|since|until|till|before|after|between|from|due|am|\w{3,6}day,?|${SHORT_WEEKDAY}\.?,?`,
  String.raw`\d\/\d\d? ?(?:to|until|and|-|–)`,
].join('|')}) ?$`, 'i')
/** More characters than a context has. */
const CONTEXT_CHARACTERS = 16
const NO_SEPARATOR = '|'
/** The words after which a short name in lower case is that of a weekday or a month. */
const NAME_CONTEXT = '(?<!\\b(?:on|last|next|this|past|since|until|till|before|after|by|from|to|of|in) )'
/** A weekday's short name in lower case, or one that begins the text as a verb or a noun does: `Sat next to whom?`. */
const NO_WEEKDAY = new RegExp(
  String.raw`${NAME_CONTEXT}\b(?=${SHORT_WEEKDAY}\b)|^(?=(?:Wed|Sat|Sun) [a-z])`, 'g',
)
/** Words after which the number before them is that of a day: `march 3 at the office`. */
const NO_COUNT = '(?!(?:at|in|on|for|with|and|or|to|until|by|from|was|is|we|i|the)\\b)'
/** `May` or `march` in lower case before a number that counts something: `may 5 people`. */
const NO_MONTH_BEFORE_NUMBER = new RegExp(
  String.raw`${NAME_CONTEXT}\b(?=(?:may|march|mar) \d\d? ${NO_COUNT}[a-z])`, 'g',
)
/** A verb in lower case after a number: `which 5 may be deleted`. */
const VERB_AFTER_NUMBER = new RegExp(
  String.raw`(?<!\b(?:on|since|until|till|before|after|by|from|to|of) )` +
    String.raw`\b(\d\d?) (?=(?:may|march|mar) ${NO_COUNT}[a-z])`,
  'g',
)
/** `mid-March`, `mid-2020`. */
const MID = new RegExp(String.raw`\b(mid)-(?=(?:19|20)\d\d\b|${MONTH_NAME}\b)`, 'gi')
/** `the end of May`, which the parser reads as its last day. */
const PART_OF = new RegExp(
  String.raw`\b(?:the )?(beginning|start|middle|end) of (?=(?:19|20)\d\d\b|${MONTH_NAME}\b)`, 'gi',
)
const PARTS: ReadonlyMap<string, string> = new Map(
  [['beginning', 'early'], ['start', 'early'], ['middle', 'mid'], ['end', 'late']],
)
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th)?`
/** `October last year`, `5 May of this year`: the parser takes the year by itself, and the month of any year. */
const MONTH_OF_YEAR = new RegExp(String.raw`\b(${MONTH_NAME}(?: ${DAY})?),? (?:of )?(last|this|next) year\b`, 'gi')
/** `last year in October`, `last year on the 5th of May`. */
const YEAR_WITH_MONTH = new RegExp(
  String.raw`\b(last|this|next) year,? (in|on) (?:the )?((?:${DAY} (?:of )?)?${MONTH_NAME}\b(?: ${DAY}\b)?)(?!,? \d)`,
  'gi',
)
const YEAR_OFFSETS: ReadonlyMap<string, number> = new Map([['last', -1], ['this', 0], ['next', 1]])
const UNITS_OF_TIME = '(?:minutes|hours|days|weeks|months|years)'
const BELOW_TWENTY = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen ' +
  'sixteen seventeen eighteen nineteen'
const NUMBERS = ['', ...BELOW_TWENTY.split(' ')]
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
/** A number above twelve in words, of which the parser reads at most the last: `twenty-one days ago`. */
const NUMBER_IN_WORDS = new RegExp(
  String.raw`\b(?:(${TENS.slice(2).join('|')})(?:[- ](${NUMBERS.slice(1, 10).join('|')}))?|` +
    String.raw`(${NUMBERS.slice(13).join('|')}))(?= ${UNITS_OF_TIME}\b)`,
  'gi',
)
/** `a fortnight ago`, which the parser does not read, and `half a year ago`, which it reads as the whole year. */
const FORTNIGHT = /\b(?:an?|one) fortnight (?=(?:ago|before|earlier)\b)/gi
const HALF_A_YEAR = /\bhalf an? year (?=(?:ago|before|earlier)\b)/gi
/** `the previous week`, `the previous two weeks`, which the parser reads with `last`. */
const PREVIOUS = new RegExp(
  String.raw`\bprevious (?=(?:(?:\w+|couple of) )?${UNITS_OF_TIME}\b|(?:hour|week|weekend|month|year|${WEEKDAY})\b)`,
  'gi',
)
const PREVIOUS_DAY = /\bthe previous day\b/gi
/** Before a word it keeps the parser from reading it as a name. */
const NO_NAME = '_'

/**
 * The text with its dates as chrono-node reads them rightly, of about the same length.
 * @param presentYear the year that `last year` precedes
 */
export function readableDates (text: string, presentYear: number): string {
  const yearOf = (word: string) => unambiguousYear(presentYear + YEAR_OFFSETS.get(word.toLowerCase())!)
  // "7 May,2023": without the space the parser sees no year.
  return text.replace(/(\d),(\d{4})\b/g, '$1, $2')
    .replace(/(\.\d{4})[-–](?=\d)/g, '$1 to ').replace(DOTTED, dottedDate)
    .replace(NUMBER_IN_WORDS, (_, tens = '', digit = '', teen = '') => numberOf(tens, digit, teen))
    .replace(FORTNIGHT, '2 weeks ').replace(HALF_A_YEAR, '6 months ')
    .replace(PREVIOUS, 'last ').replace(PREVIOUS_DAY, 'yesterday')
    .replace(BETWEEN, '$1 to ').replace(ISO_RANGE, '$1 to ').replace(FROM_DAY, '').replace(MID, '$1 ')
    .replace(PART_OF, (_, part: string) => `${PARTS.get(part.toLowerCase())!} `)
    .replace(SLASHED, slashedDate)
    .replace(MONTH_OF_YEAR, (_, month: string, word: string) => `${month} ${yearOf(word)}`)
    .replace(YEAR_WITH_MONTH, (_, word: string, on: string, month: string) => `${on} ${month} ${yearOf(word)}`)
    .replace(NO_WEEKDAY, NO_NAME).replace(NO_MONTH_BEFORE_NUMBER, NO_NAME).replace(VERB_AFTER_NUMBER, `$1 ${NO_NAME}`)
}

/** The parser reads other years than those of four digits from 1000 to 2999 only before `AD`. */
function unambiguousYear (year: number): string {
  return year >= 1000 && year <= 2999 ? String(year) : `${year} AD`
}

/** @param words of the tens and the digit, or of a number below twenty */
function numberOf (...words: string[]): string {
  const [tens, digit, teen] = words.map((word) => word.toLowerCase()) as [string, string, string]
  return String(TENS.indexOf(tens) * 10 + NUMBERS.indexOf(digit) + NUMBERS.indexOf(teen))
}

function slashedDate (figures: string, first: string, second: string, index: number, text: string): string {
  const before = text.slice(Math.max(0, index - CONTEXT_CHARACTERS), index)
  const isDate = figures !== '24/7' && SLASHED_CONTEXT.test(before)
  return isDate ? figures : `${first}${NO_SEPARATOR}${second}`
}

/** Dots stand between day, month and year, in this order, or after a year that comes first; all else is no date. */
function dottedDate (figures: string, index: number, text: string): string {
  const [first, month, year, ...more] = figures.split('.') as [string, string, string, ...string[]]
  const isDate = more.length === 0 && !/[\w.]/.test(text[index - 1] ?? ' ') &&
    Number(month) >= 1 && Number(month) <= 12
  if (isDate && first.length === 4) return figures
  const before = text.slice(Math.max(0, index - 5), index)
  const isYear = year.length === 4 || (year.length === 2 && DOTTED_CONTEXT.test(before))
  if (!isDate || !isYear || Number(first) < 1 || Number(first) > 31) return figures.replaceAll('.', NO_SEPARATOR)
  return `${Number(first)} ${MONTHS[Number(month) - 1]} ${year.length === 2 ? `20${year}` : year}`
}

/** Every month has this many days. */
const SHORTEST_MONTH_DAYS = 28

export type NamedDate = Pick<chronoEn.ParsedResult, 'index' | 'text' | 'start'> & {
  end?: chronoEn.ParsedResult['end'] | undefined
}

let loaded: chronoEn.Chrono | undefined

/**
 * The parser, with regular expressions whose backtracking is bounded: the originals read runs of up to eleven durations
 * (`1 year, 2 months ago`) and try every way of dividing their white space. Loading takes a while, so a server loads it
 * before it listens.
 */
export function loadDateParser (): chronoEn.Chrono {
  if (loaded === undefined) {
    const { Chrono, casual } = createRequire(import.meta.url)('chrono-node/en') as typeof chronoEn
    loaded = new Chrono({ ...casual, parsers: casual.parsers.map(withShortRuns) })
    // V8 interprets a regular expression on its first use and compiles it on its second, for texts of Latin-1 and for
    // others apart, so two texts of each warm all of them up.
    for (const text of ['3 May 2023', 'a1b', '3 May 2023 – 5', 'a1b–']) loaded.parse(text, new Date(0))
  }
  return loaded
}

/**
 * A parser that reads at most three durations in a row. The cost grows exponentially with their number: eleven can take
 * hours.
 */
function withShortRuns (eager: chronoEn.Parser): chronoEn.Parser {
  const patterns = new Map<string, RegExp>()
  return {
    pattern: (context) => {
      const { source, flags } = eager.pattern(context)
      const known = patterns.get(source) ?? new RegExp(source.replaceAll('{0,10}', '{0,2}'), flags)
      patterns.set(source, known)
      return known
    },
    extract: (context, match) => eager.extract(context, match),
  }
}

/**
 * The dates in a text. The parser counts months from the day of the reference: a month before 31 May is 31 April, which
 * it reads as 1 May. So months are counted from a day that every month has.
 */
export function parseDates (text: string, reference: number): NamedDate[] {
  const parse = (part: string, instant: number) => loadDateParser().parse(part, inLocalTime(instant))
  const results = parse(text, reference)
  const extraDays = new Date(reference).getUTCDate() - SHORTEST_MONTH_DAYS
  if (extraDays <= 0) return results
  return results.map((found) => {
    const { index, text } = found
    const [again] = /\bmonths?\b/i.test(text) ? parse(text, reference - extraDays * DAY_MS) : []
    return again === undefined ? found : { index, text, start: again.start, end: again.end }
  })
}

/**
 * The instant at which the process's time zone has the date and the time that UTC has at the given one. The parser
 * reads some times (`last night`, `this month`) in the time zone of the process, even if it is told another.
 */
function inLocalTime (instant: number): Date {
  const utc = new Date(instant)
  const local = new Date(0)
  local.setFullYear(utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate())
  local.setHours(utc.getUTCHours(), utc.getUTCMinutes(), utc.getUTCSeconds(), utc.getUTCMilliseconds())
  return local
}
