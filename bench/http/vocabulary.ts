import { STOP_WORDS } from '../../lib/text/stop-words.js'

/** Numbers in [0, 1), the same ones for the same seed: the generator "mulberry32" (T. Ettinger, public domain). */
export type Random = () => number

export function seededRandom (seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The commonest function words of English, roughly by falling frequency. */
export const FUNCTION_WORDS: readonly string[] = [
  'the', 'of', 'and', 'to', 'a', 'in', 'is', 'you', 'it', 'that', 'he', 'was', 'for', 'on', 'are', 'with', 'as', 'his',
  'they', 'be', 'at', 'have', 'this', 'from', 'or', 'had', 'by', 'but', 'not', 'what', 'all', 'were', 'we', 'when',
  'there', 'can', 'an', 'which', 'their',
  'if', 'do', 'how', 'them', 'then', 'she', 'so', 'these', 'her', 'him', 'has', 'more', 'who', 'its', 'did', 'my',
]

const ONSETS = [
  'b', 'br', 'c', 'd', 'dr', 'f', 'g', 'gr', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'pl', 'r', 's', 'st', 't', 'tr', 'v',
  'w', 'z',
]
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ou']
const CODAS = ['', '', '', 'l', 'm', 'n', 'r', 's', 't', 'nd']

/**
 * Made-up words that can be pronounced, all different, none a word of English that carries no meaning; the first, which
 * Zipf's law makes the most frequent, are the shortest, as in languages.
 */
export function inventWords (count: number, random: Random): string[] {
  const pick = (choices: readonly string[]) => choices[Math.floor(random() * choices.length)]!
  // An invented word must not be a stop word of the service by chance, or a query with it would cost nothing.
  const taken = new Set([...FUNCTION_WORDS, ...STOP_WORDS])
  const words: string[] = []
  while (words.length < count) {
    const syllables = (words.length < 500 ? 1 : 2) + Math.floor(random() * 2)
    let word = ''
    for (let i = 0; i < syllables; i++) word += pick(ONSETS) + pick(VOWELS) + pick(CODAS)
    if (taken.has(word)) continue
    taken.add(word)
    words.push(word)
  }
  return words
}

/**
 * Draws words by Zipf's law: the word of rank r with a probability in proportion to 1 / r.
 * @param words by falling frequency
 */
export function zipfSampler (words: readonly string[], random: Random): () => string {
  const cumulated = new Float64Array(words.length)
  let total = 0
  words.forEach((_, index) => {
    total += 1 / (index + 1)
    cumulated[index] = total
  })
  return () => words[firstAtLeast(cumulated, random() * total)]!
}

/** Binary search in rising numbers. */
function firstAtLeast (sorted: Float64Array, value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
