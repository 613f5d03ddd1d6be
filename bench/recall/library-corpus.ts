import { STOP_WORDS } from '../../lib/text/stop-words.js'
import { inventWords, seededRandom, zipfSampler } from '../http/vocabulary.js'
import type { Conversation } from './conversation.js'

const SEED = 7
const START = Date.UTC(2024, 0, 1)
const DOCUMENT_TURNS = 20
const TURN_GAP_MS = 60_000
const DOCUMENT_GAP_MS = 24 * 3_600_000
/** A word in more texts than this is common, and stays the same in every copy. */
const MAX_RARE_FREQUENCY = 5
/**
 * The share of the rare words that are unique to a copy: a text twice as long has not twice as many words (Heaps' law).
 */
const REPLACED_SHARE = 0.4
const INVENTED_WORDS = 20_000

export interface CorpusMemory {
  content: string
  documentId: string
  /** Milliseconds since the epoch. */
  occurredAt: number
}

/**
 * A bank of any size with the term statistics of natural conversation: the turns of conversations, copied until there
 * are enough. In each copy after the first, names are other names and a share of the rare words are made-up words of
 * its own. Questions are varied in the same way, so that each has its answer in its own copy. The same input gives the
 * same corpus.
 */
export function makeCorpus (
  conversations: readonly Conversation[], memories: number,
): { memories: CorpusMemory[], queries: string[] } {
  const turns =
    conversations.flatMap(({ sessions }) => sessions.flatMap(({ turns }) => turns.flatMap(({ contents }) => contents)))
  const questions = conversations.flatMap(({ questions }) => questions.map(({ text }) => text))
  const random = seededRandom(SEED)
  const words = inventWords(INVENTED_WORDS, random)
  const draw = zipfSampler(words, random)
  const frequency = documentFrequencies(turns)
  const found: CorpusMemory[] = []
  const queries: string[] = []
  for (let copy = 0; found.length < memories; copy++) {
    const vary = copy === 0 ? (text: string) => text : variation(frequency, random, draw)
    for (const text of turns.slice(0, memories - found.length)) {
      const document = Math.floor(found.length / DOCUMENT_TURNS)
      const occurredAt = START + document * DOCUMENT_GAP_MS + (found.length % DOCUMENT_TURNS) * TURN_GAP_MS
      found.push({ content: vary(text), documentId: `document-${document}`, occurredAt })
    }
    queries.push(...questions.map(vary))
  }
  return { memories: found, queries }
}

/** Replaces a word by the same other word in all texts of a copy. */
function variation (
  frequency: ReadonlyMap<string, number>, random: () => number, draw: () => string,
): (text: string) => string {
  const chosen = new Map<string, string>()
  const taken = new Set<string>()
  // Two words of a copy must not become one, or it would be the most frequent of all.
  const fresh = (): string => {
    for (;;) {
      const word = draw()
      if (taken.has(word)) continue
      taken.add(word)
      return word
    }
  }
  const choose = (word: string): string => {
    const key = word.toLowerCase()
    const seen = chosen.get(key)
    if (seen !== undefined) return seen
    const isRare = (frequency.get(key) ?? 0) <= MAX_RARE_FREQUENCY
    const isReplaced = !STOP_WORDS.has(key) && (isName(word) || (isRare && random() < REPLACED_SHARE))
    const other = isReplaced ? fresh() : key
    chosen.set(key, other)
    return other
  }
  return (text) => text.replace(/\p{L}+/gu, (word) => {
    const other = choose(word)
    if (other === word.toLowerCase()) return word
    return isName(word) ? `${other.charAt(0).toUpperCase()}${other.slice(1)}` : other
  })
}

function isName (word: string): boolean {
  return /^\p{Lu}\p{Ll}{2,}$/u.test(word)
}

function documentFrequencies (texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) {
    for (const word of new Set(text.toLowerCase().match(/\p{L}+/gu))) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}
