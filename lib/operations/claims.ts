import { SentenceReader } from '../answering/sentence-reader.js'
import { withoutOpening } from '../answering/statements.js'
import { beginningOf } from '../base/shorten.js'
import { otherForms } from '../text/alternative-terms.js'
import { endsInQuestion } from '../text/analysis.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem } from '../text/words.js'

// What a text states of the time when it was written, clause by clause, so that two texts can be compared. It reads
// English with closed lists of words: what it does not know states nothing.

/** The beginning of a text that is read for statements; a longer text is a story, whose beginning tells its matter. */
export const MAX_CHARACTERS = 1_000
/** A text has at most so many statements, because each is compared with each of the other's. */
const MAX_CLAIMS = 16
/** A clause of more words is a story too. */
const MAX_CLAUSE_WORDS = 24
const MAX_CLAUSE_CHARACTERS = 200

/** What a person tells of a part of the own life: how it is, or that it is another now. */
export interface MatterTold {
  readonly matter: Matter
  readonly isChange: boolean
  readonly shown: string
}

/** A statement of what is so at the time when it is made: `I don't live in Rome anymore`. */
export interface Claim {
  /** The clause as it stands. */
  readonly shown: string
  /** Of whom it is, folded; undefined for the speaker. */
  readonly owner: string | undefined
  /** What of the owner's: the folded words of `my favourite colour`; empty for the owner. */
  readonly of: string
  readonly verb: string
  readonly isNegated: boolean
  /** Whether it tells of the end of something: `I quit smoking in January`. */
  readonly isEnd: boolean
  /** Whether it has a word of change. */
  readonly isChange: boolean
  /** Whether it says that it is one of several: `too`, `another`. */
  readonly isAddition: boolean
  readonly phrases: readonly Phrase[]
}

