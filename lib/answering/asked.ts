import { frameWordsOf } from '../retrieval/query-words.js'
import { ASSISTANTS } from '../stores/context.js'
import { contentStems } from '../text/analysis.js'
import { words } from '../text/words.js'
import { mattersOf } from './matters.js'

export type AskedFor = 'time' | 'number' | 'place' | 'person' | 'reason' | 'other'

/** A question as the choice of sentences sees it. */
export interface Asked {
  readonly kind: AskedFor
  /** Stems of the words that an answer shares with the question, without names of speakers; distinct. */
  readonly terms: readonly string[]
  /** The matters of its words (matters.ts). */
  readonly matters: ReadonlySet<number>
  /** The speakers, as in `speakerKey`, whom it names or, as `I` or `you`, means. */
  readonly speakers: ReadonlySet<string>
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
export function speakerKey (speaker: string): string {
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
  const stems = [...new Set(contentStems(question))].filter((stem) => !names.has(stem))
  const terms = stems.filter((stem) => !isFrame(stem))
  const kind = KINDS.find(([, form]) => form.test(question))?.[0] ?? 'other'
  return {
    kind,
    terms: (terms.length > 0 ? terms : stems).slice(0, MAX_TERMS),
    matters: mattersOf(stems),
    speakers,
    isAboutPresent: kind !== 'reason' && PRESENT.test(question) && !NOT_PRESENT.test(question),
  }
}

/** A speaker is named by the whole name or by its first word: `Ada` for `Ada Lovelace`. */
function isNamedIn (key: string, folded: readonly string[]): boolean {
  const [first] = key.split(' ')
  return first !== undefined && first !== 'user' && !isAssistant(key) && folded.includes(first)
}
