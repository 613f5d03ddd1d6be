import { dayOf } from '../base/days.js'
import { giveWay, isDue } from '../base/event-loop.js'
import {
  asksForPast, isAssistant, readQuestion, hasWordOrMatter, statedIn, type Asked, type AskedFor, type Statement,
  type Told,
} from './statements.js'

/** Maximum number of sentences in an answer. */
const MAX_SENTENCES = 3
/** A further sentence is quoted from this share of the best one's score; a lower one in a memory that is quoted. */
const FURTHER = 0.75
const FURTHER_OF_SAME = 0.5
/** The evidence answers from this sum of `supportOf` on. */
const ENOUGH_SUPPORT = 3.1
/** What each feature of a sentence adds to its score. */
const WEIGHTS = {
  /** The score of the recall, from 0 to 1. */
  recall: 1.2,
  best: 0.3,
  /** The share of the question's words in the sentence, and in the rest of the memory. */
  ownWords: 0.6,
  memoryWords: 0.4,
  /** It has what the question asks for: a time, a number, a place … */
  kind: 0.3,
  /** Its speaker is asked about, or it names who is asked about, and nobody is stated as its speaker. */
  speaker: 0.5,
  /** Its speaker is asked about, and speaks of themselves. */
  firstPerson: 0.2,
  /** An assistant's, although the question does not ask what it said. */
  assistant: -0.5,
  short: -0.3,
  /** It points at a picture, or reacts to what somebody else said. */
  pointer: -0.2,
  reaction: -0.3,
  /** It was so before, which the question asks for: times the share of the question's words in it. */
  superseded: 0.8,
} as const
const SHORT_WORDS = 4
/** The share of the question's words from which two sentences answer the same. */
const SAME_QUESTION = 0.7

const WORD_NUMBER = 'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|couple|hundred|thousand|million'
/** What a sentence has that answers a question of the kind. */
const ANSWERS: Readonly<Record<Exclude<AskedFor, 'other'>, RegExp>> = {
  time: new RegExp([
    String.raw`\d{4}|\b(?:yesterday|today|tonight|tomorrow|ago|last|next|since|recently|just|weeks?|weekends?|months?`,
    String.raw`|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august`,
    String.raw`|september|october|november|december|spring|summer|autumn|fall|winter|birthday|days?|morning|evening`,
    String.raw`|night)\b`,
  ].join(''), 'i'),
  number: new RegExp(String.raw`\d|\b(?:one|once|twice|${WORD_NUMBER})\b`, 'i'),
  place: /\b(?:in|at|from|to|near|around|through|across|outside|by)\s+(?:(?:the|my|our|a|an)\s+)?\p{L}+/u,
  person: new RegExp([
    String.raw`(?<=\S\s+)\p{Lu}\p{Ll}+|\b(?:he|she|they|mom|mum|dad|mother|father|sister|brother|wife|husband|friend`,
    String.raw`|son|daughter|boss|colleague|partner|grand\p{L}+)\b`,
  ].join(''), 'u'),
  reason: new RegExp([
    String.raw`\b(?:because|since|so (?:that|i|we)|reason|why|inspired|motivated|made me|want(?:ed)? to|in order`,
    String.raw`|helps?|due to)\b`,
  ].join(''), 'i'),
}
const FIRST_PERSON = /\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]ur)\b/
const CALLED_OFF = /\b(?:cancel\p{L}+|call(?:ed|ing)? off|postpon\p{L}+|no longer|not|off|n['’]t)\b/iu
const POINTER = new RegExp([
  String.raw`\b(?:here['’]s|check (?:it |this |that )?out|take a look|look at|this (?:pic|photo|picture|one)`,
  String.raw`|that (?:pic|photo|one))\b`,
].join(''), 'i')
const REACTION = new RegExp([
  String.raw`^(?:that['’]?s|that (?:is|sounds|must)|sounds|glad|so glad|you['’]re|your|you|it['’]s (?:so|really`,
  String.raw`|great|awesome)|i['’]m (?:so |really )?(?:glad|happy|proud))\b`,
].join(''), 'i')
/** From this cosine on a memory is taken to be about the question, fully from `SURE_COSINE`. */
const LEAST_COSINE = 0.4
const SURE_COSINE = 0.58
/** The meaning of a question of more words counts less: a long one shares words with what answers it. */
const FEW_WORDS = 2

export interface Quoted {
  readonly statement: Statement
  /** Whether a statement before it in the answer says what came of it. */
  readonly isEarlier: boolean
}

interface Scored {
  readonly statement: Statement
  readonly score: number
}

type Words = Pick<Statement, 'terms' | 'matters'>

function hasWord ({ terms, matters }: Words, term: string): boolean {
  return hasWordOrMatter(terms, matters, term)
}

/** How many of the question's words are found: shares by the rarity of the words in the evidence. */
class Coverage {
  readonly #terms: readonly string[]
  readonly #weights: readonly number[]
  readonly #total: number

  constructor (terms: readonly string[], memories: readonly Told[]) {
    this.#terms = terms
    this.#weights = terms.map((term) => {
      const frequency = memories.filter((memory) => hasWord(memory, term)).length
      return Math.log(1 + memories.length / (frequency + 1))
    })
    this.#total = this.#weights.reduce((sum, weight) => sum + weight, 0)
  }

  weighted (found: Words): number {
    const shared = this.#terms.reduce((sum, term, at) => sum + (hasWord(found, term) ? this.#weights[at]! : 0), 0)
    return this.#total === 0 ? 0 : shared / this.#total
  }

  plain (isFound: (term: string) => boolean): number {
    return this.#terms.filter(isFound).length / Math.max(1, this.#terms.length)
  }
}

