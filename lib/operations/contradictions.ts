import { isAtLeast } from '../access/trust.js'
import { isAssistant } from '../answering/statements.js'
import { beginningOf, shorten } from '../base/shorten.js'
import type { Memory } from '../stores/vector-store.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem, words } from '../text/words.js'
import {
  canonical, canonicalSetOf, claimsIn, MAX_CHARACTERS, POINTERS, setOf, STATE_STEMS, stemSetOf, USER, wordsOf,
  type Claim, type Claims, type Phrase,
} from './claims.js'
import { NEGATIONS } from './dedup.js'

/** Why a memory may be superseded. */
export type SupersededKind = 'same_key' | 'value' | 'number' | 'negation' | 'place' | 'near_duplicate'

/** What is compared of a memory. */
export type Comparable = Pick<Memory, 'text' | 'speaker' | 'occurredAt' | 'trust' | 'key'>

export interface Superseded {
  readonly memoryId: string
  readonly because: SupersededKind
  /** A sentence for the person who decides. */
  readonly detail: string
}

const SHOWN_CHARACTERS = 120

/**
 * The memories that a new one may supersede: of the same key; with nearly the same words; or with a statement of the
 * same subject with another value, number or place, or negated. It compares words, not meaning: what it finds is a
 * proposal. It reads English; of texts in other languages it finds the same key and the same words.
 *
 * A memory of lower trust supersedes none of higher trust, and an earlier one no later one.
 * @returns in the order of the candidates, each at most once
 */
export function findSuperseded (
  memory: Comparable, candidates: ReadonlyArray<Comparable & Pick<Memory, 'memoryId'>>,
): Superseded[] {
  const found: Superseded[] = []
  let later: Reading | undefined
  for (const candidate of candidates) {
    if (!isAtLeast(memory.trust, candidate.trust) || isEarlier(memory, candidate)) continue
    const { memoryId, key } = candidate
    if (key !== null && key === memory.key) {
      found.push({ memoryId, because: 'same_key', detail: `Both have the key "${shorten(key, SHOWN_CHARACTERS)}".` })
      continue
    }
    later ??= read(memory)
    const isOfSpeaker = candidate.speaker === memory.speaker
    if (!isOfSpeaker && !mayShareSubject(candidate, later)) continue
    const states = later.claims.length > 0 || later.matters.length > 0
    if (!states && (later.wording === undefined || !isOfSpeaker)) continue
    const reason = compare(read(candidate, states), later)
    if (reason !== undefined) found.push({ memoryId, ...reason })
  }
  return found
}

function isEarlier ({ occurredAt: one }: Comparable, { occurredAt: other }: Comparable): boolean {
  return one !== null && other !== null && one < other
}

/** Whether what another speaker said can be about the same: it names the speaker, or what is said now has a name. */
function mayShareSubject ({ text }: Comparable, { speaker, claims }: Reading): boolean {
  const [name = ''] = speaker.split(' ')
  return claims.some(({ owner }) => owner !== undefined) ||
    (name !== '' && beginningOf(text, MAX_CHARACTERS).toLowerCase().includes(name))
}

/** A text as it is compared. */
interface Reading extends Claims {
  /** The folded name of the speaker; empty when nobody is stated. */
  readonly speaker: string
  /** Equal for texts with the same content words in the same order; undefined for a short or a long text. */
  readonly wording: string | undefined
}

/** The phrases of which one has a single value at a time: by verb, the prepositions. */
const SINGLE: ReadonlyMap<string, ReadonlySet<string>> = new Map(Object.entries({
  live: 'in at on near to',
  work: 'at for as from',
  drive: '.',
  commute: 'by',
  bank: 'with',
  report: 'to',
  prefer: '.',
  stay: 'at in',
  park: 'in at on',
  write: 'in',
  sit: 'in at on',
  keep: 'in at on',
  host: 'in at on',
  store: 'in at',
}).map(([verb, list]) => [stem(verb), new Set(wordsOf(list).map((word) => word === '.' ? '' : word))]))
/** What these tell of somebody may be one of several. */
const OF_THINGS = stemSetOf('write store host keep')
/** A word of change makes two values of these exclude each other. */
const CHANGING = stemSetOf('study write deploy train bank run')
/** It does not with these: who likes tea now may still like coffee. */
const ADDITIVE = stemSetOf('like love hate enjoy have own speak know need see buy watch listen meet play do can')
/** An owner has one, whatever it is. */
const ATTRIBUTES = canonicalSetOf(`name surname nickname colour password passcode pin code address deadline
  timezone currency email username version birthday size hometown major branch default favourite`)
