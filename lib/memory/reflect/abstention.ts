/** What the model is told to answer, and nothing else, when the evidence does not answer the question. */
export const NO_ANSWER = 'NO_ANSWER'

/** What may stand around the word: white space, quotation marks, emphasis, brackets, full stops. */
const AROUND = /[\s"'“”„‘’«»`*_.!()]/u

/** Whether a whole text is NO_ANSWER, as AbstentionGate takes it. */
export function isAbstention (text: string): boolean {
  const gate = new AbstentionGate()
  gate.push(text)
  return gate.end().abstained
}

/**
 * Holds an answer back for as long as it may turn out to be NO_ANSWER and nothing else (in any case, with quotation marks, emphasis
 * or a full stop around it), so that no piece of that word is ever shown.
 */
export class AbstentionGate {
  #held = ''
  /** Characters of the word that were seen. */
  #seen = 0
  #open = false

  /** @returns what may go on: nothing, or all that was held and the piece */
  push (piece: string): string {
    if (this.#open) return piece
    this.#held += piece
    for (const character of piece) {
      if (this.#fits(character)) continue
      this.#open = true
      return this.#release()
    }
    return ''
  }

  /** @returns whether the whole answer was the word; what was held if it was not */
  end (): { abstained: boolean, text: string } {
    if (!this.#open && this.#seen === NO_ANSWER.length) return { abstained: true, text: '' }
    return { abstained: false, text: this.#release() }
  }

  #fits (character: string): boolean {
    const next = NO_ANSWER[this.#seen]
    // An underscore is emphasis before and behind the word and a letter inside of it.
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