/**
 * Chooses the sentences that answer a question.
 * @returns at most three, in the order of the answer; none when the evidence does not answer the question
 */
export async function choose (question: string, memories: readonly Told[]): Promise<Quoted[]> {
  const speakers = new Set(memories.map(({ speakerKey }) => speakerKey).filter((key) => key !== ''))
  const asked = readQuestion(question, speakers)
  const coverage = new Coverage(asked.terms, memories)
  const isName = nameTest(speakers)
  const isPast = asksForPast(question)
  const scored: Scored[] = []
  for (const memory of memories) {
    if (isDue()) await giveWay()
    const memoryWords = coverage.weighted(memory)
    for (const found of memory.statements) {
      const text = statedIn(found.text, isName)
      if (text === undefined) continue
      const statement = { ...found, text }
      const score = scoreOf(asked, coverage, statement, memoryWords)
      const past = isPast && memory.isSuperseded ? WEIGHTS.superseded * coverage.weighted(statement) : 0
      scored.push({ statement, score: score + past })
    }
  }
  scored.sort((a, b) => b.score - a.score)
  const [best] = scored
  if (best === undefined || supportOf(asked, coverage, best.statement, memories) < ENOUGH_SUPPORT) return []
  return orderByTime(asked, select(asked, scored), coverage)
}

/** Names and their short forms: `Mel` for `Melanie`. */
function nameTest (speakers: ReadonlySet<string>): (word: string) => boolean {
  const names = [...speakers].flatMap((key) => key.split(' '))
  return (word) => names.some((name) => name === word || (word.length >= 3 && name.startsWith(word)))
}

function scoreOf (asked: Asked, coverage: Coverage, statement: Statement, memoryWords: number): number {
  const { told, text, contentTerms } = statement
  let score = WEIGHTS.recall * told.score + WEIGHTS.ownWords * coverage.weighted(statement) +
    WEIGHTS.memoryWords * memoryWords
  if (told.source === 1) score += WEIGHTS.best
  if (asked.kind !== 'other' && ANSWERS[asked.kind].test(text)) score += WEIGHTS.kind
  if (asked.speakers.has(told.speakerKey)) {
    score += WEIGHTS.speaker
    if (FIRST_PERSON.test(text)) score += WEIGHTS.firstPerson
  } else if (told.speakerKey === '' && [...asked.names].some((name) => statement.terms.has(name))) {
    score += WEIGHTS.speaker
  } else if (asked.speakers.size === 0 && isAssistant(told.speakerKey)) score += WEIGHTS.assistant
  if (contentTerms.length < SHORT_WORDS) score += WEIGHTS.short
  if (POINTER.test(text)) score += WEIGHTS.pointer
  if (REACTION.test(text)) score += WEIGHTS.reaction
  return score
}

