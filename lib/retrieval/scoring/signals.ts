import type { Memory } from '../../stores/vector-store.js'
import { addAlternatives, identifierParts } from '../../text/alternative-terms.js'
import { endsInQuestion, contentStems } from '../../text/analysis.js'
import { fnv1a } from '../../text/hashes.js'
import { stem } from '../../text/stems.js'
import { words } from '../../text/words.js'
import { explicitTimes } from '../dates.js'
import type { TimeSpan } from '../open-periods.js'

/** What a memory's text shows, independent of the query. */
export interface Signals {
  /** The absolute times that the text names (dates.ts). They are parsed on first use. */
  readonly explicitTimes: readonly TimeSpan[]
  /** Stems of the speaker's name; empty when no speaker is named. */
  speaker: readonly string[]
  /** The same as one text, by which speakers are compared. */
  speakerName: string
  /** The role, when the speaker is named as a user or an assistant. */
  role: 'user' | 'assistant' | undefined
  /** Stems of the text in order, without stop words and the speaker's name. */
  stems: readonly string[]
  /**
   * Hashes of the stems, and then of their alternatives (alternative-terms.ts), in one typed array: every query is
   * compared with a hundred candidates, and strings are scattered in memory.
   */
  hashes: Int32Array
  /** Whether the speaker talks of themselves. */
  isFirstPerson: boolean
  /** Whether it states when something happened or will happen. */
  mentionsTime: boolean
  /** Whether it contains a number. */
  mentionsNumber: boolean
  /** Capitalised names in it, from 0 for none to 1 for three or more. */
  nameScore: number
  /** Whether the text ends in a question. */
  endsInQuestion: boolean
  /**
   * Whether it is a short turn of a user that tells an assistant how to act from then on: `Always use metric units when
   * I ask for a recipe.`
   */
  isInstruction: boolean
  /** Whether the speaker states what they prefer: `I prefer the early ferry`, `my favourite mill`. */
  statesPreference: boolean
  /** Whether it begins like a reaction to someone else: thanks, praise, agreement, a greeting. */
  isReaction: boolean
}

/** A turn with fewer words, not counting stop words, may be small talk or a mere instruction. */
export const SHORT_TURN_WORDS = 50
/** Only the beginning of a long text is read. */
const MAX_CHARACTERS = 2000
/**
 * The most characters of all cached texts together. Their number is bounded too, but a text can have 50,000 characters.
 */
const MAX_CACHED_CHARACTERS = 16_000_000

const SPEAKER = /^\s*([\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}(?: [\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}){0,2}):\s+(?=\S)/u
const USER = /^(?:user|human)$/i
const ASSISTANT = /^(?:assistant|ai|bot|chatbot|model|agent)$/i
/** Roles of chat messages; others, such as `admin`, say nothing about who speaks. */
const MESSAGE_ROLE = /^(?:user|human|assistant|ai)$/i
const FIRST_PERSON = /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|us|[Oo]urs?)\b/
const TIME = new RegExp(String.raw`\b(?:yesterday|today|tonight|tomorrow|ago|recently|just|since|other day|weeks?|weekend|months?|years?|birthday|anniversary|${[
  'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
  'january|february|march|april|june|july|august|september|october|november|december',
  String.raw`spring|summer|winter|autumn|(?:last|next|this|past|coming) (?:night|morning|evening|fall|may|few|couple)|in may|\d{4}`,
].join('|')})\b`, 'i')
const NUMBER = /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b/i
const NAME = /(?<![.!?]\s|^)\b\p{Lu}\p{Ll}+/gu
const REACTION = new RegExp(String.raw`^(?:wow|thanks|thank|that['’]?s|that (?:is|sounds)|congrats|congratulations|awesome|yeah|yep|yes|sounds|great|cool|nice|amazing|absolutely|definitely|good|${
  'so glad|glad|sure|totally|no problem|you[\'’]re|aww?|haha|oh|sorry|bye|take care|hey|hi|hello'})\b`, 'i')
/**
 * A sentence that begins with `Always …`, `Never …`, `From now on …` or `When I ask …`, or that ends in `… when I ask`.
 * Not `Never mind` or `Always been fond of it`, which instruct nobody.
 */
const INSTRUCTION = new RegExp([
  String.raw`(?:^|[.!?:\n])[ \t]{0,4}(?:[-*] )?(?:(?:please|and|also|so|ok|okay|but|just|note|remember|(?:i want|i(?:['’]d| would) like) you to|you (?:should|must)|make sure (?:to|you)|be sure to)[,\s]+)*`,
  String.raw`(?:always\s(?!(?:a|an|the|been|had|wanted|loved|liked|good|great|happy|nice|fun|here|there|up)\b)`,
  String.raw`|never\s(?!(?:mind|again|been|had|heard|seen|saw|thought|knew|tried|met|really|ever)\b)`,
  String.raw`|(?:don['’]t|do not) ever\b|from now on\b|going forward\b|in (?:the )?future,`,
  String.raw`|(?:when|whenever|if|(?:each|every) time) i (?:ask|request|say|mention)\b)`,
  String.raw`|\b(?:when|whenever|(?:each|every) time) i (?:ask|request)\b`,
].join(''), 'i')

