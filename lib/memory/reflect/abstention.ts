import { NO_ANSWER } from '../../text/marks.js'

/** Characters that may surround NO_ANSWER: white space, quotation marks, emphasis, brackets, full stops. */
const AROUND = /[\s"'“”„‘’«»`*_.!()]/u

/**
 * The most characters that are held back. What is held is later filtered at once, and more around the word is no
 * abstention.
 */
const MAX_HELD_CHARACTERS = 1_000

/** What continues the word, so that it is another one, such as NO_ANSWERS or no_answer_found. */
const CONTINUED = /^_?[\p{L}\p{N}]/u
/** Characters between NO_ANSWER and the text after it. */
const SEPARATORS = /^[\s"'“”„‘’«»`*_.!(),:;–—-]+/u

/** Whether a whole text is NO_ANSWER by the rules of AbstentionGate. */
export function isAbstention (text: string): boolean {
  const gate = new AbstentionGate()
  gate.push(text)
  return gate.end().abstained
}

/**
 * Holds the beginning of an answer back while it may still be only NO_ANSWER (in any case, perhaps surrounded by
 * quotation marks, emphasis or a full stop), so that no part of that word is shown. If the answer goes on after the
 * word, it passes on what follows.
 */
export class AbstentionGate {
  #held = ''
  /** Number of characters of the word matched so far. */
  #seen = 0
  #open = false
  #continues = false

  /** Whether the answer begins with NO_ANSWER and goes on after it. */
  get continues (): boolean {
    return this.#continues
  }

  /** @returns the text to pass on: nothing, or the text held so far with the chunk */
  push (chunk: string): string {
    if (this.#open) return chunk
    let length = this.#held.length
    this.#held += chunk
    for (const character of chunk) {
      length += character.length
      if (length <= MAX_HELD_CHARACTERS && this.#matches(character)) continue
      this.#open = true
      const text = this.#release()
      const afterWord = this.#seen === NO_ANSWER.length ? textAfterWord(text) : undefined
      if (afterWord === undefined) return text
      this.#continues = true
      return afterWord
    }
    return ''
  }

  /** @returns whether the whole answer was NO_ANSWER; if not, the text still held */
  end (): { abstained: boolean, text: string } {
    if (!this.#open && this.#seen === NO_ANSWER.length) return { abstained: true, text: '' }
    return { abstained: false, text: this.#release() }
  }

  #matches (character: string): boolean {
    const next = NO_ANSWER[this.#seen]
    // An underscore is emphasis around the word and a character inside it.
    if (next !== undefined && character.toUpperCase() === next) {
      this.#seen += 1
      return true
    }
    return (this.#seen === 0 || next === undefined) && AROUND.test(character)
  }

  #release (): string {
    const text = this.#held
    this.#held = ''
    return text
  }
}

/** @returns undefined if another word begins with NO_ANSWER */
function textAfterWord (text: string): string | undefined {
  const rest = text.slice(text.toUpperCase().indexOf(NO_ANSWER) + NO_ANSWER.length)
  return CONTINUED.test(rest) ? undefined : rest.replace(SEPARATORS, '')
}