/**
 * How well the evidence supports an answer, from 0 to 5.6: the score of the recall; the shares of the question's words
 * in the best sentence, in its memory, in any sentence and anywhere, or the meaning of the memories instead; and
 * whether the person asked about speaks. Words that meet by accident are few in each of them.
 */
function supportOf (asked: Asked, coverage: Coverage, best: Statement, memories: readonly Told[]): number {
  const meaning = (cosine: number) => (
    Math.max(0, Math.min(1, (cosine - LEAST_COSINE) / (SURE_COSINE - LEAST_COSINE))) *
    Math.min(1, FEW_WORDS / Math.max(1, asked.terms.length))
  )
  const ofBest = meaning(best.told.similarity)
  const ofAny = meaning(Math.max(...memories.map(({ similarity }) => similarity)))
  const inAnySentence = Math.max(...memories.flatMap(({ statements }) => (
    statements.map((statement) => coverage.plain((term) => hasWord(statement, term)))
  )))
  return Math.max(...memories.map(({ score }) => score)) +
    Math.max(ofBest, coverage.plain((term) => hasWord(best.told, term))) +
    Math.max(ofBest, coverage.plain((term) => hasWord(best, term))) +
    Math.max(ofAny, inAnySentence) +
    Math.max(ofAny, coverage.plain((term) => memories.some((memory) => hasWord(memory, term)))) +
    (asked.speakers.has(best.told.speakerKey) ? 0.6 : 0)
}

function select (asked: Asked, scored: readonly Scored[]): Statement[] {
  const best = scored[0]!
  const chosen: Statement[] = [best.statement]
  const change = asked.isAboutPresent
    ? scored.find(({ statement }) => isChangeOf(statement, best.statement, asked))
    : undefined
  if (change !== undefined) chosen.push(change.statement)
  for (const { statement, score } of scored.slice(1)) {
    if (chosen.length >= MAX_SENTENCES) break
    if (chosen.includes(statement) || chosen.some((other) => repeats(other, statement))) continue
    const isOfSame = chosen.some(({ told }) => told === statement.told)
    if (score >= best.score * (isOfSame ? FURTHER_OF_SAME : FURTHER)) chosen.push(statement)
  }
  return chosen
}

function repeats (one: Statement, other: Statement): boolean {
  // What took the place of another differs in what matters, however little that is.
  if (one.told.isSuperseded !== other.told.isSuperseded) return false
  const { shared, shorter } = contentShared(one, other)
  return shared >= 0.8 * shorter
}

/** How many distinct content words two statements share, and how many the shorter and the longer have. */
function contentShared (one: Statement, other: Statement) {
  const [first, second] = [new Set(one.contentTerms), new Set(other.contentTerms)]
  const shared = [...first].filter((term) => second.has(term)).length
  return { shared, shorter: Math.min(first.size, second.size), longer: Math.max(first.size, second.size) }
}

/** Where statements differ, the latest comes first; the others stay in their order. */
function orderByTime (asked: Asked, chosen: readonly Statement[], coverage: Coverage): Quoted[] {
  const answers = (statement: Statement) => (
    asked.kind !== 'other' && ANSWERS[asked.kind].test(statement.text) &&
    coverage.weighted(statement) >= SAME_QUESTION && statement.contentTerms.length <= MOST_WORDS &&
    !isAssistant(statement.told.speakerKey)
  )
  const bothAnswer = (later: Statement, earlier: Statement) => (
    later.told.speakerKey === earlier.told.speakerKey && answers(later) && answers(earlier) &&
    !hasOtherMatter(later, earlier, asked)
  )
  const quoted: Quoted[] = []
  for (const statement of chosen) {
    const isReplacedBy = (other: Statement) => (
      contradict(statement, other) || isChangeOf(other, statement, asked) || bothAnswer(other, statement)
    )
    const isEarlier = asked.isAboutPresent &&
      chosen.some((other) => isLater(other, statement) && isReplacedBy(other))
    quoted.push({ statement, isEarlier })
  }
  return quoted.sort((a, b) => Number(a.isEarlier) - Number(b.isEarlier) ||
    (a.isEarlier ? (b.statement.told.instant ?? 0) - (a.statement.told.instant ?? 0) : 0))
}

