import { addQueryAlternatives, otherForms } from '../text/alternative-terms.js'
import { functionWordsOf } from '../text/function-words.js'
import { addSpellings } from '../text/query-spellings.js'
import { fnv1a, stem } from '../text/stems.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { words } from '../text/words.js'
import { timeSpans } from './dates.js'
import type { TimeSpan } from './open-periods.js'
import { frameWordsOf, soughtPeriods } from './query-words.js'

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
const NAME = /^\s*(?:who|which|what(?:'s|’s| is| was| are| were) the names?)\b/i

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
    asksForName: NAME.test(text) || PLACE.test(text),
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
