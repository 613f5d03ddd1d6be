const OPENING = '<think>'
const CLOSING = '</think>'

/**
 * Removes the reasoning of a model, which some servers of open models (DeepSeek, Qwen and others) send as text between
 * `<think>` and `</think>`. It does so only at the beginning of an answer; elsewhere the tags are text.
 */
export class ReasoningFilter {
  #held = ''
  #state: 'before' | 'thinking' | 'answering' = 'before'

  /** @returns the part of the piece that is known to belong to the answer */
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
    // Keeps as many characters as may be the beginning of the closing tag.
    this.#held = this.#held.slice(-(CLOSING.length - 1))
    return ''
  }

  /** @returns the text that was held back and turned out not to be reasoning */
  end (): string {
    return this.#state === 'before' ? this.#answer(this.#held) : ''
  }

  #answer (text: string): string {
    this.#state = 'answering'
    this.#held = ''
    return text
  }
}

/** Removes the reasoning from a complete answer. */
export function withoutReasoning (text: string): string {
  const filter = new ReasoningFilter()
  return filter.push(text) + filter.end()
}