function isLater ({ told: { instant: one } }: Statement, { told: { instant: other } }: Statement): boolean {
  return one !== null && other !== null && one > other
}

const NEGATIONS = new Set(`no not never dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant
couldnt shouldnt mustnt`.split(/\s+/))
/** Words that tell of something that is other than before. */
const CHANGE = new RegExp([
  String.raw`\b(?:moved|moving|relocated|switched|switching|changed|quit|left|leaving|stopped|gave up|given up|started`,
  String.raw`|no longer|any ?more|instead|used to|became|become|turned into|new|now|nowadays|these days|from now on`,
  String.raw`|sold|bought|another|got rid`,
  String.raw`|replaced|reset|correction|mistaken|misread|was wrong|sorry|turns out|actually`,
  String.raw`|postponed|rescheduled|cancell?ed|migrated|joined|hired|took over|first day|promoted|divorced|married`,
  String.raw`|engaged|split up|broke up|retired|renamed|settled|adopted|outgrew|after all|down to|up to)\b`,
].join(''), 'i')
/** A statement of more words is a story, of which nothing can be replaced as a whole. */
const MOST_WORDS = 16
/** The share of the shorter statement's words that two statements of one subject have in common. */
const ONE_SUBJECT = 0.6
const LEAST_SHARED = 2
/** The share of the question's words with which a statement is about it. */
const SAME_MATTER = 0.75

/**
 * Whether two statements contradict each other: the same speaker says them on different days (or the later has a word
 * of change) about the same subject, and each has a content word that the other lacks, or only one is negated. They
 * have the same subject when they are short and share most of their content words. The rule compares words and not
 * meaning.
 */
function contradict (one: Statement, other: Statement): boolean {
  const [first, second] = [one.told, other.told]
  if (first.speakerKey !== second.speakerKey || first.instant === null || second.instant === null) return false
  const later = first.instant > second.instant ? one : other
  if (first.instant === second.instant) return false
  if (dayOf(first.instant) === dayOf(second.instant) && !CHANGE.test(later.text)) return false
  return haveOneSubject(one, other) && differ(one, other)
}

/**
 * Whether a later statement tells that what an earlier one says has changed: the same speaker, a word of change, and a
 * matter of the question or most of its words. A change of a time tells the new one, or that there is none.
 */
function isChangeOf (later: Statement, earlier: Statement, asked: Asked): boolean {
  if (asked.kind === 'time' && !ANSWERS.time.test(later.text) && !CALLED_OFF.test(later.text)) return false
  const [now, before] = [later.told, earlier.told]
  if (now.speakerKey !== before.speakerKey || !isLater(later, earlier)) return false
  if (later.contentTerms.length > MOST_WORDS || !CHANGE.test(later.text)) return false
  const sharesMatter = [...asked.matters].some((matter) => later.matters.has(matter))
  if (sharesMatter && !hasOtherMatter(later, earlier, asked)) return true
  return asked.terms.filter((term) => later.terms.has(term)).length >= SAME_MATTER * asked.terms.length
}

/** Whether the later statement has a matter of its own: `We moved to a new office` tells nothing of where one lives. */
function hasOtherMatter (later: Statement, earlier: Statement, asked: Asked): boolean {
  return [...later.matters].some((matter) => !earlier.matters.has(matter) && !asked.matters.has(matter))
}

function haveOneSubject (one: Statement, other: Statement): boolean {
  const { shared, shorter, longer } = contentShared(one, other)
  return longer <= MOST_WORDS && shared >= LEAST_SHARED && shared >= ONE_SUBJECT * shorter
}

function differ (one: Statement, other: Statement): boolean {
  const hasOwn = (a: Statement, b: Statement) => a.contentTerms.some((term) => !b.terms.has(term))
  return isNegated(one) !== isNegated(other) || (hasOwn(one, other) && hasOwn(other, one))
}

function isNegated ({ terms }: Statement): boolean {
  return [...terms].some((term) => NEGATIONS.has(term))
}
