import { LRUCache } from 'lru-cache'
import type { Memory } from '../../stores/vector-store.js'
import { endsInQuestion } from '../../text/analysis.js'
import { STOP_WORDS } from '../../text/stop-words.js'
import { stem } from '../../text/stems.js'
import { words } from '../../text/words.js'
import { toldTimes, type TimeSpan } from './dates.js'

/** What a memory's text shows of itself, whatever is asked. */
export interface Signals {
  /** The times that the text names outright (dates.ts). Read when they are first asked for. */
  readonly told: readonly TimeSpan[]
  /** Stems of the words that name who speaks; none when nobody is named. */
  speaker: readonly string[]
  /** Stems of what is said, in order, without stop words and the speaker's name. */
  stems: readonly string[]
  /** Whether the speaker talks of themselves. */
  firstPerson: boolean
  secondPerson: boolean
  /** Whether it says when something was or will be. */
  tellsTime: boolean
  tellsNumber: boolean
  /** Names in it, by their capitals: 0 for none to 1 for three or more. */
  names: number
  question: boolean
  /** Whether it opens as an answer to what somebody else said does: thanks, praise, agreement, a greeting. */
  reaction: boolean
}

/** Characters of a text that are looked at. */
const LOOKED_AT = 2000
/** Characters of all texts that are kept, beside a bound on their number: a text can be 50,000 long. */
const MOST_KEPT = 16_000_000

const SPEAKER = /^\s*([\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}(?: [\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]{0,39}){0,2}):\s+(?=\S)/u
const FIRST_PERSON = /\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|us|[Oo]urs?)\b/
const SECOND_PERSON = /\b(?:you|your|yours)\b/i
const TIME = new RegExp(String.raw`\b(?:yesterday|today|tonight|tomorrow|ago|recently|just|since|other day|weeks?|weekend|months?|years?|birthday|anniversary|${[
  'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
  'january|february|march|april|june|july|august|september|october|november|december',
  String.raw`spring|summer|winter|autumn|(?:last|next|this|past|coming) (?:night|morning|evening|fall|may|few|couple)|in may|\d{4}`,
].join('|')})\b`, 'i')
const NUMBER = /\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several|many|dozen|hundred)\b/i
const NAME = /(?<![.!?]\s|^)\b\p{Lu}\p{Ll}+/gu
const REACTION = new RegExp(String.raw`^(?:wow|thanks|thank|that['’]?s|that (?:is|sounds)|congrats|congratulations|awesome|yeah|yep|yes|sounds|great|cool|nice|amazing|absolutely|definitely|good|${
  'so glad|glad|sure|totally|no problem|you[\'’]re|aww?|haha|oh|sorry|bye|take care|hey|hi|hello'})\b`, 'i')

/** Reads signals, and keeps those of memories that were found lately. */
export class SignalReader {
  readonly #kept: LRUCache<string, { text: string, speaker: unknown, at: number, signals: Signals }>

  /** @param size memories whose signals are kept */
  constructor (size = 20_000) {
    this.#kept = new LRUCache({ max: size, maxSize: MOST_KEPT, sizeCalculation: ({ text }) => text.length + 1 })
  }

  /** @param bank what tells the memory's bank from all others */
  read (bank: string, memory: Memory): Signals {
    const key = `${bank} ${memory.memoryId}`
    const known = this.#kept.get(key)
    const at = memory.occurredAt ?? memory.retainedAt
    // An import can put another text in the place of one.
    if (known !== undefined && known.text === memory.text && known.speaker === memory.metadata['speaker'] && known.at === at) return known.signals
    const signals = readSignals(memory)
    this.#kept.set(key, { text: memory.text, speaker: memory.metadata['speaker'], at, signals })
    return signals
  }
}

export function readSignals ({ text, metadata, occurredAt, retainedAt }: Pick<Memory, 'text' | 'metadata' | 'occurredAt' | 'retainedAt'>): Signals {
  const head = text.length > LOOKED_AT ? text.slice(0, LOOKED_AT) : text
  const named = SPEAKER.exec(head)
  const speaker = typeof metadata['speaker'] === 'string' ? metadata['speaker'] : named?.[1]
  const said = named === null ? head : head.slice(named[0].length)
  let told: readonly TimeSpan[] | undefined
  return {
    get told () {
      told ??= toldTimes(said, occurredAt ?? retainedAt)
      return told
    },
    speaker: speaker === undefined ? [] : words(speaker).map(stem),
    stems: words(said).filter((word) => !STOP_WORDS.has(word)).map(stem),
    firstPerson: FIRST_PERSON.test(said),
    secondPerson: SECOND_PERSON.test(said),
    tellsTime: TIME.test(said),
    tellsNumber: NUMBER.test(said),
    names: Math.min(3, said.match(NAME)?.length ?? 0) / 3,
    question: endsInQuestion(said),
    reaction: REACTION.test(said),
  }
}
