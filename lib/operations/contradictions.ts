import { isAtLeast } from '../access/trust.js'
import { beginningOf, shorten } from '../base/shorten.js'
import { SentenceReader } from '../answering/sentence-reader.js'
import { isAssistant, withoutOpening } from '../answering/statements.js'
import type { Memory } from '../stores/vector-store.js'
import { otherForms } from '../text/alternative-terms.js'
import { endsInQuestion } from '../text/analysis.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem, words } from '../text/words.js'
import { NEGATIONS } from './dedup.js'

/** Why a memory may be superseded. */
export type SupersededKind = 'same_key' | 'value' | 'number' | 'negation' | 'place' | 'near_duplicate'

/** What is compared of a memory. */
export type Comparable = Pick<Memory, 'text' | 'speaker' | 'occurredAt' | 'trust'> & { readonly key?: string | null }

export interface Superseded {
  readonly memoryId: string
  readonly because: SupersededKind
  /** A sentence for the person who decides. */
  readonly detail: string
}

/** The beginning of a text that is read for statements; a longer text is a story, whose beginning tells its matter. */
const MAX_CHARACTERS = 1_000
/** A text has at most so many statements, because each is compared with each of the other's. */
const MAX_CLAIMS = 16
/** A clause of more words is a story too. */
const MAX_CLAUSE_WORDS = 24
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
  memory: Comparable, candidates: ReadonlyArray<Comparable & { readonly memoryId: string }>,
): Superseded[] {
  const found: Superseded[] = []
  let later: Reading | undefined
  for (const candidate of candidates) {
    if (!isAtLeast(memory.trust, candidate.trust)) continue
    if (candidate.occurredAt !== null && memory.occurredAt !== null && candidate.occurredAt > memory.occurredAt) continue
    const { memoryId, key } = candidate
    if (key !== undefined && key !== null && key === memory.key) {
      found.push({ memoryId, because: 'same_key', detail: `Both have the key "${shorten(key, SHOWN_CHARACTERS)}".` })
      continue
    }
    later ??= read(memory)
    if (candidate.speaker !== memory.speaker && !mayShareSubject(candidate, later)) continue
    if (later.claims.length === 0 && (later.wording === undefined || candidate.speaker !== memory.speaker)) continue
    const reason = compare(read(candidate, later.claims.length > 0), later)
    if (reason !== undefined) found.push({ memoryId, ...reason })
  }
  return found
}

/** Whether what another speaker said can be about the same: it names the speaker, or what is said now has a name. */
function mayShareSubject ({ text }: Comparable, { speaker, claims }: Reading): boolean {
  const [name = ''] = speaker.split(' ')
  return claims.some(({ owner }) => owner !== undefined) ||
    (name !== '' && beginningOf(text, MAX_CHARACTERS).toLowerCase().includes(name))
}

/** A text as it is compared. */
interface Reading {
  /** The folded name of the speaker; empty when nobody is stated. */
  readonly speaker: string
  readonly claims: readonly Claim[]
  /** Equal for texts with the same content words in the same order; undefined for a short or a long text. */
  readonly wording: string | undefined
}

/** A statement of what is so at the time when it is made: `I don't live in Rome anymore`. */
interface Claim {
  /** The clause as it stands. */
  readonly shown: string
  /** Of whom it is, folded; undefined for the speaker. */
  readonly owner: string | undefined
  /** What of the owner's: the folded words of `my favourite colour`; empty for the owner. */
  readonly of: string
  readonly verb: string
  readonly isNegated: boolean
  /** Whether it has a word of change. */
  readonly isChange: boolean
  /** Whether it says that it is one of several: `too`, `another`. */
  readonly isAddition: boolean
  readonly phrases: readonly Phrase[]
}

/** The words up to the next preposition, as folded stems. */
interface Phrase {
  /** Empty for the object of the verb. */
  readonly preposition: string
  readonly words: readonly string[]
  /** The words with `#` for the value of each number. */
  readonly masked: string
  readonly hasNumber: boolean
  readonly article: string
  /** Whether it has a capital letter, as names have. */
  readonly isNamed: boolean
}

const wordsOf = (list: string) => list.trim().split(/\s+/)
const setOf = (list: string): ReadonlySet<string> => new Set(wordsOf(list))