const PREFERENCE = new RegExp([
  String.raw`\b(?:i|we)(?:['’]d| would| do| also| really| still| much| usually| generally| always| often)*\s+(?:prefer|favou?r)\b`,
  String.raw`\b(?:i|we)(?:['’]d| would) (?:much )?rather\b`,
  String.raw`\bmy (?:\w+ )?(?:preferences?|favou?rites?)\b`,
  String.raw`\b(?:i|we)\b[^.!?\n]{0,120}\brather than\b`,
].join('|'), 'i')

const NO_SPEAKER: readonly string[] = []

interface CachedSignals {
  text: string
  speaker: string | undefined
  at: number
  signals: Signals
}

/**
 * Reads signals and caches those of recently found memories, in two generations: when the younger is full, the older
 * one is dropped. Unlike an LRU list this keeps no order, which matters because every recall reads a hundred.
 */
export class SignalReader {
  readonly #size: number
  #recent = new Map<string, CachedSignals>()
  #old = new Map<string, CachedSignals>()
  #characters = 0

  /** @param size the most memories whose signals are cached */
  constructor (size = 20_000) {
    this.#size = size
  }

  /** Signals depend on the memory alone and an entry is compared with it, so the same id in two banks does no harm. */
  read (memory: Memory): Signals {
    const cached = this.known(memory)
    if (cached !== undefined) return cached
    const { memoryId, text, metadata, occurredAt, retainedAt } = memory
    const signals = readSignals(memory)
    this.#keep(memoryId, { text, speaker: statedSpeaker(metadata), at: occurredAt ?? retainedAt, signals })
    return signals
  }

  /** The cached signals of a memory. Computing them again takes a few tenths of a millisecond. */
  known (memory: Memory): Signals | undefined {
    const { memoryId } = memory
    const recent = this.#recent.get(memoryId)
    if (recent !== undefined) return isCurrent(recent, memory) ? recent.signals : undefined
    const old = this.#old.get(memoryId)
    if (old === undefined || !isCurrent(old, memory)) return undefined
    this.#keep(memoryId, old)
    return old.signals
  }

  #keep (memoryId: string, kept: CachedSignals): void {
    if (this.#recent.size >= this.#size / 2 || this.#characters > MAX_CACHED_CHARACTERS / 2) {
      this.#old = this.#recent
      this.#recent = new Map()
      this.#characters = 0
    }
    this.#recent.set(memoryId, kept)
    this.#characters += kept.text.length
  }
}

/** Whether the entry is of the memory's present text: an import can replace the text under an id. */
function isCurrent ({ text, speaker, at }: CachedSignals, memory: Memory): boolean {
  return (
    text === memory.text && speaker === statedSpeaker(memory.metadata) &&
    at === (memory.occurredAt ?? memory.retainedAt)
  )
}

export function readSignals ({
  text, metadata, occurredAt, retainedAt,
}: Pick<Memory, 'text' | 'metadata' | 'occurredAt' | 'retainedAt'>): Signals {
  const head = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  const named = SPEAKER.exec(head)
  const speaker = statedSpeaker(metadata) ?? named?.[1]
  const said = named === null ? head : head.slice(named[0].length)
  const stems = contentStems(said)
  const role = speaker === undefined ? undefined : roleOf(speaker.trim())
  const speakerStems = speaker === undefined ? NO_SPEAKER : words(speaker).map(stem)
  let times: readonly TimeSpan[] | undefined
  return {
    get explicitTimes () {
      times ??= explicitTimes(said, occurredAt ?? retainedAt)
      return times
    },
    speaker: speakerStems,
    speakerName: speakerStems.join(' '),
    role,
    stems,
    hashes: Int32Array.from([...stems, ...alternativesTo(stems, said)], fnv1a),
    isFirstPerson: FIRST_PERSON.test(said),
    mentionsTime: TIME.test(said),
    mentionsNumber: NUMBER.test(said),
    nameScore: Math.min(3, said.match(NAME)?.length ?? 0) / 3,
    endsInQuestion: endsInQuestion(said),
    isInstruction: role === 'user' && stems.length < SHORT_TURN_WORDS && INSTRUCTION.test(said),
    statesPreference: PREFERENCE.test(said),
    isReaction: REACTION.test(said),
  }
}

/** The speaker that the metadata state: `speaker`, or else the `role` of a chat message, if it is one. */
function statedSpeaker ({ speaker, role }: Memory['metadata']): string | undefined {
  if (typeof speaker === 'string') return speaker
  return typeof role === 'string' && MESSAGE_ROLE.test(role) ? role : undefined
}

/** The alternatives (alternative-terms.ts) that are not among the stems of a text. */
function alternativesTo (stems: readonly string[], text: string): Iterable<string> {
  const alternatives = new Set<string>()
  for (const stem of stems) addAlternatives(stem, alternatives)
  for (const parts of identifierParts(text)) for (const part of parts) alternatives.add(part)
  if (alternatives.size > 0) for (const stem of stems) alternatives.delete(stem)
  return alternatives
}

function roleOf (speaker: string): Signals['role'] {
  return USER.test(speaker) ? 'user' : ASSISTANT.test(speaker) ? 'assistant' : undefined
}
