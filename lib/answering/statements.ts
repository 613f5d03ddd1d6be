import { parseInstant } from '../base/clock.js'
import { giveWay, isDue } from '../base/event-loop.js'
import type { Evidence } from '../models/language-model.js'
import { frameWordsOf } from '../ranking/query.js'
import { NAME_BEFORE_TEXT } from '../ranking/scoring/signals.js'
import { ASSISTANTS } from '../stores/context.js'
import { otherForms } from '../text/alternative-terms.js'
import { contentStems, sentencesOf } from '../text/analysis.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem, words } from '../text/words.js'

/**
 * What people tell about themselves and change: a statement of such a matter and one of its change share no word
 * (`I live in Berlin`, `I moved to Paris`).
 */
const MATTERS = `
live reside move relocate settle apartment flat,
work job employ career hire join company firm employer quit resign promote position role profession office
retire occupation,
boss manager supervisor,
study major university college school degree enroll graduate course student,
marry wife husband spouse partner boyfriend girlfriend date engage divorce single relationship fiance widow separate,
eat diet vegan vegetarian meat pescatarian gluten dairy lactose food cook keto,
drink coffee tea alcohol beer wine sober decaf caffeine soda,
allergy allergic intolerant react outgrow,
drive car commute vehicle bike bicycle cycle bus train metro scooter tram ride,
phone number mobile laptop computer device android iphone,
name call rename surname nickname,
gym exercise workout run jog yoga swim train climb pilates,
smoke cigarette vape nicotine,
editor theme language framework database stack tool migrate switch deploy hosting,
meet meeting appointment schedule reschedule postpone cancel deadline release launch flight trip wedding party
conference,
doctor dentist physician therapist medicine medication dose pill prescribe,
bank account price cost rent salary budget pay fee,
weigh weight kilo kg pound
`

const MATTER_OF: ReadonlyMap<string, number> = new Map(MATTERS.split(',').flatMap((line, matter) => (
  words(line).map((word): [string, number] => [stem(word), matter])
)))

/** Whether a text with these stems has the stem, or a word of the same matter. */
export function hasWordOrMatter (stems: ReadonlySet<string>, matters: ReadonlySet<number>, stem: string): boolean {
  const matter = MATTER_OF.get(stem)
  return stems.has(stem) || (matter !== undefined && matters.has(matter))
}

/** The matters that a text with these stems is about. */
function mattersOf (stems: Iterable<string>): ReadonlySet<number> {
  const matters = new Set<number>()
  for (const stem of stems) {
    const matter = MATTER_OF.get(stem)
    if (matter !== undefined) matters.add(matter)
  }
  return matters
}

/** Words of greetings, thanks, praise and agreement, as `words` folds them: alone they tell nothing. */
const SMALL_TALK: ReadonlySet<string> = new Set(words(`
  hey hi hello yo hiya morning evening afternoon night goodnight bye goodbye see ya later soon care welcome
  wow whoa woah oh ooh aw aww ah haha hahaha lol omg gosh yay woohoo hooray
  thanks thank thx ty appreciate congrats congratulations cheers please sorry
  yes yeah yep yup yea nope nah no ok okay sure right exactly absolutely definitely totally certainly course indeed
  true agreed agree same too also really very so such pretty super quite much lot lots just well then now
  great good nice cool awesome amazing wonderful fantastic lovely beautiful fabulous incredible impressive perfect
  excellent brilliant sweet neat fun interesting exciting inspiring gorgeous stunning adorable cute
  glad happy excited thrilled proud sounds sound looks look seems like love hear heard know got get bet guess think
  thats thatll its im youre your youve you me i my we us he she they them it that this these those there here what
  how who a an the is are was were be been am do did does have has had can could would will to of for with about at
  in on and or but if as from all always ever again back long time catch catching up chat talk talking new stuff
  hope hoping doing going fine best wishes luck day everything anything something things thing mate buddy friend pal
  dear guys man girl bro dude there miss missed cant wait way tell meet seeing keep keeping support
  sharing share help let makes made
`))
/** A greeting, an exclamation or an agreement before what is said, perhaps with a name: `Hey Mel!`, `Yeah, Jo,`. */
const OPENING = new RegExp([
  String.raw`^(?:(?:hey|hi|hiya|hello|yo|wow|whoa|woah|oh|ooh|aww?|ah|haha|yay|yes|yeah|yep|yup|yea|nope|nah|no|ok`,
  String.raw`|okay|sure|right|exactly|absolutely|definitely|totally|of course|thanks(?: a lot| so much)?`,
  String.raw`|thank you(?: so much)?|congrats|congratulations|sorry|cheers|good (?:morning|evening|afternoon))`,
  String.raw`(?:\s+(?:there|guys|everyone|\p{L}[\p{L}'’.-]*))?\s*[,!.…—–-]+\s*`,
  String.raw`(?:\p{L}[\p{L}'’-]*\s*[,!.]+\s*)?)+`,
].join(''), 'iu')

