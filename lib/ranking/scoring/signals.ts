import { LRUCache } from 'lru-cache'
import { ASSISTANTS } from '../../stores/context.js'
import type { Memory } from '../../stores/vector-store.js'
import { addAlternatives, furtherTerms } from '../../text/alternative-terms.js'
import { endsInQuestion, contentStems } from '../../text/analysis.js'
import { fnv1a, stem, words } from '../../text/words.js'
import { MONTHS, WEEKDAYS_FROM_MONDAY } from '../calendar-periods.js'
import { explicitTimes, type TimeSpan } from '../dates.js'

/** What a memory's text shows, independent of the query. */
export interface Signals {
  /** The text and the stated speaker that the signals were read from. */
  readonly text: string
  readonly statedSpeaker: string | null
  /** The beginning of the text, without the speaker's name. */
  readonly said: string
  /** What `timesIn` has found. */
  times: { at: number, spans: readonly TimeSpan[] } | undefined
  /** Stems of the speaker's name; empty when no speaker is named. */
  readonly speaker: readonly string[]
  /** The same as one text, by which speakers are compared. */
  readonly speakerName: string
  /** The role, when the speaker is named as a user or an assistant. */
  readonly role: 'user' | 'assistant' | undefined
  /** Number of words of the text, without stop words and the speaker's name. */
  readonly contentWords: number
  /** Hashes of the stems of these words, in order, and then of their alternatives. */
  readonly hashes: Int32Array
  /** Whether the speaker talks of themselves. */
  readonly isFirstPerson: boolean
  /** Whether it states when something happened or will happen. */
  readonly mentionsTime: boolean
  /** Whether it contains a number. */
  readonly mentionsNumber: boolean
  /** Capitalised names in it, from 0 for none to 1 for three or more. */
  readonly nameScore: number
  /** Whether the text ends in a question. */
  readonly endsInQuestion: boolean
  /** Whether the text asks somebody something. */
  readonly asksQuestion: boolean
  /**
   * Whether it is a short turn of a user that tells an assistant how to act from then on: `Always use metric units when
   * I ask for a recipe.`
   */
  readonly isInstruction: boolean
  /** Whether the speaker states what they prefer: `I prefer the early ferry`, `my favourite mill`. */
  readonly statesPreference: boolean
  /** Whether it begins like a reaction to someone else: thanks, praise, agreement, a greeting. */
  readonly isReaction: boolean
}

/** A turn with fewer words, not counting stop words, may be small talk or a mere instruction. */
export const SHORT_TURN_WORDS = 50
/** Only the beginning of a long text is read, and of a long name. */
const MAX_CHARACTERS = 2000
const MAX_NAME_CHARACTERS = 128

/** A name before a text that was stored without a speaker: `Caroline: I went …`. */
export const NAME_BEFORE_TEXT =
  /^\s*([\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}(?: [\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}){0,2}):\s+(?=\S)/u
const USER = /^(?:user|human)$/i
const ASSISTANT = new RegExp(`^(?:${ASSISTANTS.join('|')})$`, 'i')
/** Roles of chat messages; others, such as `admin`, say nothing about who speaks. */
const FIRST_PERSON = /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|us|[Oo]urs?)\b/
const TIME = new RegExp(String.raw`\b(?:${[
  'yesterday|today|tonight|tomorrow|ago|recently|just|since|other day|weeks?|weekends?|months?|years?',
  `birthday|anniversary|(?:${WEEKDAYS_FROM_MONDAY.map((name) => `${name}day`).join('|')})s?`,
  // `May` is also a verb.
  MONTHS.filter((month) => month !== 'May').join('|').toLowerCase(),
  'spring|summer|winter|autumn|(?:last|next|this|past|coming) (?:night|morning|evening|fall|may|few|couple)',
  String.raw`in may|\d{4}`,
].join('|')})\b`, 'i')
const NUMBER = /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b/i
/** `\b` knows only the letters of ASCII. That a capital is looked for first makes it twice as fast. */
const NAME = /(?=\p{Lu})(?<![\p{L}\p{M}\p{N}_]|[.!?]\s|^)\p{Lu}[\p{Ll}\p{M}]+/gu
const REACTION = new RegExp(String.raw`^(?:${[
  "wow|thanks|thank|that['’]?s|that (?:is|sounds)|congrats|congratulations|awesome|yeah|yep|yes|sounds|great|cool",
  "nice|amazing|absolutely|definitely|good|so glad|glad|sure|totally|no problem|you['’]re|aww?|haha|oh|sorry|bye",
  'take care|hey|hi|hello',
].join('|')})\b`, 'i')
/**
 * A sentence that begins with `Always …`, `Never …`, `From now on …` or `When I ask …`, or that ends in `… when I ask`.
 * Not `Never mind` or `Always been fond of it`, which instruct nobody.
 */