/** An owner has one, who is named; `my boss is strict` tells another thing of the same. */
const ROLES = canonicalSetOf(`boss manager supervisor lead leader ceo cto dentist doctor therapist landlord
  accountant lawyer employer occupation profession job contact captain president capital principal owner maintainer
  spouse`)
/** Where they are is where they stay: `Our office is in Ghent`. */
const SEATS = canonicalSetOf(`office headquarters company warehouse shop store flat house apartment home studio
  clinic school server site`)
/** The ends of stems of occupations: `teacher`, `doctor`, `artist`. */
const OCCUPATION = /(?:er|or|ist|ian|ant|eer|wif|nurs|chef|cook|pilot|vet|clerk|princip|guid|coach|student|author)$/
/** Of the words of a list only one is true of somebody at a time. */
const STATUSES = ['single engaged married divorced widowed separated', 'vegetarian vegan pescatarian carnivore']
  .map(canonicalSetOf)
const PLACES = setOf('in at on to into near under behind by')
const LOCATIONS = setOf('in at on near under behind')
const NO_PLACE_VERBS = stemSetOf('commute write report study deploy train')
/** `in love` is no place. */
const NO_PLACE = setOf('love trouble way same hurry mood charge touch shape person general fact hold track fire')

/** Names of countries: who lives in one may live in a city of it. */
const COUNTRIES: ReadonlySet<string> = countries()

function countries (): ReadonlySet<string> {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
  const found = letters.flatMap((one) => letters.flatMap((other) => names.of(one + other) ?? []))
  return new Set([...found, 'America', 'USA', 'UK', 'England', 'Scotland', 'Wales', 'Europe', 'Asia', 'Africa']
    .map((name) => words(name).map(canonical).join(' ')))
}

const NOTHING: Claims = { claims: [], matters: [] }

/** @param withClaims whether there are any to compare them with */
function read ({ text, speaker }: Comparable, withClaims = true): Reading {
  const key = speaker === null ? '' : words(speaker).join(' ')
  const isOfAssistant = isAssistant(key)
  const { claims, matters } = withClaims && (!isOfAssistant || /\buser\b/i.test(text)) ? claimsIn(text) : NOTHING
  return isOfAssistant
    ? { speaker: key, matters: [], claims: claims.filter(({ owner }) => owner === USER), wording: undefined }
    : { speaker: key, matters, claims, wording: wordingOf(text) }
}

type Reason = Pick<Superseded, 'because' | 'detail'>

function compare (earlier: Reading, later: Reading): Reason | undefined {
  for (const now of later.claims) {
    for (const before of earlier.claims) {
      if (!haveOneSubject(before, earlier.speaker, now, later.speaker)) continue
      const because = kindOf(before, now)
      if (because !== undefined) return { because, detail: DETAILS[because](quoted(before), quoted(now)) }
    }
  }
  if (earlier.speaker === later.speaker) {
    for (const now of later.matters) {
      if (!now.isChange) continue
      const before = earlier.matters.find(({ matter, isChange }) => matter === now.matter && !isChange)
      if (before !== undefined && !sharesName(before.shown, now.shown)) {
        const because = now.matter.because
        return { because, detail: DETAILS[because](quoted(before), quoted(now)) }
      }
    }
  }
  if (earlier.wording !== undefined && earlier.wording === later.wording && earlier.speaker === later.speaker) {
    return { because: 'near_duplicate', detail: 'Both say the same in nearly the same words.' }
  }
  return undefined
}

/** Whether two clauses have a name in common, besides `I`: of a place or a company, which then is the same. */
function sharesName (one: string, other: string): boolean {
  const names = new Set(one.match(NAMES) ?? [])
  return (other.match(NAMES) ?? []).some((name) => names.has(name))
}

const NAMES = /(?<=\s)\p{Lu}\p{L}+/gu

