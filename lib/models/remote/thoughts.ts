const OPENING = '<think>'
const CLOSING = '</think>'

/**
 * Takes out what a model thinks before it answers, which servers of open models (DeepSeek, Qwen and others) send as text between
 * `<think>` and `</think>` when they do not tell it apart. Only at the beginning of an answer; elsewhere the words are text.
 */
export class ThoughtFilter {
  #held = ''
  #state: 'before' | 'thinking' | 'answering' = 'before'

  /** @returns what of the piece belongs to the answer, as far as that is known */
  push (piece: string): string {
    if (this.#state === 'answering') return piece
    this.#held += piece
    if (this.#state === 'before') {
      const begun = this.#held.trimStart()
      if (begun.length < OPENING.length && OPENING.startsWith(begun)) return ''
      if (!begun.startsWith(OPENING)) return this.#answer(this.#held)
      this.#state = 'thinking'
      this.#held = begun.slice(OPENING.length)
    }
    const end = this.#held.indexOf(CLOSING)
    if (end >= 0) return this.#answer(this.#held.slice(end + CLOSING.length).trimStart())
    // As much as may be the beginning of the closing tag.
    this.#held = this.#held.slice(-(CLOSING.length - 1))
    return ''
  }

  /** @returns what was held back and is text after all; a thought that never ends is none */
  end (): string {
    return this.#state === 'before' ? this.#answer(this.#held) : ''
  }

  #answer (text: string): string {
    this.#state = 'answering'
    this.#held = ''
    return text
  }
}

/** The same for an answer in one piece. */
export function withoutThoughts (text: string): string {
  const filter = new ThoughtFilter()
  return filter.push(text) + filter.end()
}
