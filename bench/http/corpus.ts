import { FUNCTION_WORDS, inventWords, seededRandom, zipfSampler, type Random } from './vocabulary.js'

const VOCABULARY = 30_000
/** Running English text is a little less than half function words. */
const FUNCTION_WORD_SHARE = 0.45
const SHORTEST = 150
const LONGEST = 250
const QUERY_WORDS = 4

/** A memory's text, and which of its words tell it from others. */
export interface Text {
  text: string
  telling: string[]
}

/** An endless supply of texts and queries, the same for the same seed. */
export class Corpus {
  readonly #random: Random
  readonly #functionWord: () => string
  readonly #tellingWord: () => string

  constructor (seed: number) {
    this.#random = seededRandom(seed)
    this.#functionWord = zipfSampler(FUNCTION_WORDS, this.#random)
    // The vocabulary is the same for every seed, as a language is for everybody who speaks it.
    this.#tellingWord = zipfSampler(inventWords(VOCABULARY, seededRandom(1)), this.#random)
  }

  /** A sentence or two of 150 to 250 characters, 200 on average. */
  text (): Text {
    const length = SHORTEST + this.#random() * (LONGEST - SHORTEST)
    const telling = new Set<string>()
    let text = ''
    let startsSentence = true
    while (text.length < length) {
      const isFunctionWord = this.#random() < FUNCTION_WORD_SHARE
      const word = isFunctionWord ? this.#functionWord() : this.#tellingWord()
      if (!isFunctionWord) telling.add(word)
      text += `${text === '' ? '' : ' '}${startsSentence ? word[0]!.toUpperCase() + word.slice(1) : word}`
      startsSentence = this.#random() < 0.07
      if (startsSentence) text += '.'
    }
    return { text: startsSentence ? text : `${text}.`, telling: [...telling] }
  }

  texts (count: number): Text[] {
    return Array.from({ length: count }, () => this.text())
  }

  /** Four different telling words of one of the texts: function words would cost a search nothing. */
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