/** The sentence without a greeting, an exclamation or an agreement before it. */
export function withoutOpening (sentence: string): string {
  const opening = OPENING.exec(sentence)?.[0] ?? ''
  return sentence.slice(opening.length)
}

/**
 * Whether a sentence tells something: it has a word besides small talk and names of those who speak.
 * @param isName whether a folded word is such a name
 */
function tellsSomething (sentence: string, isName: (word: string) => boolean): boolean {
  return words(sentence).some((word) => !SMALL_TALK.has(word) && !isName(word))
}

export type AskedFor = 'time' | 'number' | 'place' | 'person' | 'reason' | 'other'

/** A question as the choice of sentences sees it. */
export interface Asked {
  readonly kind: AskedFor
  /** Stems of the words that an answer shares with the question, without names of speakers; distinct. */
  readonly terms: readonly string[]
  /** The matters of its words. */
  readonly matters: ReadonlySet<number>
  /** The speakers, as in `speakerKey`, whom it names or, as `I` or `you`, means. */
  readonly speakers: ReadonlySet<string>
  /** The stems of their names. */
  readonly names: ReadonlySet<string>
  /** Whether it asks for what holds now, of which only the latest statement may be true: `Where do I live?` */
  readonly isAboutPresent: boolean
}

/** A question of more words is told by its first ones, so that a long one does not cost more. */
const MAX_TERMS = 64

const KINDS: ReadonlyArray<[AskedFor, RegExp]> = [
  ['time', new RegExp([
    String.raw`\b(?:when|what (?:date|day|month|year|time)s?|which (?:date|day|week|month|year)s?|how long ago`,
    String.raw`|since when|in what (?:month|year))\b`,
  ].join(''), 'i')],
  ['number', new RegExp([
    String.raw`\bhow (?:many|much|old|far|often|tall|big|large|long|high|fast)\b|\b(?:what|which)\b[^.?!]{0,40}?\b`,
    String.raw`(?:total|average|percentage|cost|price|amount|number|rate|age|budget|score|size|salary|limit|deadline`,
    String.raw`|distance|weight|height|temperature|speed|version|duration)\b`,
  ].join(''), 'i')],
  ['place', /\b(?:where|(?:which|what) (?:city|cities|country|countries|states?|places?|areas?|locations?|towns?))\b/i],
  ['person', new RegExp([
    String.raw`^\s*(?:with |to |from |for )?(?:who|whom|whose)\b`,
    String.raw`\bwhat(?:['’]s| is| was) (?:the |my |his |her )?name\b`,
  ].join('|'), 'i')],
  ['reason', /\bwhy\b|\b(?:what|which) (?:\w+ )?(?:motivated|inspired|made|prompted|led|reasons?)\b/i],
]
/** `Where do I live?`, `What is my job now?`; not `What does she say about …`, which has no present state. */
const PRESENT = new RegExp([
  String.raw`^\s*(?:[\p{L}'’-]+\s+){0,6}?(?:is|are|am|do|does)\b`,
  String.raw`\b(?:currently|nowadays|these days|still|at the moment)\b`,
].join('|'), 'iu')
const NOT_PRESENT = /\b(?:did|was|were|had|used to|before|first|ever|originally|previously|ago|last|going to)\b/i
const FIRST_PERSON = /\b(?:i|my|mine|myself|(?<!\b(?:tell|show|give|help|let|send|write|ask|remind) )me|we|our)\b/i
const SECOND_PERSON = new RegExp([
  String.raw`\b(?:did|had|have) you\b|\bremind me\b|\byou (?:\w+ )?(?:told|said|mentioned|recommended|suggested|gave`,
  String.raw`|provided|listed|explained|described|wrote|advised)\b|\byour (?:\w+ )?(?:advice|answer|suggestion`,
  String.raw`|recommendation|explanation|list|plan)s?\b`,
].join(''), 'i')

