import { addQueryAlternatives, otherForms, addSpellings } from '../text/alternative-terms.js'
import { contentStems } from '../text/analysis.js'
import { functionWordsOf, STOP_WORDS } from '../text/stop-words.js'
import { stem, words, fnv1a } from '../text/words.js'
import { latestAndNext } from './calendar-periods.js'
import { timeSpans, type TimeSpan } from './dates.js'
import type { RetrievalRequest } from './retriever.js'

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
  text: string, { asksForAssistantTurn, asksForMethod, asksForAdvice }:
  Pick<AnalyzedQuery, 'asksForAssistantTurn' | 'asksForMethod' | 'asksForAdvice'>,
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
function soughtPeriods (
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
function namesTimesOnly (text: string, stems: readonly string[]): boolean {
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

/** A query with its terms and what its wording reveals about the answer that it seeks. */
export interface AnalyzedQuery {
  readonly text: string
  /** Distinct index terms, at most MAX_TERMS. */
  readonly terms: readonly string[]
  /** How many of the terms are words of the query, and not other forms or spellings of them. */
  readonly ownTerms: number
  /** Stems of the words in order, without stop words. */
  readonly stems: readonly string[]
  /** Hashes of the stems, in order. */
  readonly hashes: readonly number[]
  /** A table by the low six bits of a hash: 1 where one of the hashes has those bits. */
  readonly hashLowBits: Uint8Array
  /** The first position of each hash. */
  readonly hashPositions: ReadonlyMap<number, number>
  /** Whether it asks when something was, for how long, or what was first or last. */
  readonly asksForTime: boolean
  /** Whether it asks for a number or an amount, but not how many different things there are. */
  readonly asksForQuantity: boolean
  /** Whether the answer is likely to be the name of a person, a thing or a place. */
  readonly asksForName: boolean
  /** Whether the query is in the first person and does not ask for what an assistant said. */
  readonly asksAboutUser: boolean
  /** Whether it asks for what an assistant said, or about an earlier conversation with one. */
  readonly asksForAssistantTurn: boolean
  /**
   * Whether it asks how the user did or planned something, which an assistant's turn may state as well as the user's.
   */
  readonly asksForMethod: boolean
  /** Whether it asks for advice or ideas, for which the user's own statements are the best evidence. */
  readonly asksForAdvice: boolean
  /** Whether it asks what the user should do or how, as a request for advice does. */
  readonly asksForGuidance: boolean
  /** Whether it asks for a list or a count. */
  readonly asksForList: boolean
  /** Of its calendar, in milliseconds east of UTC. */
  readonly utcOffset: number
  /** Periods that it names. */
  readonly namedPeriods: readonly TimeSpan[]
  /**
   * Whether it is about the present or the future ("Is the gym open today?", "Where should we go in spring?"). The time
   * that it names is then that of the question, and memories of any time may answer it.
   */
  readonly asksAboutPresent: boolean
  /** Periods whose memories answer it, whatever their words, because it names times and nothing else. */
  readonly soughtPeriods: readonly TimeSpan[]
}

/** Only the beginning of a long query is tested for the form of a list. */
const MAX_LIST_FORM_CHARACTERS = 500
/**
 * The words of a query come first, other forms and spellings of them last. A query of 8192 Chinese characters has as
 * many terms as characters, and a search for them takes PostgreSQL more than ten times as long as one for so many.
 */
const MAX_TERMS = 1024

/**
 * Also `how many days …` and `Which was first, …?`: such a question compares the times of several things. Not `Why did
 * it fail at first?`.
 */
const TIME = new RegExp([
  String.raw`\b(?:when|what (?:date|day|month|year|time)s?|which (?:date|day|week|month|year)s?|how long|since when)\b`,
  String.raw`\b(?:how many (?:days|weeks|months|years)|(?:what|which) order|the order (?:of|in which))\b`,
  String.raw`(?<!\bat )\b(?:first|last|earlier|later|earliest|latest|(?:most|more) recently)` +
    String.raw`(?=\s*(?:[,:;?.]|$))`,
].join('|'), 'i')
const AMOUNT = 'total|average|percentage|cost|price|amount|number|rate|age|budget|score|size|salary|quota|limit|' +
  'balance|income|distance|weight|height|temperature|speed'
const QUANTITY = new RegExp([
  String.raw`\bhow (?:many|much|old|far|often|tall|big|large)\b(?!\s+(?:different|distinct|kinds?|types?|sorts?)\b)`,
  String.raw`\b(?:what|which)\b[^.?!]{0,40}?\b(?:${AMOUNT})\b`,
].join('|'), 'i')
const PRESENT = new RegExp([
  String.raw`\b(?:is|are|am|can|could|should|shall|will|would|may(?= (?:i|we|you|he|she|they|it)\b)|`,
  String.raw`must|do|does|need|want)\b`,
].join(''), 'i')
const PAST = /\b(?:did|was|were|had|been|ago|have (?:i|we|you|they)|has|said|made|put|told|happened)\b/i
const PLACES = 'city|cities|country|countries|state|states|places?|areas?|locations?|town|towns'
const PLACE = new RegExp(String.raw`\b(?:where|(?:which|what) (?:${PLACES}))\b`, 'i')
const NAME_ASKED = /^\s*(?:who|which|what(?:'s|’s| is| was| are| were) the names?)\b/i

/** First-person words. The `me` of `tell me` does not count. */
const FIRST_PERSON = /\b(?:i|my|mine|myself|we|our|ours|(?<!\b(?:tell|show|give|help|let|send|write|ask) )me)\b/i
const SAID = 'told|said|mentioned|recommended|suggested|advised|explained|gave|given|provided|listed|named|described|' +
  'wrote|written|drafted|shared|offered|proposed|called|put|taught|showed|shown|outlined|created|made'
const BEFORE_SAID = 'have|had|also|just|once|already|previously|earlier|originally|specifically|kindly'
const ADVISED = 'advice|answer|suggestions?|recommendations?|tips?|explanation|remedy|instructions?|list|draft|plan'
/**
 * What the assistant did (`did you say`, `you recommended`), `your advice`, `remind me`, `our last conversation`; not
 * what it should do (`can you suggest`).
 */
const ASSISTANT_STATEMENT = new RegExp([
  String.raw`\b(?:did|had|have) you\b`,
  String.raw`\byou(?:['’]ve)?\s+(?:(?:${BEFORE_SAID})\s+)*(?:${SAID})\b`,
  String.raw`\byour (?:\w+ )?(?:${ADVISED})\b`,
  String.raw`\bremind me\b`,
  String.raw`\bour (?:\w+ )?(?:conversation|chat|discussion|talk)\b`,
].join('|'), 'i')

const METHODS = 'steps?|approach(?:es)?|strateg(?:y|ies)|plans?|methods?|ways?|process'
/** `how did I organise`, `what steps did we plan`; not `how can I`, which asks for something new. */
const METHOD = new RegExp([
  String.raw`\bhow (?:did|had) (?:i|we)\b`,
  String.raw`\b(?:what|which) (?:\w+ )?(?:${METHODS}) (?:did|had) (?:i|we)\b`,
].join('|'), 'i')

/** Not `what might this suggest`, which asks for a conclusion. */
const ADVICE = new RegExp([
  String.raw`(?<!\b(?:this|that|these|those|it|they)\s)\b(?:suggest|recommend)\b`,
  String.raw`\b(?:suggestions?|recommendations?|tips?|advice|ideas?)\b`,
].join('|'), 'i')
/** `what should I do`, `how can we`, `help me`; not `what did I do`. */
const GUIDANCE = /\b(?:should|can|could|shall) (?:i|we)\b|\b(?:i|we) should\b|\bhelp (?:me|us)\b|\bbest way\b/i
/** A question word followed within a few words by a plural: `Which cities`, `What kinds of tea`, `In what two ways`. */
const LIST = new RegExp([
  String.raw`^\s*(?:(?:in|on|at|for|to)\s+)?(?:what|which|whose)\s+`,
  String.raw`(?:(?!(?:is|was|does|has|did|do|are|were|the)\b)[\p{L}\p{N}'’-]+\s+){0,3}?`,
  String.raw`(?!(?:is|was|does|has|this|us)\b)\p{L}{2,}(?<![su])s\b|\bhow many\b`,
].join(''), 'iu')

/**
 * @param now the instant that relative times are counted from
 * @param utcOffset as in timeSpans
 */
export function analyzeQuery (text: string, now: number, utcOffset = 0): AnalyzedQuery {
  const stems: string[] = []
  const alternatives = new Set<string>()
  const terms = new Set<string>()
  const stopWords = new Set<string>()
  const contentWords: string[] = []
  for (const word of words(text)) {
    if (STOP_WORDS.has(word)) {
      stopWords.add(word)
      continue
    }
    contentWords.push(word)
    stems.push(stem(word))
  }
  addQueryAlternatives(text, stems, alternatives)
  const asksForAssistantTurn = ASSISTANT_STATEMENT.test(text)
  const asksForMethod = !asksForAssistantTurn && METHOD.test(text)
  const asksForAdvice = !asksForAssistantTurn && ADVICE.test(text)
  const isFrameWord = frameWordsOf(text, { asksForAssistantTurn, asksForMethod, asksForAdvice })
  const functionWords = functionWordsOf(new Set(contentWords), stopWords)
  // English, French and Spanish have their own words with `ue` and the like (`guest`, `soeur`, `fuerte`).
  const mayBeGerman = functionWords === undefined ? stopWords.size === 0 : functionWords.has('der')
  if (stems.length > 0) addSpellings(text, contentWords, mayBeGerman, alternatives)
  for (const [place, term] of stems.entries()) {
    if (!isFrameWord(term) && functionWords?.has(contentWords[place]!) !== true) terms.add(term)
  }
  // The query has no other words.
  if (terms.size === 0) for (const term of stems) terms.add(term)
  const ownTerms = terms.size
  for (const term of alternatives) terms.add(term)
  for (const term of [...terms]) for (const form of otherForms(term)) terms.add(form)
  const hashes = stems.map(fnv1a)
  // V8 allocates a typed array of up to 64 bytes in its own heap, which is far faster.
  const hashLowBits = new Uint8Array(64)
  const hashPositions = new Map<number, number>()
  for (const [place, hash] of hashes.entries()) {
    hashLowBits[hash & 0x3f] = 1
    if (!hashPositions.has(hash)) hashPositions.set(hash, place)
  }
  const spans = timeSpans(text, now, utcOffset)
  return {
    text,
    // Stop words are terms only when there are no other words.
    terms: [...terms.size > 0 ? terms : stopWords].slice(0, MAX_TERMS),
    ownTerms,
    stems,
    hashes,
    hashLowBits,
    hashPositions,
    asksForTime: TIME.test(text),
    asksForQuantity: QUANTITY.test(text),
    asksForName: NAME_ASKED.test(text) || PLACE.test(text),
    asksAboutUser: !asksForAssistantTurn && FIRST_PERSON.test(text),
    asksForAssistantTurn,
    asksForMethod,
    asksForAdvice,
    asksForGuidance: asksForAdvice || (!asksForAssistantTurn && GUIDANCE.test(text)),
    asksForList: LIST.test(text.slice(0, MAX_LIST_FORM_CHARACTERS)),
    utcOffset,
    namedPeriods: spans,
    asksAboutPresent: spans.length > 0 && spans.some(({ to }) => to > now) && PRESENT.test(text) && !PAST.test(text),
    soughtPeriods: soughtPeriods(text, stems, spans, now),
  }
}

/** The most parts that a query is split into; a longer list of names stays one query. */
const MAX_PARTS = 3
/** Longer queries are not split. */
const MAX_SPLIT_CHARACTERS = 500

const NAME_WORD = String.raw`\p{Lu}[\p{L}\p{M}'’-]*`
const NAME = String.raw`${NAME_WORD}(?:\s+${NAME_WORD})*`
/** A list of names that share one question: `Ann and Bob Jones`, `Ann, Bob and Cy`. */
const NAMES = new RegExp([
  String.raw`(?<![\p{L}\p{N}_])(?:both\s+)?(${NAME}(?:,\s+${NAME})*),?`,
  String.raw`\s+(?:and|or)\s+(${NAME})(?=[\s?.!,]|['’]s\b|$)`,
].join(''), 'u')
/**
 * `When … after the move`: a query for the time of one event relative to another. Other queries lose their sense when
 * split at such a word.
 */
const RELATIVE_TIME = /^(when\b.*\S)\s+(?:before|after|while|during|since)\s+(\S.*?)[?.!]*$/iu
/** Words that each part needs: `the day after` is no query by itself. */
const MIN_WORDS = 2

/** `between the flood and the fire`: the second of two events begins with such a word, if any does. */
const BETWEEN = /\bbetween\s+(\S.*?)[?.!]*$/iu
const SECOND_EVENT = /^(.+?),?\s+and\s+((?:when|since|the|my|our|his|her|their|an?|i|we)\b.+)$/iu
const SECOND = /^(.+?),?\s+and\s+(.+)$/iu
/** `Which opened first, the mill or the bridge?` */
const CHOICE = /^\s*(?:which|what|who|whom|where|did|do|does|have|has|is|are|was|were)\b/i
/** Of a clause, which is no option: `Which of the two, if any, did Ann like?` */
const CLAUSE = /^(?:did|do|does|have|has|had|is|are|was|were|can|could|will|would|should|if|when|but|and|then)\b/i

/**
 * Splits a query into simpler ones, by its form alone: one for each of several names (`What do Ann and Bob like?`), for
 * each of the events between which a time passed (`between the flood and the fire`), for each of the things to choose
 * from (`Which opened first, the mill or the bridge?`), and for the time of an event relative to another (`When did Ann
 * buy it after the move?`) one for each event.
 * @returns an empty list for a query that is not split
 */
export function splitQuery (text: string): string[] {
  if (text.length > MAX_SPLIT_CHARACTERS) return []
  const names = splitNames(text)
  if (names !== undefined) return names
  const between = splitBetween(text)
  if (between.length > 0) return between
  const choices = splitChoices(text)
  if (choices.length > 0) return choices
  const match = RELATIVE_TIME.exec(text)
  if (match === null) return []
  const [, main, event] = match
  return isSearchable(main!) && isSearchable(event!) ? [main!, event!] : []
}

/** @returns undefined for a query without such a list of names; an empty list when its parts would be no queries */
function splitNames (text: string): string[] | undefined {
  const names = NAMES.exec(text)
  if (names === null) return undefined
  const [first, ...others] = [...names[1]!.split(/,\s+/), names[2]!]
  // The first word of a question has a capital too: `Did Ann and Bob`.
  const words = first!.split(/\s+/)
  const frame = words.findIndex((word) => !STOP_WORDS.has(word.toLowerCase()))
  const all = [words.slice(frame).join(' '), ...others]
  const before = [text.slice(0, names.index), ...words.slice(0, frame).map((word) => `${word} `)].join('')
  // `between Monday and Friday` is one period, and `between Ann and Bob` one relation.
  if (/\bbetween\s+$/i.test(before) || all.every((name) => namesTimesOnly(name, contentStems(name)))) return undefined
  if (all.length > MAX_PARTS) return []
  const after = text.slice(names.index + names[0].length)
  const parts = all.map((name) => `${before}${name}${after}`.replace(/\bboth\b\s*/i, ''))
  return parts.every(hasContentWords) ? parts : []
}

function splitBetween (text: string): string[] {
  const events = BETWEEN.exec(text)?.[1]
  if (events === undefined) return []
  const [, first, second] = SECOND_EVENT.exec(events) ?? SECOND.exec(events) ?? []
  // Times alone (`between 3 May and 5 June`) bound a period, in which the answer lies.
  const isEvent = (part: string | undefined) => (
    part !== undefined && isSearchable(part) && !namesTimesOnly(part, contentStems(part))
  )
  return isEvent(first) && isEvent(second) ? [first!, second!] : []
}

function splitChoices (text: string): string[] {
  if (!CHOICE.test(text)) return []
  const [, ...listed] = text.replace(/[?.!\s]+$/, '').replace(/,(?=\s+or\s)/gi, '').split(/[,:]\s+/)
  const options = [...listed.slice(0, -1), ...listed.at(-1)?.split(/\s+or\s+/i) ?? []]
  if (options.length < 2 || options.length > MAX_PARTS || options.length === listed.length) return []
  return options.every((option) => hasContentWords(option) && !CLAUSE.test(option)) ? options : []
}

function isSearchable (text: string): boolean {
  return (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= MIN_WORDS && hasContentWords(text)
}

/** A part of stop words alone (`What did I do?`) would match any text with those words. */
function hasContentWords (text: string): boolean {
  return contentStems(text).length > 0
}

/** Analyses the query, then its parts, then its other wordings. */
export function analyzeQueries (
  { query, rewrites = [], reference }: Pick<RetrievalRequest, 'query' | 'rewrites' | 'reference'>, now: number,
): [AnalyzedQuery, ...AnalyzedQuery[]] {
  const { instant, utcOffset } = reference ?? { instant: now, utcOffset: 0 }
  const queries: [AnalyzedQuery, ...AnalyzedQuery[]] = [analyzeQuery(query, instant, utcOffset)]
  const [{ asksForTime, asksForAssistantTurn, asksAboutUser }] = queries
  for (const text of splitQuery(query)) {
    const part = analyzeQuery(text, instant, utcOffset)
    // `the bridge`, as a part of `Which did I see first, …`, does not tell what is asked about it.
    queries.push({
      ...part,
      asksForTime: asksForTime || part.asksForTime,
      asksForAssistantTurn: asksForAssistantTurn || part.asksForAssistantTurn,
      asksAboutUser: !asksForAssistantTurn && (asksAboutUser || part.asksAboutUser),
    })
  }
  for (const text of rewrites) queries.push(analyzeQuery(text, instant, utcOffset))
  return queries
}
