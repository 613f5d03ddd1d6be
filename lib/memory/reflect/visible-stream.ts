import { visibleText } from '../../text/visible.js'
import { isHighSurrogate, isLowSurrogate } from '../../validation/code-points.js'

const LINE_END = /\r\n|[\r\u0085\u2028\u2029]/g

/**
 * Makes the visible form of a text that arrives in chunks: hidden characters are removed (text/visible.ts), half of a
 * surrogate pair becomes U+FFFD, and each line ends in a line feed. The result does not depend on how the text is
 * divided into chunks.
 */
export class VisibleStream {
  /** Half a surrogate pair or a carriage return, whose treatment depends on the next chunk. */
  #held = ''
  /** The last character that was kept. */
  #last = ''

  push (chunk: string): string {
    const text = this.#held + chunk
    const last = text.charCodeAt(text.length - 1)
    const undecided = isHighSurrogate(last) || last === 0x0d
    this.#held = undecided ? text.slice(-1) : ''
    return this.#clean(undecided ? text.slice(0, -1) : text)
  }

  end (): string {
    const text = this.#held
    this.#held = ''
    return this.#clean(text)
  }

  #clean (text: string): string {
    const kept = visibleText(text.toWellFormed().replace(LINE_END, '\n'), this.#last)
    const low = kept.charCodeAt(kept.length - 1)
    if (kept !== '') this.#last = kept.slice(isLowSurrogate(low) ? -2 : -1)
    return kept
  }
}
