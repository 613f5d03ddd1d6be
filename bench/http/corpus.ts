import { FUNCTION_WORDS, inventWords, seededRandom, zipfSampler, type Random } from './vocabulary.js'

const VOCABULARY = 30_000
const SHORTEST = 150
const LONGEST = 250
const QUERY_WORDS = 4

/** A memory's text, and the words that distinguish it from others. */
export interface Text {
  text: string
  telling: string[]
}

/**
 * An endless supply of texts and queries, the same for the same seed. One Zipf law over all words, as in running text:
 * the first ranks are function words, which together come to a little less than half of all words.
 */
export class Corpus {
  readonly #random: Random
  readonly #word: () => string
  readonly #functionWords = new Set(FUNCTION_WORDS)

  constructor (seed: number) {
    this.#random = seededRandom(seed)
    // The vocabulary is the same for every seed.
    this.#word = zipfSampler([...FUNCTION_WORDS, ...inventWords(VOCABULARY, seededRandom(1))], this.#random)
  }

  /** A sentence or two of 150 to 250 characters, 200 on average. */
  text (): Text {
    const length = SHORTEST + this.#random() * (LONGEST - SHORTEST)
    const telling = new Set<string>()
    let text = ''
    let startsSentence = true
    while (text.length < length) {
      const word = this.#word()
      if (!this.#functionWords.has(word)) telling.add(word)
      text += `${text === '' ? '' : ' '}${startsSentence ? word[0]!.toUpperCase() + word.slice(1) : word}`
      startsSentence = this.#random() < 0.07
      if (startsSentence) text += '.'
    }
    return { text: startsSentence ? text : `${text}.`, telling: [...telling] }
  }

  texts (count: number): Text[] {
    return Array.from({ length: count }, () => this.text())
  }

  /** Four different content words of one of the texts: function words would cost a search nothing. */
  query (texts: readonly Text[]): string {
    const { telling } = texts[Math.floor(this.#random() * texts.length)]!
    const rest = [...telling]
    const words: string[] = []
    while (words.length < QUERY_WORDS && rest.length > 0) {
      words.push(...rest.splice(Math.floor(this.#random() * rest.length), 1))
    }
    return words.join(' ')
  }
}
