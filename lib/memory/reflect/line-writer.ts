/** Constructs that joining two non-adjacent pieces could form: a link, its definition, an image, a tag. */
const HAZARD = /^(?:\][(:]|!\[|<[a-z/!?])/i
const ADDRESS = /:\/\/|www\./i

/**
 * Writes the remaining parts of a text. A line with nothing left is removed with its line break and its prefix (such as
 * the marker of a list), without leaving two blank lines in a row. The text begins and ends without a blank line.
 */
export class LineWriter {
  #written = false
  #last = ''
  /**
   * Whether the text since the last white space contains a web address: clients extend it up to the next white space.
   */
  #inAddress = false
  #breaks = 0
  #prefix = ''
  /**
   * Whether this line has text, whether a part of it was dropped, and whether a whole line was dropped since the last
   * text.
   */
  #open = false
  #dropped = false
  #lineDropped = false

  get isEmpty (): boolean {
    return !this.#written
  }

  /** Sets the prefix of the line, which is written if anything of the line is kept. */
  begin (prefix: string): void {
    this.#prefix = prefix
  }

  /** @returns the text as written, with the line breaks and the prefix before it */
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