/** The words up to the next preposition, as folded stems. */
export interface Phrase {
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

/** What a text states. */
export interface Claims {
  readonly claims: readonly Claim[]
  readonly matters: readonly MatterTold[]
}

/** Reads the beginning of a text. */
export function claimsIn (text: string): Claims {
  const claims: Claim[] = []
  const matters: MatterTold[] = []
  for (const sentence of sentencesIn(beginningOf(text, MAX_CHARACTERS))) {
    if (NO_FACT.test(sentence) || endsInQuestion(sentence)) continue
    pushClaims(withoutOpening(sentence), claims, matters)
  }
  return { claims, matters }
}

/** Whom an assistant notes facts of. */
export const USER = 'user'

/** The words of a list that is written with spaces between them. */
export const wordsOf = (list: string) => list.trim().split(/\s+/)
export const setOf = (list: string): ReadonlySet<string> => new Set(wordsOf(list))

/** A sentence with one of these tells no fact of its speaker: a wish, a plan, a condition, or what others say. */
const NO_FACT = new RegExp(String.raw`\b(?:${[
  'if|unless|whether|might|maybe|perhaps|probably|possibly|could|would|should|shall|wish|hop(?:e|es|ing)',
  '(?<!\\d |\\d(?:st|nd|rd|th) |\\b(?:in|of|since|until|by) )may\\b(?! \\d)',
  "will|'ll|gonna|wanna|want to|wants to|plan(?:s|ning)? to|planning|(?:try|tries|trying) to",
  '(?:think|thinking) (?:of|about)|considering|looking (?:at|for|into)',
  'imagine|suppose|pretend|say(?:s|ing)?|said|t(?:ell|ells|old)|claim(?:s|ed)?|thinks?|thought|according|guess',
  "'d|goals?|dreams?|dreaming|one day|some ?day|ideally|hypothetically|another life|for example|in this example|as if",
  'not sure|meaning to|unsure|wonder(?:ing)?|asked|heard|rumou?rs?|typo|joke|joking|kidding',
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
  [/\b(it|that|there|he|she|this|what|who|everything)'s\b/gi, '$1 is'],
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
const MOVED = 'moved|postponed|rescheduled|pushed(?: back)?|relocated'
const CHANGED = 'changed|renamed|switched|updated|increased|raised|reduced|lowered|extended|reset|set'
const THING = String.raw`((?:the|my|our) (?:(?! from ).)+)(?: from .+)?`
/** What makes a thing another: `The meeting was moved to Friday`, `I changed my password to nightowl`. */
const HAPPENED: ReadonlyArray<readonly [RegExp, string]> = [MOVED, CHANGED].flatMap((verbs, place) => [
  String.raw`^((?:the|my|our) .+) (?:was|were|got|ha(?:s|ve) been)(?: just)? (?:${verbs})(?: from .+)? to (?!\w+ing)`,
  String.raw`^(?:i|we|they)(?: have|'ve)?(?: just)? (?:${verbs}) ${THING} to (?!(?:the|my|our|a)\b)`,
].map((form) => [new RegExp(form, 'iu'), place === 0 ? '$1 is now in ' : '$1 is now '] as const))

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
export const POINTERS = setOf('it this that these those they he she you him her them one so there what who something')
const ADVERBS = setOf(`now currently still really just also always recently finally actually even already usually
  anymore lately too very well again honestly basically definitely mostly instead officially only generally mainly
  nearly about here`)
/** Words with a capital before a verb that name nobody. */
const NO_NAME = setOf(`make ensure people everyone many most all every each other another more less no only thanks
  please sounds looks feels seems`)
const AUXILIARIES = setOf('is are has have does do can')
const NEGATED = setOf('not never nolonger usedto')
const PREPOSITIONS = setOf(`in at on to into for with by from as over under behind near since until after because
  before during about through without than like and or every each per`)
const LEADS = setOf(`so and but also well actually finally now currently turns out hey ok okay yes yeah no today
  please`)
/** A reason or a beginning, which is no part of what is stated. */
const LEAD_PREPOSITIONS = setOf('after since as for')
const REASONS = setOf('since because after until')
/** What somebody prefers another thing to. */
const COMPARED = setOf('over than to since because after until')

/** Verbs of states and habits, of which a statement in the present holds until it changes. */
const STATE_VERBS = wordsOf(`live reside stay park sit keep work drive ride commute bank report weigh prefer study
  use run go eat drink take cost pay earn teach train read deploy leave start end open close last have own smoke
  play volunteer stream trust support hire require pass wear bite swim like love hate enjoy speak see know need
  sleep walk belong manage lead handle host ship publish send order attend watch listen cook practice meet follow
  subscribe contain accept allow return cover include expire arrive depart begin happen vape gamble snore write
  build store rent originate bake paint sing dance collect grow coach mentor represent serve sell buy date fast jog
  cycle knit garden fish hunt stutter`)
/** The verb by its forms of the present. */
const FINITE: ReadonlyMap<string, string> = new Map(STATE_VERBS.flatMap((verb): Array<[string, string]> => [
  [verb, stem(verb)], [`${verb}s`, stem(verb)], [`${verb}es`, stem(verb)], [verb.replace(/y$/, 'ies'), stem(verb)],
]).concat([
  ['am', 'be'], ['is', 'be'], ['are', 'be'], ['be', 'be'], ['has', 'have'], ['do', 'do'], ['does', 'do'],
  ['can', 'can'],
  ['ended', 'end'], ['moved', 'live'], ['relocated', 'live'], ['settled', 'live'], ['switched', 'switch'],
  ['changed', 'switch'], ['migrated', 'switch'], ['usedto', 'usedto'],
]))
export const STATE_STEMS: ReadonlySet<string> = new Set(STATE_VERBS.map(stem))
/** What a participle after `am`, `is` or `are` says. */
const PARTICIPLES: ReadonlyMap<string, string> = new Map(Object.entries({
  live: 'based located stationed hosted settled headquartered situated housed residing',
  work: 'employed',
  write: 'written',
  store: 'stored',
  build: 'built',
}).flatMap(([verb, forms]) => wordsOf(forms).map((form): [string, string] => [form, stem(verb)])))

export function stemSetOf (list: string): ReadonlySet<string> {
  return new Set(wordsOf(list).map(stem))
}

export function canonicalSetOf (list: string): ReadonlySet<string> {
  return new Set(wordsOf(list).map(canonical))
}

/** Words that are no part of a name before a verb. */
const NO_NAMES = [NO_NAME, STOP_WORDS, PREPOSITIONS, FINITE]

/** One stem for a word and its short forms and other spellings: `mom` is `mother`. */
export function canonical (word: string): string {
  const one = stem(word)
  let first = one
  for (const other of otherForms(one)) if (other < first) first = other
  return first
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
const CLAUSES = new RegExp([
  String.raw`[,;:!?()…]+(?:\s+|$)|\s[–—-]+\s|\s(?=(?:but|so|because|though|although)\s)`,
  String.raw`\s(?:and|then)\s(?=(?:i|we|my|our)\b)`,
].join('|'), 'i')
/** What follows has the subject of the clause: `We left Kyoto and live in Osaka`. */
const SHARED_SUBJECT = /\sand\s(?:(?:still|now|also)\s)?(?=(\w+)\s)/i

function pushClaims (sentence: string, claims: Claim[], matters: MatterTold[]): void {
  const isChange = CHANGE.test(sentence)
  for (const part of sentence.split(CLAUSES)) {
    if (claims.length >= MAX_CLAIMS || matters.length >= MAX_CLAIMS) return
    pushMatters(part.trim(), matters)
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

export interface Matter {
  readonly because: 'place' | 'value'
  readonly state: RegExp
  readonly change: RegExp
}

const SELF_IS = String.raw`\bI(?:'m| am| have been|'ve been)(?: (?:currently|still|now|both))?`
const SELF_DID = String.raw`\b(?:I|[Ww]e)(?:'ve| have)?(?: (?:just|recently|finally|officially))?`
/** What people have one of, in the words in which they tell it and its change, which often share none. */
const MATTERS: readonly Matter[] = [
  {
    because: 'place',
    state: new RegExp([
      String.raw`\b(?:I|[Ww]e) (?:(?:currently|still|both) )?live in \p{Lu}|${SELF_IS} (?:living|based) in \p{Lu}`,
      String.raw`\b(?:[Mm]y|[Oo]ur) (?:flat|home|house|apartment|place) is in \p{Lu}`,
    ].join('|'), 'u'),
    change: new RegExp([
      String.raw`${SELF_DID} (?:moved|relocated|settled)(?: back| over| down)? (?:in|to|into) \p{Lu}`,
      String.raw`${SELF_DID} (?:moved|settled) into (?:the|our|my|a) (?:new )?(?:house|flat|apartment|home) in \p{Lu}`,
      String.raw`\b(?:I|[Ww]e) (?:now )?call \p{Lu}\p{L}+(?: \p{Lu}\p{L}+)? home\b`,
    ].join('|'), 'u'),
  },
  {
    because: 'value',
    state: new RegExp([
      String.raw`\bI (?:(?:currently|still) )?work (?:at|for|as)\b|${SELF_IS} (?:working|employed) (?:at|for|as|by)\b`,
      String.raw`\b[Mm]y (?:job|employer) is\b|\bI have a job (?:at|as)\b`,
    ].join('|'), 'u'),
    change: new RegExp([
      String.raw`${SELF_DID} (?:quit|left|lost|resigned from) (?:my|the) (?:old |day )?(?:job|company|firm|hospital)\b`,
      String.raw`${SELF_DID} (?:joined|started at|started working at|got hired by|accepted an offer from) \p{Lu}`,
      String.raw`${SELF_DID} (?:got|landed|found|started) (?:a|my) new job\b|${SELF_DID} (?:retired|resigned)\b`,
      String.raw`\bI (?:got|was) (?:laid off|fired)\b|\b[Mm]y first day (?:at|with) \p{Lu}`,
    ].join('|'), 'u'),
  },
  {
    because: 'value',
    state: new RegExp(String.raw`\bI (?:study|major in)\b|${SELF_IS} (?:studying|majoring in)\b`, 'u'),
    change: new RegExp([
      String.raw`${SELF_DID} (?:switched|changed)(?: my)? (?:degree|major|course|subject|programme?)s?\b`,
      String.raw`${SELF_DID} dropped out\b`,
    ].join('|'), 'u'),
  },
  {
    because: 'value',
    state: new RegExp([
      String.raw`${SELF_IS} (?:single|engaged|married|divorced|dating|seeing \p{Lu})`,
      String.raw`\bI are (?:dating|together|engaged|married)\b`,
    ].join('|'), 'u'),
    change: new RegExp([
      String.raw`\b(?:[Ww]e|I)(?: have|'ve)?(?: just)? (?:broke up|broken up|split up|separated|divorced)\b`,
      String.raw`\b(?:[Ww]e|I)(?: just)? got (?:engaged|married|divorced)\b`,
    ].join('|'), 'u'),
  },
  {
    because: 'value',
    state: /\bI (?:eat|love|like) (?:\w+ )?(?:meat|fish|steak|chicken|beef|pork|bacon|burgers)\b/,
    change: /\bI(?:'ve| have)?(?: just)? (?:became|become|went|gone|turned)(?: a)? (?:vegan|vegetarian)\b/,
  },
]

function pushMatters (clause: string, matters: MatterTold[]): void {
  if (!/\b(?:I|[Ww]e|[Mm]y|[Oo]ur)\b/.test(clause)) return
  const plain = clause.replaceAll('\u2019', "'")
  for (const matter of MATTERS) {
    const isChange = matter.change.test(plain)
    const isState = !isChange && matter.state.test(plain) && !OCCASION.test(plain)
    if (isChange || isState) matters.push({ matter, isChange, shown: clause })
  }
}

/** A word as it stands, and folded. */
interface Word {
  readonly raw: string
  readonly folded: string
}

function claimOf (clause: string, isChange: boolean, shown: string): Claim | undefined {
  if (clause.length < 4 || clause.length > MAX_CLAUSE_CHARACTERS) return undefined
  let text = clause
  if (TO_REWRITE.test(text)) for (const [from, to] of REWRITTEN) text = text.replace(from, to)
  for (const [from, to] of HAPPENED) text = text.replace(from, to)
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
  if (OCCASION.test(text) && !group.isEnd && group.verb !== 'live') return undefined
  const phrases = phrasesOf(group.rest)
  if (subject.context.length > 0) phrases.push(...phrasesOf(subject.context))
  return {
    shown: shown.trim(),
    owner: subject.owner,
    of: subject.of,
    verb: group.verb,
    isNegated: isDenied || group.isNegated,
    isEnd: group.isEnd,
    isChange: isChangeOfClause,
    isAddition: ADDITION.test(text),
    phrases: phrases.filter(({ preposition }) => !(group.verb === 'prefer' ? COMPARED : REASONS).has(preposition)),
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
  if (!isOfNoun || AUXILIARIES.has(list[first]!.folded)) return first
  const auxiliary = list.findIndex(({ folded }, at) => at > first && at <= first + 5 && AUXILIARIES.has(folded))
  return auxiliary === -1 ? first : auxiliary
}

/** Who or what a clause is about; undefined when that is not told by the clause. */
function subjectOf (before: readonly Word[]): { owner: string | undefined, of: string, context: Word[] } | undefined {
  if (PREPOSITIONS.has(before.at(-1)?.folded ?? '')) return undefined
  let at = before.length - 1
  while (at >= 0 && !isStart(before, at)) at--
  if (at < 0) {
    const [first] = before
    // A name, which begins the clause: `Anna`, `Lunch break`.
    if (first === undefined || !/^\p{Lu}/u.test(first.raw) || POINTERS.has(first.folded)) return undefined
    if (before.some(({ folded }) => NO_NAMES.some((list) => list.has(folded)))) return undefined
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
  if (ARTICLES.has(head.folded) && /^user(?:'s)?$/.test(rest[0]?.folded ?? '')) {
    return { owner: USER, of: of.slice(1).join(' '), context }
  }
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
): { verb: string, isNegated: boolean, isEnd: boolean, rest: Word[] } | undefined {
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
      skipNegation()
      if (/^(?:to|there|)$/.test(next())) return undefined
      verb = next().endsWith('ing') ? stem(next()) : 'be'
      if (verb !== 'be') at++
    } else if (FINITE.has(form) && form.endsWith('ed')) {
      verb = FINITE.get(form)!
      at++
    } else if (/(?:ed|en)$|^(?:had|got|gone|done|made|met|won|lost|found|bought|left|come|become|put|to)$/.test(form)) {
      return undefined
    }
  } else if (verb === 'be') {
    const form = next()
    if (form === 'going' && from[at + 1]?.folded === 'to' && isPlanned(from[at + 2])) return undefined
    const participle = PARTICIPLES.get(form)
    if (participle !== undefined) verb = participle
    else if (form.endsWith('ing') && form.length > 5) verb = stem(form)
    if (verb !== 'be') at++
  }
  skipNegation()
  const isEnd = verb === 'end'
  if (isEnd) {
    isNegated = true
    if (next().endsWith('ing')) {
      verb = stem(next())
      at++
    }
  }
  if (verb === stem('reside') || verb === 'settl') verb = 'live'
  return { verb, isNegated, isEnd, rest: from.slice(at) }
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
    else if (folded.startsWith('#')) found.push(folded)
    else found.push(NUMBER_WORDS.has(folded) ? `#n${NUMBER_WORDS.get(folded)!}` : canonical(folded))
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