/** By which speakers are compared. */
function speakerKey (speaker: string): string {
  return words(speaker).join(' ')
}

export function isAssistant (key: string): boolean {
  return ASSISTANTS.includes(key)
}

/**
 * Reads a question about evidence.
 * @param known the keys of the speakers of the evidence
 */
export function readQuestion (question: string, known: ReadonlySet<string>): Asked {
  const folded = words(question)
  const named = [...known].filter((key) => isNamedIn(key, folded))
  const speakers = new Set(named)
  if (named.length === 0) {
    const asksAssistant = SECOND_PERSON.test(question) || folded.some(isAssistant)
    if (asksAssistant) for (const key of known) if (isAssistant(key)) speakers.add(key)
    if (speakers.size === 0 && FIRST_PERSON.test(question) && known.has('user')) speakers.add('user')
  }
  const names = new Set([...speakers].flatMap((key) => contentStems(key)))
  const isFrame = frameWordsOf(question, {
    asksForAssistantTurn: [...speakers].some(isAssistant), asksForMethod: false, asksForAdvice: false,
  })
  // What was so before does not say that it was.
  const stems = [...new Set(contentStems(question.replace(PAST, '')))].filter((stem) => !names.has(stem))
  const terms = stems.filter((stem) => !isFrame(stem))
  const kind = KINDS.find(([, form]) => form.test(question))?.[0] ?? 'other'
  return {
    kind,
    terms: (terms.length > 0 ? terms : stems).slice(0, MAX_TERMS),
    matters: mattersOf(stems),
    speakers,
    names,
    isAboutPresent: kind !== 'reason' && PRESENT.test(question) && !NOT_PRESENT.test(question),
  }
}

/** A speaker is named by the whole name or by its first word: `Ada` for `Ada Lovelace`. */
function isNamedIn (key: string, folded: readonly string[]): boolean {
  const [first] = key.split(' ')
  return first !== undefined && first !== 'user' && !isAssistant(key) && folded.includes(first)
}

/** Words by which a question asks for what was so before. */
const PAST = new RegExp([
  String.raw`\b(?:before|previous(?:ly)?|prior|former(?:ly)?|earlier|used to|in the past|back then|originally`,
  String.raw`|(?<=\bdid\b[^.?!]*\b)use to)\b`,
].join(''), 'i')

/** Whether a question asks for what was so before, so that superseded memories answer it too. */
export function asksForPast (question: string): boolean {
  return PAST.test(question)
}

/** A memory of the evidence. */
export interface Told {
  /** Number of the evidence, from 1. */
  readonly source: number
  /** As it is shown; null when nobody is stated. */
  readonly speaker: string | null
  /** As in `speakerKey`; empty when nobody is stated. */
  readonly speakerKey: string
  /** Milliseconds since the epoch; null when unknown. */
  readonly instant: number | null
  /** Whether `instant` is when the memory was stored, because it has no time of its own. */
  readonly isStoredAt: boolean
  /** Whether another memory took its place. */
  readonly isSuperseded: boolean
  /** How well recall ranked it, from 0 to 1. */
  readonly score: number
  /** The cosine of the question and the memory, 0 without one. */
  readonly similarity: number
  /** Stems of all words; stop words unstemmed. */
  readonly terms: ReadonlySet<string>
  /** The matters that its words are about. */
  readonly matters: ReadonlySet<number>
  readonly statements: readonly Statement[]
}

