import { isHighSurrogate, isLowSurrogate } from '../base/code-points.js'
import { visibleText } from '../text/disguises.js'
import { NO_ANSWER } from './marks.js'
import { addressesIn, definesLink, readCode, readProse, type SourceBounds } from './markup.js'
import { SentenceReader, type TextUnit } from './sentence-reader.js'

const LINE_END = /\r\n|[\r\u0085\u2028\u2029]/g

/**
 * Makes the visible form of a text that arrives in chunks: hidden characters are removed (visibleText), half of a
 * surrogate pair becomes U+FFFD, and each line ends in a line feed. The result does not depend on how the text is
 * divided into chunks.
 */
class VisibleStream {
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
class AbstentionGate {
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

/** Constructs that joining two non-adjacent pieces could form: a link, its definition, an image, a tag. */
const HAZARD = /^(?:\][(:]|!\[|<[a-z/!?])/i
const ADDRESS = /:\/\/|www\./i

/**
 * Writes the remaining parts of a text. A line with nothing left is removed with its line break and its prefix (such as
 * the marker of a list), without leaving two blank lines in a row. The text begins and ends without a blank line.
 */
class LineWriter {
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

/**
 * The start of a line that belongs to its first sentence: quotation signs, or the marker of a list, a task or a
 * heading.
 */
const PREFIX = /^(?:\s*>)*\s*(?:(?:[-*+•–]|\d{1,9}[.)]|#{1,6})\s+)?(?:\[[ xX]\]\s+)?/
const HAS_CONTENT = /[\p{L}\p{N}\p{Sc}\p{So}]/u

export interface CitationOptions {
  /** The texts of the sources. Only web addresses that occur in them verbatim are shown. Default: none. */
  sourceTexts?: readonly string[]
}

/** The end of an answer, with the properties of the whole answer. */
export interface FilteredAnswer {
  /** Empty for an abstention. */
  text: string
  /** The sources that the shown text cites: the first is cited as [1]. */
  cited: number[]
  /**
   * Whether the answer cites no source and is not an abstention. An answer with a mark somewhere is verified even if
   * other sentences have none: an introduction or a remark in between needs no mark.
   */
  unverified: boolean
  /** Whether the answer is NO_ANSWER, perhaps with an explanation after it that cites no source. */
  abstained: boolean
}

/**
 * Filters an answer that arrives in chunks. Text is held back until its sentence (or row of a table, or line of code)
 * is complete, and is shown
 * - with its marks as `[n]`, numbered in the order in which the answer cites its sources first; `[1, 2]`, `[1-3]`,
 *   `[^2]`, `【1】` and `[source 2]` are marks too, `(1)` is none (see readMark);
 * - without marks that name no source. A sentence none of whose marks names a source is cut, and a line with nothing
 *   left is removed;
 * - without images, and without links to addresses that occur in no source, which could exfiltrate content (see
 *   readProse);
 * - without hidden characters. Marks in code (in a fenced block or between backticks) are left as code. If every
 *   sentence would be cut, they are shown at the end, without their marks and as unverified: an answer is never empty
 *   because of its marks. The time is linear in the length of the answer, and the result does not depend on how the
 *   answer is divided into chunks.
 */
export class CitationFilter {
  readonly #bounds: SourceBounds
  readonly #visible = new VisibleStream()
  readonly #gate = new AbstentionGate()
  readonly #reader: SentenceReader
  readonly #shown = new LineWriter()
  /** The answer with nothing cut, for the case that every sentence would be. */
  readonly #uncut = new LineWriter()
  #uncutText = ''
  #ready = ''
  /** The number under which each source is cited, in their order. */
  readonly #numbers = new Map<number, number>()

  /** @param sources the number of sources; the model cites them as 1 to this number */
  constructor (sources: number, { sourceTexts = [] }: CitationOptions = {}) {
    this.#bounds = { sources, allowed: addressesIn(sourceTexts), numbers: this.#numbers }
    this.#reader = new SentenceReader({
      unit: (unit) => { this.#take(unit) },
      lineBreak: () => {
        this.#shown.lineBreak()
        if (this.#shown.isEmpty) this.#uncut.lineBreak()
      },
    })
  }

  /** @returns the text that can be shown now; may be empty */
  push (chunk: string): string {
    this.#reader.push(this.#gate.push(this.#visible.push(chunk)))
    return this.#flush()
  }

  /** @returns the properties of the whole answer; `text` is the rest that is still to be shown */
  end (): FilteredAnswer {
    const held = this.#gate.push(this.#visible.end())
    const { abstained, text } = this.#gate.end()
    if (abstained) return abstention()
    this.#reader.push(held + text)
    this.#reader.end()
    if (this.#mayBeAbstention) return abstention()
    const cited = [...this.#numbers.keys()]
    const shown = this.#shown.isEmpty ? this.#uncutText : this.#flush()
    return { text: shown, cited, unverified: cited.length === 0, abstained }
  }

  /** Text after NO_ANSWER is shown only if it cites a source: otherwise it explains why there is no answer. */
  get #mayBeAbstention (): boolean {
    return this.#gate.continues && this.#numbers.size === 0
  }

  #flush (): string {
    if (this.#mayBeAbstention) return ''
    const text = this.#ready
    this.#ready = ''
    return text
  }

  #take ({ text, starts, code }: TextUnit): void {
    const prefix = (starts && !code ? PREFIX : /^\s*/).exec(text)![0]
    const body = text.slice(prefix.length)
    if (starts) for (const writer of [this.#shown, this.#uncut]) writer.begin(prefix)
    const gap = starts ? '' : prefix
    if (code) this.#keep(gap, readCode(body, this.#bounds.allowed))
    else if (body === '') this.#keep(gap, body)
    else if (starts && definesLink(body, this.#bounds.allowed)) this.#drop()
    else this.#takeProse(gap, body)
  }

  #takeProse (gap: string, body: string): void {
    const { text: left, cited, hasUnknownSource } = readProse(body, this.#bounds)
    const text = left.trimStart()
    const isOnlyMarks = this.#gate.continues && !/\p{L}/u.test(text)
    if (isOnlyMarks || (text !== body && !HAS_CONTENT.test(text))) {
      this.#drop()
    } else if (hasUnknownSource && cited.length === 0) {
      if (this.#shown.isEmpty) this.#uncutText += this.#uncut.keep(gap, text)
      this.#shown.drop()
    } else {
      for (const source of cited) {
        if (!this.#numbers.has(source)) this.#numbers.set(source, this.#numbers.size + 1)
      }
      this.#keep(gap, text)
    }
  }

  #keep (gap: string, text: string): void {
    this.#ready += this.#shown.keep(gap, text)
  }

  #drop (): void {
    this.#shown.drop()
    this.#uncut.drop()
  }
}

function abstention (): FilteredAnswer {
  return { text: '', cited: [], unverified: false, abstained: true }
}