const quoted = ({ shown }: { readonly shown: string }) => `"${shorten(shown, SHOWN_CHARACTERS)}"`

type ClaimKind = Exclude<SupersededKind, 'same_key' | 'near_duplicate'>

const DETAILS: Readonly<Record<ClaimKind, (before: string, now: string) => string>> = {
  value: (before, now) => `${now} gives another value than ${before}.`,
  number: (before, now) => `${now} gives another number, amount or date than ${before}.`,
  negation: (before, now) => `${now} says the opposite of ${before}.`,
  place: (before, now) => `${now} gives another place than ${before}.`,
}

/** The first person is the speaker; a name is a speaker of this name, or the same name. */
function haveOneSubject (before: Claim, saidBy: string, now: Claim, laterBy: string): boolean {
  if (before.of !== now.of) return false
  const isSelf = before.owner === undefined && now.owner === undefined
  if (isSelf) return saidBy === laterBy
  const one = before.owner ?? saidBy
  const other = now.owner ?? laterBy
  if (one === '' || other === '') return false
  const isSame = before.owner !== undefined && now.owner !== undefined
    ? one === other && (saidBy === laterBy || before.of === '')
    : one === other || one.split(' ')[0] === other || other.split(' ')[0] === one
  return isSame
}

function kindOf (before: Claim, now: Claim): ClaimKind | undefined {
  if (before.isNegated || now.isNegated) {
    return before.isNegated !== now.isNegated && isNegationOf(before, now) ? 'negation' : undefined
  }
  if (now.verb === 'switch' || (now.verb === 'live' && before.verb !== 'live' && now.of === '')) {
    return isSwitchFrom(before, now) ? 'value' : undefined
  }
  if (before.verb !== now.verb && !(isAtPlace(before) && isAtPlace(now))) return undefined
  const pair = differingPhrases(before, now)
  if (pair === undefined) return undefined
  const { from, to, ofOnlyNow, ofOnlyBefore } = pair
  if ([...contentOf(before), ...contentOf(now)].some((word) => POINTERS.has(word))) return undefined
  if (from.hasNumber && to.hasNumber && from.masked === to.masked) {
    const isOfOne = now.verb === 'be'
      ? !ofOnlyNow && !ofOnlyBefore
      : TIMED.has(now.verb) || (!/#[tdwo]/.test(to.masked) && !(ofOnlyNow && ofOnlyBefore))
    return isOfOne || now.isChange ? 'number' : undefined
  }
  if (now.isAddition || before.isAddition || isPart(from, to) || isPart(to, from)) return undefined
  if (!isSingle(before, now, from, to)) return undefined
  if (!isPlaceOf(now.verb, to)) return 'value'
  const isWithin = COUNTRIES.has(from.words.join(' ')) !== COUNTRIES.has(to.words.join(' '))
  return isWithin && !now.isChange ? undefined : 'place'
}

function isPlaceOf (verb: string, { preposition, hasNumber }: Phrase): boolean {
  if (verb === 'work') return preposition === 'from'
  return !NO_PLACE_VERBS.has(verb) && PLACES.has(preposition) && !hasNumber
}

/** `Our office is in Ghent`, `Our office moved to Bruges`. */
function isAtPlace ({ verb, of }: Claim): boolean {
  return verb === 'live' || (verb === 'be' && of.split(' ').some((noun) => SEATS.has(noun)))
}

/** Verbs that tell a whole habit without an object. */
const HABITS = stemSetOf('smoke vape drink gamble')
/** Others that tell something without an object, unlike `I know`. */
const INTRANSITIVE = new Set(wordsOf(`swim drive cook bake dance sing paint fish hunt knit garden snore work jog cycle
  bite stutter hire stream read write teach travel commute vote pass`).flatMap((verb) => (
  [stem(verb), `can ${stem(verb)}`]
)))
/** What is so for an hour. */
const TRANSIENT = canonicalSetOf(`hungry tired sure ready busy home done alone okay ok late sick well available awake
  happy sad nervous worried certain able afraid scared surprised kidding sleepy thirsty bored cold hot free excited time
  idea clue doubt energy mood money plan thing`)
/** Verbs that tell the one time of something; there may be meetings on two days. */
const TIMED = stemSetOf('leave start end open close depart arrive begin happen expire')
/** Words of when something ended. */
const TIMES = canonicalSetOf(`ago day week month year last january february march april june july august september
  october november december`)

/** The negated statement must not be narrower: who eats no meat on Fridays eats meat. */
function isNegationOf (before: Claim, now: Claim): boolean {
  const [negated, stated] = before.isNegated ? [before, now] : [now, before]
  const denied = contentOf(negated).filter((word) => !negated.isEnd || !(TIMES.has(word) || /^#[nd]/.test(word)))
  const said = new Set(contentOf(stated))
  if (denied.some((word) => POINTERS.has(word)) || !denied.every((word) => said.has(word))) return false
  if (negated.verb === 'end') return denied.length > 0
  if (negated.verb !== stated.verb) return false
  if (denied.some((word) => TRANSIENT.has(word))) return false
  if (denied.length > 0) return said.size - denied.length <= 4
  return HABITS.has(negated.verb) || (said.size <= 2 && INTRANSITIVE.has(negated.verb))
}

function isSwitchFrom (before: Claim, now: Claim): boolean {
  const from = now.phrases.find(({ preposition }) => preposition === 'from')
  if (from === undefined || !now.phrases.some(({ preposition }) => preposition === 'to')) return false
  const said = new Set(contentOf(before))
  return from.words.every((word) => said.has(word))
}

function contentOf ({ phrases }: Claim): string[] {
  return phrases.flatMap((phrase) => phrase.words)
}

interface Difference {
  readonly from: Phrase
  readonly to: Phrase
  /** Whether one of them has a phrase of a preposition that the other lacks. */
  readonly ofOnlyBefore: boolean
  readonly ofOnlyNow: boolean
}

/** The one phrase in which two statements of a verb differ; undefined when more of them differ, or none. */
function differingPhrases (before: Claim, now: Claim): Difference | undefined {
  let found: { from: Phrase, to: Phrase } | undefined
  let matched = 0
  for (const to of now.phrases) {
    const from = before.phrases.find(({ preposition }) => preposition === to.preposition) ??
      (to.hasNumber
        ? before.phrases.find(({ masked }) => now.verb === 'be' && masked === to.masked)
        : before.phrases.find(({ preposition, hasNumber }) => (
          !hasNumber && directed(now.verb, preposition) === directed(now.verb, to.preposition)
        )))
    if (from === undefined) continue
    matched++
    if (from.words.join(' ') === to.words.join(' ')) continue
    if (found !== undefined) return undefined
    found = { from, to }
  }
  return found && {
    ...found, ofOnlyNow: matched < now.phrases.length, ofOnlyBefore: matched < before.phrases.length,
  }
}

/** `moved to`, `live in` and `based at` tell a place alike. */
function directed (verb: string, preposition: string): string {
  const tellsPlace = verb === 'live' ? PLACES.has(preposition) : verb === 'be' && LOCATIONS.has(preposition)
  return tellsPlace ? 'in' : preposition
}

function isPart (one: Phrase, other: Phrase): boolean {
  return one.words.every((word) => other.words.includes(word))
}

/** Whether two values of a phrase exclude each other. */
function isSingle (before: Claim, now: Claim, from: Phrase, to: Phrase): boolean {
  if (to.words.length === 0 || from.words.length === 0) return false
  const { verb } = now
  if (verb === 'be') return isSingleState(before, now, from, to)
  if (verb === 'live' || verb === 'stay') {
    if (to.words.some((word) => NO_PLACE.has(word))) return false
    return (from.isNamed && to.isNamed) || (now.isChange && from.isNamed === to.isNamed) || now.of !== ''
  }
  if (SINGLE.get(verb)?.has(to.preposition) === true) {
    // `I work at Acme`, `I work at night`
    if (verb === 'work') return to.preposition === 'as' || (from.isNamed && to.isNamed)
    // `I write in Python` says nothing of another language, and `I prefer dark mode` nothing of short answers.
    if (OF_THINGS.has(verb) && now.of === '' && !now.isChange) return hasOther(before, now, to)
    return verb !== 'prefer' || now.isChange || hasOther(before, now, to) || areAlike(from, to)
  }
  if (verb === 'go') return now.isChange && to.preposition === 'to' && from.isNamed && to.isNamed
  if (!now.isChange || ADDITIVE.has(verb) || !STATE_STEMS.has(verb) || from.preposition !== to.preposition) return false
  // The same frame around it: `I use Vim for notes`, `I eat a vegan diet`.
  return CHANGING.has(verb) || hasOther(before, now, to) || (from.words.length > 1 && areAlike(from, to))
}

/** Whether two values are of one sort: a word each, or with the same last word, as `dark mode` and `light mode`. */
function areAlike ({ words: one }: Phrase, { words: other }: Phrase): boolean {
  return (one.length === 1 && other.length === 1) || one.at(-1) === other.at(-1)
}

/** Whether another phrase of both is the same. */
function hasOther (before: Claim, now: Claim, than: Phrase): boolean {
  return now.phrases.some(({ preposition, words: list }) => preposition !== than.preposition && before.phrases.some(
    (phrase) => phrase.preposition === preposition && phrase.words.join(' ') === list.join(' '),
  ))
}

function isOccupation ({ article, words: list }: Phrase): boolean {
  return /^an?$/.test(article) && list.length <= 3 && OCCUPATION.test(list.at(-1) ?? '')
}

function isSingleState (before: Claim, now: Claim, from: Phrase, to: Phrase): boolean {
  const nouns = now.of.split(' ')
  const areNamed = from.isNamed && to.isNamed
  if (from.preposition === '' && to.preposition === '') {
    if (STATUSES.some((list) => list.has(to.words[0]!) && list.has(from.words[0]!))) return true
    if (now.of === 'there' || now.of === '') {
      // An occupation, or a state that ended: `I'm a midwife now`.
      return now.of === '' && now.isChange && isOccupation(from) && isOccupation(to)
    }
    if (nouns.some((noun) => ATTRIBUTES.has(noun))) return from.article === to.article || now.isChange || areNamed
    const isRole = nouns.some((noun) => ROLES.has(noun))
    const hasArticle = /^(?:an?|my|our)$/.test(from.article) && /^(?:an?|my|our)$/.test(to.article)
    return (isRole || now.isChange) && (hasArticle || areNamed)
  }
  if (directed('be', from.preposition) !== 'in' || directed('be', to.preposition) !== 'in') return false
  if (to.words.some((word) => NO_PLACE.has(word))) return false
  if (now.of === '' && now.owner === undefined) {
    return (areNamed && now.isChange && before.isChange) ||
      (now.isChange && from.words.length > 1 && areAlike(from, to))
  }
  return now.of !== '' && (areNamed || now.isChange)
}

/** A question, a request or thanks: said again it replaces nothing. */
const NO_STATEMENT = new RegExp(String.raw`[?？؟]|^\s*(?:please |now |ok(?:ay)?,? )?(?:${[
  'give|add|act|write|rewrite|create|make|tell|explain|show|continue|list|provide|let|generate|summari[sz]e|translate',
  'help|find|describe|suggest|recommend|use|try|do|go on|thanks?|thank you|sure|yeah|yes',
].join('|')})\b|\byou to\b|\b(?:thanks|thank you|if you|you could)\b`, 'i')
/** A longer text is pasted or told, and no fact. */
const MAX_WORDING_CHARACTERS = 300
/** Fewer content words are no wording of their own. */
const LEAST_WORDS = 4
/** Words around a statement that change nothing of it. */
const FILLER: ReadonlySet<string> = new Set(wordsOf(`remember note just really btw hey please always still already
  so well actually hi`).map(stem))
const OTHERS = setOf('you your yours he him his she her hers they them their')

function wordingOf (text: string): string | undefined {
  if (text.length > MAX_WORDING_CHARACTERS || NO_STATEMENT.test(text)) return undefined
  const found: string[] = []
  let negations = 0
  let count = 0
  let isEnglish = false
  for (const word of words(text)) {
    if (NEGATIONS.has(word)) negations++
    if (OTHERS.has(word)) found.push(word)
    if (STOP_WORDS.has(word)) {
      isEnglish = true
      continue
    }
    const term = canonical(word)
    if (FILLER.has(term)) continue
    found.push(term)
    count++
  }
  return count < LEAST_WORDS || !isEnglish ? undefined : `${negations} ${found.join(' ')}`
}