/** A sentence with one of these tells no fact of its speaker: a wish, a plan, a condition, or what others say. */
const NO_FACT = new RegExp(String.raw`\b(?:${[
  'if|unless|whether|might|maybe|perhaps|probably|possibly|could|would|should|shall|wish|hop(?:e|es|ing)',
  '(?<!\\d |\\d(?:st|nd|rd|th) |\\b(?:in|of|since|until|by) )may\\b(?! \\d)',
  "will|'ll|gonna|wanna|want to|wants to|plan(?:s|ning)? to|planning|(?:try|tries|trying) to|(?:think|thinking) (?:of|about)",
  "imagine|suppose|pretend|say(?:s|ing)?|said|t(?:ell|ells|old)|claim(?:s|ed)?|thinks?|thought|according|guess",
  "'d|goals?|dreams?|dreaming|one day|some ?day|ideally|hypothetically|another life|for example|in this example|as if",
  'not sure|meaning to|unsure|wonder(?:ing)?|asked|heard|rumou?rs?|typo|joke|joking|kidding|considering|looking (?:at|for|into)',
].join('|')})\b|["“”«»]|^\s*(?:let|say|step|todo)\b`, 'i')
/** A clause with one of these is of an occasion, beside which there are others. */
const OCCASION = new RegExp(String.raw`\b(?:${[
  'yesterday|tomorrow|tonight|today|this (?:morning|afternoon|evening|weekend|week|month|year|time)',
  '(?:last|next) \\w+|in (?:summer|winter|spring|autumn)|during|when|while|ago|as a (?:child|kid|boy|girl|student)',
].join('|')})\b`, 'i')
const CHANGE = new RegExp(String.raw`\b(?:${[
  'now|nowadays|anymore|nolonger|usedto|since|from today|as of|instead|after all|new',
  'switched|moved|changed|renamed|reset|rescheduled|turns out|not \\w+$',
].join('|')})\b`, 'i')
const ADDITION = /\b(?:also|too|as well|another|besides|both|either|one of|some of)\b/i