const INSTRUCTION = new RegExp([
  String.raw`(?:^|[.!?:\n])[ \t]{0,4}(?:[-*] )?(?:(?:please|and|also|so|ok|okay|but|just|note|remember|`,
  String.raw`(?:i want|i(?:['’]d| would) like) you to|you (?:should|must)|make sure (?:to|you)|be sure to)[,\s]+)*`,
  String.raw`(?:always\s(?!(?:a|an|the|been|had|wanted|loved|liked|good|great|happy|nice|fun|here|there|up)\b)`,
  String.raw`|never\s(?!(?:mind|again|been|had|heard|seen|saw|thought|knew|tried|met|really|ever)\b)`,
  String.raw`|(?:don['’]t|do not) ever\b|from now on\b|going forward\b|in (?:the )?future,`,
  String.raw`|(?:when|whenever|if|(?:each|every) time) i (?:ask|request|say|mention)\b)`,
  String.raw`|\b(?:when|whenever|(?:each|every) time) i (?:ask|request)\b`,
].join(''), 'i')

const PREFERENCE = new RegExp([
  String.raw`\b(?:i|we)(?:['’]d| would| do| also| really| still| much| usually| generally| always| often)*\s+` +
    String.raw`(?:prefer|favou?r)\b`,
  String.raw`\b(?:i|we)(?:['’]d| would) (?:much )?rather\b`,
  String.raw`\bmy (?:\w+ )?(?:preferences?|favou?rites?)\b`,
  String.raw`\b(?:i|we)\b[^.!?\n]{0,120}\brather than\b`,
].join('|'), 'i')

/** A transcript of speech may have no question marks. */
const ASKS = /[?？؟]|\b(?:do|did|are|were|have|can|could|would|will|how about|what about) you\b/i
const NO_SPEAKER: readonly string[] = []

export function readSignals (memory: Pick<Memory, 'text' | 'speaker'>): Signals {
  const { text } = memory
  const head = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  const named = NAME_BEFORE_TEXT.exec(head)
  const { speaker: statedSpeaker } = memory
  const speaker = statedSpeaker ?? named?.[1]
  const said = named === null ? head : head.slice(named[0].length)
  const stems = contentStems(said)
  const hashes = Int32Array.from([...stems, ...alternativesTo(stems, said)], fnv1a)
  const role = speaker === undefined ? undefined : roleOf(speaker.trim())
  const speakerStems = speaker === undefined ? NO_SPEAKER : words(speaker.slice(0, MAX_NAME_CHARACTERS)).map(stem)
  return {
    text,
    statedSpeaker,
    speakerName: speakerStems.join(' '),
    role,
    contentWords: stems.length,
    hashes,
    isInstruction: role === 'user' && stems.length < SHORT_TURN_WORDS && INSTRUCTION.test(said),
    endsInQuestion: endsInQuestion(said),
    asksQuestion: ASKS.test(said),
    isReaction: REACTION.test(said),
    mentionsTime: TIME.test(said),
    nameScore: Math.min(3, said.match(NAME)?.length ?? 0) / 3,
    mentionsNumber: NUMBER.test(said),
    isFirstPerson: FIRST_PERSON.test(said),
    statesPreference: PREFERENCE.test(said),
    speaker: speakerStems,
    said,
    times: undefined,
  }
}

/**
 * The absolute times that the text names (dates.ts). They are parsed on first use.
 * @param at when it was said: `5 May` is the closest
 */
export function timesIn (signals: Signals, at: number): readonly TimeSpan[] {
  if (signals.times?.at !== at) signals.times = { at, spans: explicitTimes(signals.said, at) }
  return signals.times.spans
}

/** The alternatives (alternative-terms.ts) that are not among the stems of a text. */
function alternativesTo (stems: readonly string[], text: string): Iterable<string> {
  const alternatives = new Set<string>()
  for (const stem of stems) addAlternatives(stem, alternatives)
  for (const terms of furtherTerms(text)) for (const term of terms) alternatives.add(term)
  if (alternatives.size > 0) for (const stem of stems) alternatives.delete(stem)
  return alternatives
}

function roleOf (speaker: string): Signals['role'] {
  return USER.test(speaker) ? 'user' : ASSISTANT.test(speaker) ? 'assistant' : undefined
}

/** The most characters of all cached texts together. Their number is bounded too, but a text can have 50,000. */
const MAX_CACHED_CHARACTERS = 16_000_000

/** Reads signals and caches those of recently found memories: reading them takes a few tenths of a millisecond. */
export class SignalReader {
  /** Of the records that a store in memory returns again and again: looking them up takes half the time. */
  readonly #ofRecords = new WeakMap<Memory, Signals>()
  readonly #cache: LRUCache<string, Signals>

  /** @param size the most memories whose signals are cached */
  constructor (size = 20_000) {
    this.#cache = new LRUCache({
      max: size, maxSize: MAX_CACHED_CHARACTERS, sizeCalculation: ({ text }) => Math.max(1, text.length),
    })
  }

  /**
   * Signals depend on the memory alone and an entry is compared with it, so the same id in two banks does no harm, and
   * neither does an import that replaces the text under an id.
   */
  read (memory: Memory): Signals {
    let signals = this.#ofRecords.get(memory)
    if (signals !== undefined) return signals
    signals = this.#cache.get(memory.memoryId)
    if (signals?.text !== memory.text || signals.statedSpeaker !== memory.speaker) {
      signals = readSignals(memory)
      this.#cache.set(memory.memoryId, signals)
    }
    this.#ofRecords.set(memory, signals)
    return signals
  }
}
