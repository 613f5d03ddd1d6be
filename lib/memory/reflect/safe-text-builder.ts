import { withoutOtherAddresses } from './addresses.js'

/**
 * Pairs of characters that Markdown or HTML reads as part of a link or its definition, or as the beginning of a tag.
 */
const HAZARD = /^(?:\][(:]|<[a-z/!?])/i

interface Piece {
  text: string
  /** Whether it is not filtered further: a mark, code, an allowed link. */
  fixed: boolean
}

/** Joins parts of a text so that the joins cannot form a new link or tag. */
export class SafeTextBuilder {
  readonly #pieces: Piece[] = []
  #last = ''

  /** The last UTF-16 unit; empty when there is none. */
  get last (): string {
    return this.#last
  }

  get isBlank (): boolean {
    return this.#pieces.every(({ text }) => text.trim() === '')
  }

  /**
   * Appends text that is still filtered for addresses. A space separates it where the join could form a link or tag.
   */
  put (text: string): void {
    this.#push(HAZARD.test(this.#last + text.slice(0, 1)) ? ` ${text}` : text, false)
  }

  /** Appends text that is known to be harmless. */
  putFixed (text: string): void {
    this.#push(text, true)
  }

  #push (text: string, fixed: boolean): void {
    if (text === '') return
    this.#pieces.push({ text, fixed })
    this.#last = text.at(-1)!
  }

  /** Removes the last UTF-16 unit if it is this one. */
  takeBack (unit: string): void {
    if (this.#last === unit) this.#replaceLast((text) => text.slice(0, -1))
  }

  /** @returns whether white space was removed */
  trimEnd (): boolean {
    const hadSpace = /\s/.test(this.#last)
    while (/\s/.test(this.#last)) this.#replaceLast((text) => text.trimEnd())
    return hadSpace
  }

  #replaceLast (change: (text: string) => string): void {
    const piece = this.#pieces.pop()
    const text = change(piece?.text ?? '')
    if (text !== '') this.#pieces.push({ text, fixed: piece?.fixed ?? false })
    this.#last = this.#pieces.at(-1)?.text.at(-1) ?? ''
  }

  /** @returns the whole text without addresses that are not allowed */
  toText (allowed: ReadonlySet<string>): string {
    let result = ''
    let run = ''
    for (const { text, fixed } of [...this.#pieces, { text: '', fixed: true }]) {
      if (!fixed) {
        run += text
        continue
      }
      if (run !== '') result += withoutOtherAddresses(run, allowed, text !== '')
      result += text
      run = ''
    }
    return result
  }
}