/** A sentence that tells something. */
export interface Statement {
  readonly told: Told
  /** Place in the text, from 0. */
  readonly place: number
  /** As it is quoted. */
  readonly text: string
  readonly terms: ReadonlySet<string>
  readonly matters: ReadonlySet<number>
  /** Stems of the words that are not stop words, in order. */
  readonly contentTerms: readonly string[]
}

/** The description of a picture, which nobody said. */
const CAPTION = /^\[(?:photo|image|picture)\b[^\]]*\]\s*$/i
/** What follows a statement in one sentence, up to a question mark: `…, can you help?` */
const QUESTION_PART = new RegExp([
  String.raw`[,;:—–-]\s*(?:(?:and|but|so)\s+)?(?=(?:can|could|would|will|should|do|does|did|is|are|was|what|how`,
  String.raw`|why|when|where|who|which|any|have|has)\b)`,
].join(''), 'iu')
/** The score of evidence that was not ranked. */
const UNRANKED = 0.5
const ASKS = /[?？؟]\s*["'”’)\]]*$/u

/** Reads the statements of the evidence, sentence by sentence. */
export async function statementsIn (evidence: readonly Evidence[]): Promise<Told[]> {
  const told: Told[] = []
  for (const [index, memory] of evidence.entries()) {
    if (isDue()) await giveWay()
    const { text: whole, speaker: stated = null, occurredAt, retainedAt } = memory
    const named = stated === null ? NAME_BEFORE_TEXT.exec(whole) : null
    const speaker = stated ?? named?.[1] ?? null
    const text = named === null ? whole : whole.slice(named[0].length)
    const statements: Statement[] = []
    const terms = new Set<string>()
    const matters = new Set<number>()
    const one: Told = {
      source: index + 1,
      speaker,
      speakerKey: speaker === null ? '' : speakerKey(speaker),
      instant: parseInstant(occurredAt ?? retainedAt) ?? null,
      isStoredAt: occurredAt === null,
      score: memory.score ?? UNRANKED,
      similarity: memory.similarity ?? 0,
      isSuperseded: memory.superseded === true,
      terms,
      matters,
      statements,
    }
    for (const { start, end } of sentencesOf(text)) {
      const sentence = text.slice(start, end)
      const read = readTerms(sentence)
      for (const term of read.terms) terms.add(term)
      for (const matter of read.matters) matters.add(matter)
      statements.push({ told: one, place: statements.length, text: sentence, ...read })
    }
    told.push(one)
  }
  return told
}

/** @returns the part of a sentence that states something; undefined when it only greets, reacts or asks */
export function statedIn (sentence: string, isName: (word: string) => boolean): string | undefined {
  const said = withoutOpening(withoutCaption(sentence))
  const stated = ASKS.test(said) ? statementBeforeQuestion(said) : said
  return stated !== undefined && tellsSomething(stated, isName) ? stated : undefined
}

function withoutCaption (sentence: string): string {
  const start = sentence.lastIndexOf('[')
  return start !== -1 && CAPTION.test(sentence.slice(start)) ? sentence.slice(0, start).trimEnd() : sentence
}

function statementBeforeQuestion (sentence: string): string | undefined {
  const part = QUESTION_PART.exec(sentence)
  return part === null || part.index === 0 ? undefined : `${sentence.slice(0, part.index)} …`
}

function readTerms (text: string): Pick<Statement, 'terms' | 'matters' | 'contentTerms'> {
  const terms = new Set<string>()
  const contentTerms: string[] = []
  for (const word of words(text)) {
    const isContent = !STOP_WORDS.has(word)
    const term = isContent ? stem(word) : word
    terms.add(term)
    for (const other of otherForms(term)) terms.add(other)
    if (isContent) contentTerms.push(term)
  }
  return { terms, matters: mattersOf(contentTerms), contentTerms }
}
