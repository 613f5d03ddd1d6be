import { withoutOtherAddresses } from './addresses.js'

/** Pairs that Markdown or HTML reads as the middle of a link, the definition of one, or the beginning of a tag. */
const HAZARD = /^(?:\][(:]|<[a-z/!?])/i

interface Piece {
  text: string
  /** Whether it stands as it is: a mark, code, a link that is allowed. */
  fixed: boolean
}

/** A text that is put together from parts of another so that no link and no tag comes about that was not put in as such. */
export class GuardedText {
  readonly #pieces: Piece[] = []
  #last = ''

  /** The last UTF-16 unit; empty when there is none. */
  get last (): string {
    return this.#last
  }

  get isBlank (): boolean {
    return this.#pieces.every(({ text }) => text.trim() === '')
  }

  /** Text that is still looked through for addresses. Where the join would be a hazard a space stands between. */
  put (text: string): void {
    this.#push(HAZARD.test(this.#last + text.slice(0, 1)) ? ` ${text}` : text, false)
  }

  /** What is known to be harmless. */
  putFixed (text: string): void {
    this.#push(text, true)
  }

  #push (text: string, fixed: boolean): void {
    if (text === '') return
    this.#pieces.push({ text, fixed })
    this.#last = text.at(-1)!
  }

  /** Takes back the last UTF-16 unit if it is this one. */
  takeBack (unit: string): void {
    if (this.#last === unit) this.#replaceLast((text) => text.slice(0, -1))
  }

  /** @returns whether there was white space at the end, which is gone */
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

  /** @returns the whole without addresses that are not allowed */
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
