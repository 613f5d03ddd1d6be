/** What two pieces that did not stand next to each other could make: a link, the definition of one, an image, a tag. */
const HAZARD = /^(?:\][(:]|!\[|<[a-z/!?])/i
const ADDRESS = /:\/\/|www\./i

/**
 * Puts together what is left of a text: a line of which nothing is left goes with its break and with what it began with (the marker of
 * a list), and leaves no two blank lines in a row. The text begins and ends without a blank line.
 */
export class LineWriter {
  #written = false
  #last = ''
  /** Whether a web address stands behind the last white space: a reader may take all up to the next for it. */
  #inAddress = false
  #breaks = 0
  #prefix = ''
  /** Whether this line has text already, whether a part of it was dropped before, and whether a whole line was since the last text. */
  #open = false
  #dropped = false
  #lineDropped = false

  get isEmpty (): boolean {
    return !this.#written
  }

  /** A line begins with this, if anything of it is kept. */
  begin (prefix: string): void {
    this.#prefix = prefix
  }

  /** @returns what is written, with all that stands before it */
  keep (gap: string, text: string): string {
    let before = gap
    if (!this.#open) before = (this.#written ? '\n'.repeat(this.#breaks) : '') + this.#prefix
    else if (gap === '' && (this.#inAddress || HAZARD.test(this.#last + text.slice(0, 1)))) before = ' '
    const piece = before + text
    this.#last = piece.at(-1) ?? this.#last
    let word = piece.length
    while (word > 0 && !/\s/.test(piece[word - 1]!)) word -= 1
    this.#inAddress = ADDRESS.test(piece.slice(word)) || (this.#inAddress && word === 0)
    this.#open = true
    this.#written = true
    this.#dropped = false
    this.#lineDropped = false
    this.#breaks = 0
    return piece
  }

  drop (): void {
    this.#dropped = true
    if (!this.#open) this.#lineDropped = true
  }

  lineBreak (): void {
    const isGone = !this.#open && this.#dropped
    const isSecondBlank = !this.#open && this.#lineDropped && this.#breaks >= 2
    if (!isGone && !isSecondBlank) this.#breaks += 1
    this.#open = false
    this.#dropped = false
    this.#prefix = ''
  }
}