/** Rewritten before a clause is split into words, so that each of these is one word, or the plain one. */
const REWRITTEN: ReadonlyArray<readonly [RegExp, string]> = [
  [/[\u2019\u02bc]/g, "'"],
  [/\bcan't\b|\bcannot\b/gi, 'can not'],
  [/\bwon't\b/gi, 'will not'],
  [/n't\b/gi, ' not'],
  [/'m\b/gi, ' am'],
  [/'re\b/gi, ' are'],
  [/'ve\b/gi, ' have'],
  [/\b(?:at the moment|these days|right now|nowadays|as of (?:\w+ ?){1,2}$|from (?:today|now)(?: on)?)/gi, 'now'],
  [/\bany ?(?:more|longer)\b/gi, 'anymore'],
  [/\bno longer\b/gi, 'nolonger'],
  [/\bused to\b/gi, 'usedto'],
  [/\b(?:g[ai]ve(?:n)? up|got rid of|cancell?ed|sold|ended|quit|stopped)\b/gi, 'ended'],
  [/\b(?:got|have|landed|started|took) (?:a|an|the|my) (?:new )?(?:job|position) (as|at|with)\b/gi, 'work $1'],
  [/\binstead of .*$/gi, 'now'],
  [/\bturned (?=\d)/gi, 'am '],
  [/\b(is|are|am) going to be\b/gi, '$1'],
  [/\b(is|are|am) (?:called|named|planned|scheduled|set)\b/gi, '$1'],
  [/\bhome for (?:me|us) is\b/gi, 'I live in'],
  [/\bcall me\b/gi, 'my name is'],
  [/\bgo-to\b/gi, 'favourite'],
  [/\bcurrently (?=in\b)/gi, 'now '],
  [/\b(?:an|one) (?=(?:minute|hour|day|week|month|year)\b)/gi, '1 '],
  [/\bi am from\b/gi, 'I originate from'],
]
const MONTHS = 'january february march april may june july august september october november december'
const MONTH = `(${MONTHS.replaceAll(' ', '|')})`
const WEEKDAYS = 'monday tuesday wednesday thursday friday saturday sunday'
const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  wordsOf('zero one two three four five six seven eight nine ten eleven twelve').map((word, value) => (
    [word, String(value)]
  )),
)
const SCALES: Readonly<Record<string, number>> = { k: 1_000, thousand: 1_000, m: 1_000_000, million: 1_000_000 }
const CURRENCIES: Readonly<Record<string, string>> = { $: 'dollar', '€': 'euro', '£': 'pound' }
/** Whether anything is to be rewritten. */
const TO_REWRITE = new RegExp(REWRITTEN.map(([form]) => form.source).join('|'), 'i')
const HAS_NUMBER = new RegExp(String.raw`\d|\b(?:once|twice|${WEEKDAYS.replaceAll(' ', '|')})`, 'i')
/** What a number is written in, and its canonical form: `#`, its sort, its value, and the unit as a word. */
const NUMBERS: ReadonlyArray<readonly [RegExp, (...parts: string[]) => string]> = [
  [/\b(\d{1,2})(?:[:.](\d\d))? ?([ap])\.?m\b\.?/gi, (_, hour = '', minute = '0', half = '') => (
    ` #t${(Number(hour) % 12 + (half.toLowerCase() === 'p' ? 12 : 0)) * 60 + Number(minute)} `
  )],
  [/\b([01]?\d|2[0-3]):([0-5]\d)\b/g, (_, hour = '', minute = '') => ` #t${Number(hour) * 60 + Number(minute)} `],
  [new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?${MONTH}\b`, 'gi'), (_, day = '', month = '') => (
    ` #d${month.toLowerCase()}-${Number(day)} `
  )],
  [new RegExp(String.raw`\b${MONTH} (\d{1,2})(?:st|nd|rd|th)?\b`, 'gi'), (_, month = '', day = '') => (
    ` #d${month.toLowerCase()}-${Number(day)} `
  )],
  [new RegExp(String.raw`\b(${WEEKDAYS.replaceAll(' ', '|')})s?\b`, 'gi'), (_, day = '') => ` #w${day.toLowerCase()} `],
  [/\b(\d{1,2})(?:st|nd|rd|th)\b/gi, (_, day = '') => ` #o${day} `],
  [/\bonce\b/gi, () => ' #n1 times '],
  [/\btwice\b/gi, () => ' #n2 times '],
  [/\b\d+(?:[-.]\d+){2,}\b|\b\d{3,}-\d{3,}\b/g, (version = '') => ` #v${version} `],
  [
    /([$€£])? ?(?<![#\w.-])(\d+(?:,\d{3})*(?:\.\d+)?) ?(thousand|million|k|m(?=\s*$))?(?![\w-]*\d)(%)?/gi,
    (_, currency = '', digits = '', scale = '', percent = '') => {
      const value = Number(digits.replaceAll(',', '')) * (SCALES[scale.toLowerCase()] ?? 1)
      return ` #n${value} ${CURRENCIES[currency] ?? ''} ${percent === '' ? '' : 'percent'} `
    },
  ],
]

const ARTICLES = setOf('a an the')
const SELF = setOf('i we')
const MINE = setOf('my our')
/** Words of which the meaning depends on what was said before. */
const POINTERS = setOf('it this that these those they he she you him her them one so there what who something')
const ADVERBS = setOf(`now currently still really just also always recently finally actually even already usually anymore
  lately too very well again honestly basically definitely mostly instead officially only generally mainly nearly about here`)
/** Words with a capital before a verb that name nobody. */
const NO_NAME = setOf('make ensure people everyone many most all every each other another more less no only thanks please')
const AUXILIARIES = setOf('is are has have does do can')
const NEGATED = setOf('not never nolonger usedto')
const PREPOSITIONS = setOf(`in at on to into for with by from as over under behind near since until after because
  before during about through without than like and or every each per`)
const LEADS = setOf('so and but also well actually finally now currently turns out hey ok okay yes yeah no today please')
/** A reason or a beginning, which is no part of what is stated. */
const LEAD_PREPOSITIONS = setOf('after since as for')
const REASONS = setOf('since because after until')

/** Verbs of states and habits, of which a statement in the present holds until it changes. */
const STATE_VERBS = wordsOf(`live reside stay park sit keep work drive ride commute bank report weigh prefer study use run
  go eat drink take cost pay earn teach train read deploy leave start end open close last have own smoke play volunteer
  stream trust support hire require pass wear bite swim like love hate enjoy speak see know need sleep walk belong
  manage lead handle host ship publish send order attend watch listen cook practice meet follow subscribe contain accept
  allow return cover include expire arrive depart begin happen vape gamble snore write build store rent originate bake
  paint sing dance collect grow coach mentor represent serve sell buy date fast jog cycle knit garden fish hunt stutter`)
/** The verb by its forms of the present. */
const FINITE: ReadonlyMap<string, string> = new Map(STATE_VERBS.flatMap((verb): Array<[string, string]> => [
  [verb, stem(verb)], [`${verb}s`, stem(verb)], [`${verb}es`, stem(verb)], [verb.replace(/y$/, 'ies'), stem(verb)],
]).concat([
  ['am', 'be'], ['is', 'be'], ['are', 'be'], ['be', 'be'], ['has', 'have'], ['do', 'do'], ['does', 'do'], ['can', 'can'],
  ['ended', 'end'], ['moved', 'live'], ['relocated', 'live'], ['settled', 'live'], ['switched', 'switch'],
  ['changed', 'switch'], ['migrated', 'switch'], ['usedto', 'usedto'],
]))
const STATE_STEMS: ReadonlySet<string> = new Set(STATE_VERBS.map(stem))
/** What a participle after `am`, `is` or `are` says. */
const PARTICIPLES: ReadonlyMap<string, string> = new Map(Object.entries({
  live: 'based located stationed hosted settled headquartered situated housed residing',
  work: 'employed', write: 'written', store: 'stored', build: 'built',
}).flatMap(([verb, forms]) => wordsOf(forms).map((form): [string, string] => [form, stem(verb)])))

/** The phrases of which one has a single value at a time: by verb, the prepositions. */
const SINGLE: ReadonlyMap<string, ReadonlySet<string>> = new Map(Object.entries({
  live: 'in at on near to', work: 'at for as from', drive: '.', commute: 'by', bank: 'with', report: 'to', prefer: '.',
  stay: 'at in', park: 'in at on', write: 'in', sit: 'in at on', keep: 'in at on', host: 'in at on', store: 'in at',
}).map(([verb, list]) => [stem(verb), new Set(wordsOf(list).map((word) => word === '.' ? '' : word))]))
/** A word of change does not make these exclude each other: who likes tea now may still like coffee. */
/** A word of change makes these exclude each other. */
const CHANGING: ReadonlySet<string> = new Set(wordsOf('study write deploy train bank run').map(stem))
const ADDITIVE: ReadonlySet<string> = new Set(
  wordsOf('like love hate enjoy have own speak know need see buy watch listen meet play do can').map(stem),
)
/** Of each owner there is one. */
const ROLES: ReadonlySet<string> = new Set(wordsOf(`name surname nickname boss manager supervisor lead leader ceo cto
  dentist doctor therapist landlord accountant lawyer colour password passcode pin code address deadline timezone
  employer occupation profession job major branch contact captain president capital currency email username plan
  version birthday size hometown favourite default principal owner maintainer spouse`).map(canonical))
const FAVOURITE = canonical('favourite')
const SEATS: ReadonlySet<string> = new Set(wordsOf(`office headquarters company warehouse shop store flat house apartment
  home studio clinic school server site`).map(canonical))
/** The ends of stems of occupations: `teacher`, `doctor`, `artist`. */
const OCCUPATION = /(?:er|or|ist|ian|ant|eer|wif|nurs|chef|cook|pilot|vet|clerk|princip|guid|coach|student|author)$/
const STATUS = setOf('single engaged married divorced widowed separated')
const PLACES = setOf('in at on to into near under behind by')
const DIRECTIONS: Readonly<Record<string, string>> = { to: 'in', into: 'in', at: 'in', on: 'in', near: 'in', under: 'in', behind: 'in' }
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

/** One stem for a word and its short forms and other spellings: `mom` is `mother`. */
function canonical (word: string): string {
  const one = stem(word)
  let first = one
  for (const other of otherForms(one)) if (other < first) first = other
  return first
}

/** @param withClaims whether there are any to compare them with */
function read ({ text, speaker }: Comparable, withClaims = true): Reading {
  const key = speaker === null ? '' : words(speaker).join(' ')
  const claims: Claim[] = []
  const head = withClaims && !isAssistant(key) ? beginningOf(text, MAX_CHARACTERS) : ''
  for (const sentence of sentencesIn(head)) {
    if (claims.length >= MAX_CLAIMS) break
    if (NO_FACT.test(sentence) || endsInQuestion(sentence)) continue
    pushClaims(withoutOpening(sentence), claims)
  }
  return { speaker: key, claims: claims.slice(0, MAX_CLAIMS), wording: isAssistant(key) ? undefined : wordingOf(text) }
}

function sentencesIn (text: string): string[] {
  const sentences: string[] = []
  const reader = new SentenceReader({
    unit: ({ text: unit, code }) => { if (!code) sentences.push(unit.trim()) },
    lineBreak: () => {},
  })
  reader.push(text)
  reader.end()
  return sentences
}

/** Where a clause ends: what follows is another statement, or a reason. */
const CLAUSES = /[,;:!?()…]+(?:\s+|$)|\s[–—-]+\s|\s(?=(?:but|so|because|though|although)\s)|\s(?:and|then)\s(?=(?:i|we|my|our)\b)/i
/** What follows has the subject of the clause: `We left Kyoto and live in Osaka`. */
const SHARED_SUBJECT = /\sand\s(?:(?:still|now|also)\s)?(?=(\w+)\s)/i

function pushClaims (sentence: string, claims: Claim[]): void {
  const isChange = CHANGE.test(sentence)
  for (const part of sentence.split(CLAUSES)) {
    const seam = SHARED_SUBJECT.exec(part)
    const self = seam !== null && FINITE.has(seam[1]!.toLowerCase()) ? /^(?:\w+ )?(I|we)\b/i.exec(part) : null
    const parts = self === null || seam === null
      ? [part]
      : [part.slice(0, seam.index), `${self[1]!} ${part.slice(seam.index + seam[0].length)}`]
    for (const one of parts) {
      const claim = claimOf(one, isChange, part)
      if (claim !== undefined) claims.push(claim)
    }
  }
}

/** A word as it stands, and folded. */
interface Word {
  readonly raw: string
  readonly folded: string
}

function claimOf (clause: string, isChange: boolean, shown: string): Claim | undefined {
  if (clause.length < 4) return undefined
  let text = clause
  if (TO_REWRITE.test(text)) for (const [from, to] of REWRITTEN) text = text.replace(from, to)
  const isChangeOfClause = isChange || CHANGE.test(text)
  if (HAS_NUMBER.test(text)) for (const [form, canonicalForm] of NUMBERS) text = text.replace(form, canonicalForm)
  const all = text.split(/\s+/).map(toWord).filter(({ folded }) => folded !== '')
  if (all.length < 2 || all.length > MAX_CLAUSE_WORDS) return undefined
  const list = all.filter(({ folded }) => !ADVERBS.has(folded) && folded !== 'please')
  const verbAt = verbIn(list)
  if (verbAt === -1) return undefined
  const isDenied = NEGATED.has(list[verbAt - 1]!.folded)
  const subject = subjectOf(list.slice(0, isDenied ? verbAt - 1 : verbAt))
  const group = subject && verbGroup(list.slice(verbAt))
  if (subject === undefined || group === undefined) return undefined
  if (OCCASION.test(text) && group.verb !== 'live' && group.verb !== 'end') return undefined
  const phrases = phrasesOf(group.rest)
  if (subject.context.length > 0) phrases.push(...phrasesOf(subject.context))
  return {
    shown: shown.trim(),
    owner: subject.owner,
    of: subject.of,
    verb: group.verb,
    isNegated: isDenied || group.isNegated,
    isChange: isChangeOfClause,
    isAddition: ADDITION.test(text),
    phrases: phrases.filter(({ preposition }) => !REASONS.has(preposition)),
  }
}

function toWord (raw: string): Word {
  const bare = raw.replace(/^[^\p{L}\p{N}#]+|[^\p{L}\p{N}]+$/gu, '')
  return { raw: bare, folded: bare.toLowerCase() }
}

/** The place of the verb: of `the team lead is`, not the noun that can be a verb. */
function verbIn (list: readonly Word[]): number {
  const first = list.findIndex(({ folded }, at) => at > 0 && FINITE.has(folded))
  const isOfNoun = first > 0 && list.slice(0, first).some(({ folded }) => MINE.has(folded) || ARTICLES.has(folded)) &&
    !list.slice(0, first).some(({ folded }) => SELF.has(folded))
  const auxiliary = isOfNoun ? list.findIndex(({ folded }, at) => at > first && at <= first + 5 && AUXILIARIES.has(folded)) : -1
  return auxiliary !== -1 && !AUXILIARIES.has(list[first]!.folded) ? auxiliary : first
}

/** Who or what a clause is about; undefined when that is not told by the clause. */
function subjectOf (before: readonly Word[]): { owner: string | undefined, of: string, context: Word[] } | undefined {
  let at = before.length - 1
  while (at >= 0 && !isStart(before, at)) at--
  if (at < 0) {
    const [first] = before
    // A name, which begins the clause: `Anna`, `Lunch break`.
    if (first === undefined || !/^\p{Lu}/u.test(first.raw) || POINTERS.has(first.folded)) return undefined
    if (before.some(({ folded }) => NO_NAME.has(folded) || STOP_WORDS.has(folded) || PREPOSITIONS.has(folded) ||
      FINITE.has(folded))) return undefined
    at = 0
  }
  const lead = before.slice(0, at)
  const isLead = lead.every(({ folded }) => LEADS.has(folded))
  const [leading] = lead
  if (!isLead && (leading === undefined || !LEAD_PREPOSITIONS.has(leading.folded))) return undefined
  const context = !isLead && leading?.folded === 'for' ? lead : []
  const [head, ...rest] = before.slice(at)
  if (head === undefined) return undefined
  const of = rest.filter(({ folded }) => !ARTICLES.has(folded)).map(({ folded }) => canonical(folded))
  if (SELF.has(head.folded)) return of.length === 0 ? { owner: undefined, of: '', context } : undefined
  if (MINE.has(head.folded)) return of.length === 0 ? undefined : { owner: undefined, of: of.join(' '), context }
  if (ARTICLES.has(head.folded)) return of.length === 0 ? undefined : { owner: undefined, of: of.join(' '), context }
  if (head.folded === 'there') return { owner: undefined, of: 'there', context }
  const owner = head.folded.replace(/'s$/, '')
  return { owner, of: of.join(' '), context }
}

/** Whether a subject begins here: `the app` in `the version of the app` does not. */
function isStart (before: readonly Word[], at: number): boolean {
  const { folded } = before[at]!
  if (SELF.has(folded) || folded === 'there') return true
  if (!MINE.has(folded) && !ARTICLES.has(folded)) return false
  const previous = before[at - 1]?.folded
  return previous === undefined || at < 2 || !(PREPOSITIONS.has(previous) || previous === 'of')
}

/** The verb of a clause without its auxiliaries, and what follows it; undefined when it tells of no state. */
function verbGroup (
  from: readonly Word[],
): { verb: string, isNegated: boolean, rest: Word[] } | undefined {
  const [first] = from
  let verb = FINITE.get(first!.folded)!
  let at = 1
  let isNegated = false
  const skipNegation = () => {
    while (at < from.length && NEGATED.has(from[at]!.folded)) {
      isNegated = true
      at++
    }
  }
  const next = () => from[at]?.folded ?? ''
  skipNegation()
  if (verb === 'usedto') {
    isNegated = true
    verb = stem(next())
    at++
  } else if (verb === 'do') {
    if (next() === '') return undefined
    verb = next() === 'have' ? 'have' : stem(next())
    at++
  } else if (verb === 'can') {
    if (next() === '') return undefined
    verb = `can ${stem(next())}`
    at++
  } else if (verb === 'have') {
    const form = next()
    if (form === 'been') {
      at++
      verb = stem(next())
      if (!next().endsWith('ing')) return undefined
      at++
    } else if (FINITE.has(form) && form.endsWith('ed')) {
      verb = FINITE.get(form)!
      at++
    } else if (/(?:ed|en)$|^(?:had|got|gone|done|made|met|won|lost|found|bought|left|come|become|put|to)$/.test(form)) {
      return undefined
    }
  } else if (verb === 'be') {
    const form = next()
    if (form === 'going' && next() !== '') {
      const [, to, after] = from.slice(at - 1)
      if (from[at + 1]?.folded === 'to' && to !== undefined && after !== undefined && isPlanned(from[at + 2])) {
        return undefined
      }
    }
    const participle = PARTICIPLES.get(form)
    if (participle !== undefined) verb = participle
    else if (form.endsWith('ing') && form.length > 5) {
      verb = stem(form)
    }
    if (verb !== 'be') at++
  }
  skipNegation()
  if (verb === 'end') {
    isNegated = true
    if (next().endsWith('ing')) {
      verb = stem(next())
      at++
    }
  }
  if (verb === stem('reside') || verb === 'settl') verb = 'live'
  return { verb, isNegated, rest: from.slice(at) }
}

/** Whether `going to` is followed by a verb. */
function isPlanned (after: Word | undefined): boolean {
  return after !== undefined && !/^\p{Lu}/u.test(after.raw) && !ARTICLES.has(after.folded) && !MINE.has(after.folded)
}

function phrasesOf (list: readonly Word[]): Phrase[] {
  const phrases: Phrase[] = []
  let preposition = ''
  let from = 0
  for (let at = 0; at <= list.length; at++) {
    const word = list[at]
    if (word !== undefined && !PREPOSITIONS.has(word.folded)) continue
    if (at > from) phrases.push(phraseOf(preposition, list.slice(from, at)))
    if (word !== undefined) preposition = word.folded
    from = at + 1
  }
  return phrases
}

function phraseOf (preposition: string, list: readonly Word[]): Phrase {
  const found: string[] = []
  let article = ''
  for (const { folded } of list) {
    if (ARTICLES.has(folded) || MINE.has(folded)) article ||= folded
    else found.push(NUMBER_WORDS.has(folded) ? `#n${NUMBER_WORDS.get(folded)!}` : folded.startsWith('#') ? folded : canonical(folded))
  }
  return {
    preposition,
    words: found,
    masked: found.map((word) => word.startsWith('#') ? word.slice(0, 2) : word).join(' '),
    hasNumber: found.some((word) => word.startsWith('#')),
    article,
    isNamed: list.some(({ raw }) => /^\p{Lu}/u.test(raw)),
  }
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
  if (earlier.wording !== undefined && earlier.wording === later.wording && earlier.speaker === later.speaker) {
    return { because: 'near_duplicate', detail: 'Both say the same in nearly the same words.' }
  }
  return undefined
}

const quoted = ({ shown }: Claim) => `"${shorten(shown, SHOWN_CHARACTERS)}"`

const DETAILS: Readonly<Record<Exclude<SupersededKind, 'same_key' | 'near_duplicate'>, (a: string, b: string) => string>> = {
  value: (before, now) => `${now} gives another value than ${before}.`,
  number: (before, now) => `${now} gives another number, amount or date than ${before}.`,
  negation: (before, now) => `${now} says the opposite of ${before}.`,
  place: (before, now) => `${now} gives another place than ${before}.`,
}

/** The first person is the speaker; a name is a speaker of this name, or the same name. */
function haveOneSubject (before: Claim, saidBy: string, now: Claim, laterBy: string): boolean {
  if (before.of !== now.of || isAssistant(laterBy) !== isAssistant(saidBy)) return false
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

function kindOf (before: Claim, now: Claim): keyof typeof DETAILS | undefined {
  if (before.isNegated || now.isNegated) {
    return before.isNegated !== now.isNegated && isNegationOf(before, now) ? 'negation' : undefined
  }
  if (now.verb === 'switch' || (now.verb === 'live' && before.verb !== 'live' && now.of === '')) {
    return isSwitchFrom(before, now) ? 'value' : undefined
  }
  if (before.verb !== now.verb && !(isAtPlace(before) && isAtPlace(now))) return undefined
  const pair = differingPhrases(before, now)
  if (pair === undefined) return undefined
  const { from, to, isLoose } = pair
  if (from.words.some((word) => POINTERS.has(word)) || to.words.some((word) => POINTERS.has(word))) return undefined
  if (from.hasNumber && to.hasNumber && from.masked === to.masked) {
    return !isLoose || now.isChange || now.verb !== 'be' ? 'number' : undefined
  }
  if (now.isAddition || before.isAddition || isPart(from, to) || isPart(to, from)) return undefined
  const isPlace = PLACES.has(to.preposition) && !to.hasNumber && now.verb !== 'work'
  if (!isSingle(before, now, from, to)) return undefined
  if (isPlace && COUNTRIES.has(from.words.join(' ')) !== COUNTRIES.has(to.words.join(' ')) && !now.isChange) return undefined
  return isPlace || (now.verb === 'work' && to.preposition === 'from') ? 'place' : to.hasNumber && from.hasNumber ? 'number' : 'value'
}

/** `Our office is in Ghent`, `Our office moved to Bruges`. */
function isAtPlace ({ verb, of }: Claim): boolean {
  return verb === 'live' || (verb === 'be' && of.split(' ').some((noun) => SEATS.has(noun)))
}

/** The negated statement must not be narrower: who eats no meat on Fridays eats meat. */
function isNegationOf (before: Claim, now: Claim): boolean {
  const [negated, stated] = before.isNegated ? [before, now] : [now, before]
  const denied = contentOf(negated)
  const said = new Set(contentOf(stated))
  if (denied.some((word) => POINTERS.has(word)) || !denied.every((word) => said.has(word))) return false
  if (negated.verb === 'end') return denied.length > 0
  if (negated.verb !== stated.verb) return false
  return denied.length > 0 ? said.size - denied.length <= 3 : said.size <= 2 && negated.verb !== 'be' && negated.verb !== 'have'
}

function isSwitchFrom (before: Claim, now: Claim): boolean {
  const from = now.phrases.find(({ preposition }) => preposition === 'from')
  if (from === undefined || from.words.length === 0 || !now.phrases.some(({ preposition }) => preposition === 'to')) return false
  const said = new Set(contentOf(before))
  return from.words.every((word) => said.has(word))
}

function contentOf ({ phrases }: Claim): string[] {
  return phrases.flatMap((phrase) => phrase.words)
}

/**
 * The one phrase in which two statements of a verb differ. Phrases that only one of them has are left out; `isLoose`
 * tells that there are any.
 */
function differingPhrases (before: Claim, now: Claim): { from: Phrase, to: Phrase, isLoose: boolean } | undefined {
  let found: { from: Phrase, to: Phrase } | undefined
  let matched = 0
  for (const to of now.phrases) {
    const from = before.phrases.find(({ preposition }) => preposition === to.preposition) ??
      (to.hasNumber ? undefined : before.phrases.find(({ preposition, hasNumber }) => (
        !hasNumber && directed(now.verb, preposition) === directed(now.verb, to.preposition)
      )))
    if (from === undefined) continue
    matched++
    if (from.words.join(' ') === to.words.join(' ')) continue
    if (found !== undefined) return undefined
    found = { from, to }
  }
  const isLoose = matched < now.phrases.length || matched < before.phrases.length
  return found && { ...found, isLoose }
}

/** `moved to`, `live in` and `based at` tell a place alike. */
function directed (verb: string, preposition: string): string {
  return verb === 'live' || verb === 'be' ? DIRECTIONS[preposition] ?? preposition : preposition
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
    return verb !== 'work' || to.preposition === 'as' || (from.isNamed && to.isNamed)
  }
  if (verb === 'go') return now.isChange && to.preposition === 'to' && from.isNamed && to.isNamed
  if (!now.isChange || ADDITIVE.has(verb) || !STATE_STEMS.has(verb) || from.preposition !== to.preposition) return false
  // The same frame around it: `I use Vim for notes`, `I eat a vegan diet`.
  return CHANGING.has(verb) || hasOther(before, now, to) ||
    (from.words.length > 1 && from.words.at(-1) === to.words.at(-1))
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
  if (from.preposition === '' && to.preposition === '') {
    if (STATUS.has(to.words[0]!) && STATUS.has(from.words[0]!)) return true
    if (now.of === 'there' || now.of === '') {
      // An occupation, or a state that ended: `I'm a midwife now`.
      return now.of === '' && now.isChange && isOccupation(from) && isOccupation(to)
    }
    if (nouns.some((noun) => ROLES.has(noun)) || nouns.includes(FAVOURITE)) {
      return from.article === to.article || now.isChange || (from.isNamed && to.isNamed)
    }
    return now.isChange && ((/^an?$/.test(from.article) && /^an?$/.test(to.article)) || (from.isNamed && to.isNamed))
  }
  if (directed('be', from.preposition) !== 'in' || directed('be', to.preposition) !== 'in') return false
  if (to.words.some((word) => NO_PLACE.has(word))) return false
  if (now.of === '' && now.owner === undefined) {
    return (from.isNamed && to.isNamed && now.isChange && before.isChange) ||
      (now.isChange && from.words.length > 1 && from.words.at(-1) === to.words.at(-1))
  }
  return now.of !== '' && ((from.isNamed && to.isNamed) || now.isChange)
}

/** A longer text is pasted or told, and no fact. */
const MAX_WORDING_CHARACTERS = 300
/** Fewer content words are no wording of their own. */
const LEAST_WORDS = 4
/** Words around a statement that change nothing of it. */
const FILLER: ReadonlySet<string> = new Set(wordsOf(`remember note just really btw hey please always still already so
  well actually hi`).map(stem))
const OTHERS = setOf('you your yours he him his she her hers they them their')

function wordingOf (text: string): string | undefined {
  if (text.length > MAX_WORDING_CHARACTERS || /[?？؟]/.test(text)) return undefined
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
