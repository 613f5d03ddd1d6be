const OPENING = '<think>'
const CLOSING = '</think>'

/**
 * Removes the reasoning of a model, which some servers of open models (DeepSeek, Qwen and others) send as text between
 * `<think>` and `</think>`. It does so only at the beginning of an answer; elsewhere the tags are text. What was held
 * back is not read again with each piece, because a model may send tens of thousands of blank ones.
 */
export class ReasoningFilter {
  /** The pieces that are part of the answer unless the opening tag follows. */
  readonly #held: string[] = []
  /** The beginning of the opening tag, or the last characters of the reasoning. */
  #tail = ''
  #state: 'before' | 'thinking' | 'answering' = 'before'

  /** @returns the part of the piece that is known to belong to the answer */
  push (piece: string): string {
    if (this.#state === 'answering') return piece
    if (this.#state === 'thinking') return this.#think(this.#tail + piece)
    const begun = this.#tail === '' ? piece.trimStart() : this.#tail + piece
    if (begun.startsWith(OPENING)) {
      this.#state = 'thinking'
      return this.#think(begun.slice(OPENING.length))
    }
    this.#held.push(piece)
    if (begun.length >= OPENING.length || !OPENING.startsWith(begun)) return this.#release()
    this.#tail = begun
    return ''
  }

  /** @returns the text that was held back and turned out not to be reasoning */
  end (): string {
    return this.#state === 'before' ? this.#release() : ''
  }

  #release (): string {
    this.#state = 'answering'
    return this.#held.join('')
  }

  #think (text: string): string {
    const end = text.indexOf(CLOSING)
    if (end < 0) {
      // As many characters as may be the beginning of the closing tag.
      this.#tail = text.slice(-(CLOSING.length - 1))
      return ''
    }
    this.#state = 'answering'
    return text.slice(end + CLOSING.length).trimStart()
  }
}

/** Removes the reasoning from a complete answer. */
export function withoutReasoning (text: string): string {
  const filter = new ReasoningFilter()
  return filter.push(text) + filter.end()
}
