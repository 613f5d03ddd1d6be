import type { Memory } from '../../stores/vector-store.js'
import { endsInQuestion, contentStems } from '../../text/analysis.js'
import { fnv1a } from '../../text/hashes.js'
import { stem } from '../../text/stems.js'
import { words } from '../../text/words.js'
import { explicitTimes, type TimeSpan } from '../dates.js'

/** What a memory's text shows of itself, whatever is asked. */
export interface Signals {
  /** The times that the text names outright (dates.ts). Read when they are first asked for. */
  readonly explicitTimes: readonly TimeSpan[]
  /** Stems of the words that name who speaks; none when nobody is named. */
  speaker: readonly string[]
  /** Who of a user and an assistant speaks, where the speaker is named by that. */
  role: 'user' | 'assistant' | undefined
  /** Stems of what is said, in order, without stop words and the speaker's name. */
  stems: readonly string[]
  /** Their hashes, side by side: a hundred candidates are compared with every query, and strings lie scattered in memory. */
  hashes: Int32Array
  /** Whether the speaker talks of themselves. */
  firstPerson: boolean
  /** Whether it says when something was or will be. */
  tellsTime: boolean
  /** Names in it, by their capitals: 0 for none to 1 for three or more. */
  names: number
  question: boolean
  /** Whether it opens as an answer to what somebody else said does: thanks, praise, agreement, a greeting. */
  reaction: boolean
}

/** Characters of a text that are looked at. */
const MAX_CHARACTERS = 2000
/** Characters of all texts that are kept, beside a bound on their number: a text can be 50,000 long. */
const MAX_CACHED_CHARACTERS = 16_000_000

const SPEAKER = /^\s*([\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}(?: [\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}){0,2}):\s+(?=\S)/u
const USER = /^(?:user|human)$/i
const ASSISTANT = /^(?:assistant|ai|bot|chatbot|model|agent)$/i
const FIRST_PERSON = /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|us|[Oo]urs?)\b/
const TIME = new RegExp(String.raw`\b(?:yesterday|today|tonight|tomorrow|ago|recently|just|since|other day|weeks?|weekend|months?|years?|birthday|anniversary|${[
  'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
  'january|february|march|april|june|july|august|september|october|november|december',
  String.raw`spring|summer|winter|autumn|(?:last|next|this|past|coming) (?:night|morning|evening|fall|may|few|couple)|in may|\d{4}`,
].join('|')})\b`, 'i')
const NAME = /(?<![.!?]\s|^)\b\p{Lu}\p{Ll}+/gu
const REACTION = new RegExp(String.raw`^(?:wow|thanks|thank|that['’]?s|that (?:is|sounds)|congrats|congratulations|awesome|yeah|yep|yes|sounds|great|cool|nice|amazing|absolutely|definitely|good|${
  'so glad|glad|sure|totally|no problem|you[\'’]re|aww?|haha|oh|sorry|bye|take care|hey|hi|hello'})\b`, 'i')

interface CachedSignals {
  text: string
  speaker: unknown
  at: number
  signals: Signals
}

/**
 * Reads signals, and keeps those of memories that were found lately: in two generations, of which the older one is dropped when the younger is full.
 * That costs a look-up and no order to keep; a recall reads a hundred.
 */
export class SignalReader {
  readonly #size: number
  #young = new Map<string, CachedSignals>()
  #old = new Map<string, CachedSignals>()
  #characters = 0

  /** @param size memories whose signals are kept at most */
  constructor (size = 20_000) {
    this.#size = size
  }

  /** Signals are those of the text alone, so one id in two banks does no harm. */
  read (memory: Memory): Signals {
    const known = this.known(memory)
    if (known !== undefined) return known
    const { memoryId, text, metadata } = memory
    const signals = readSignals(memory)
    this.#keep(memoryId, { text, speaker: metadata['speaker'], at: memory.occurredAt ?? memory.retainedAt, signals })
    return signals
  }

  /** The signals of a memory that was read lately: a look-up, while reading takes some tenths of a millisecond. */
  known (memory: Memory): Signals | undefined {
    const { memoryId } = memory
    const young = this.#young.get(memoryId)
    if (young !== undefined) return isCurrent(young, memory) ? young.signals : undefined
    const old = this.#old.get(memoryId)
    if (old === undefined || !isCurrent(old, memory)) return undefined
    this.#keep(memoryId, old)
    return old.signals
  }

  #keep (memoryId: string, kept: CachedSignals): void {
    if (this.#young.size >= this.#size / 2 || this.#characters > MAX_CACHED_CHARACTERS / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#characters = 0
    }
    this.#young.set(memoryId, kept)
    this.#characters += kept.text.length
  }
}

/** Whether what is kept is of this memory as it is now: an import can put another text in the place of one. */
function isCurrent ({ text, speaker, at }: CachedSignals, memory: Memory): boolean {
  return text === memory.text && speaker === memory.metadata['speaker'] && at === (memory.occurredAt ?? memory.retainedAt)
}

export function readSignals ({ text, metadata, occurredAt, retainedAt }: Pick<Memory, 'text' | 'metadata' | 'occurredAt' | 'retainedAt'>): Signals {
  const head = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  const named = SPEAKER.exec(head)
  const speaker = typeof metadata['speaker'] === 'string' ? metadata['speaker'] : named?.[1]
  const said = named === null ? head : head.slice(named[0].length)
  const stems = contentStems(said)
  let told: readonly TimeSpan[] | undefined
  return {
    get explicitTimes () {
      told ??= explicitTimes(said, occurredAt ?? retainedAt)
      return told
    },
    speaker: speaker === undefined ? [] : words(speaker).map(stem),
    role: speaker === undefined ? undefined : roleOf(speaker.trim()),
    stems,
    hashes: Int32Array.from(stems, fnv1a),
    firstPerson: FIRST_PERSON.test(said),
    tellsTime: TIME.test(said),
    names: Math.min(3, said.match(NAME)?.length ?? 0) / 3,
    question: endsInQuestion(said),
    reaction: REACTION.test(said),
  }
}

function roleOf (speaker: string): Signals['role'] {
  return USER.test(speaker) ? 'user' : ASSISTANT.test(speaker) ? 'assistant' : undefined
}
