import { AbstentionGate } from './abstention.js'
import { addressesIn, definesLink, readCode } from './addresses.js'
import { LineWriter } from './line-writer.js'
import { readProse, type SourceBounds } from './markup.js'
import { SentenceReader, type TextUnit } from './sentence-reader.js'
import { VisibleStream } from './visible-stream.js'

/**
 * The start of a line that belongs to its first sentence: quotation signs, or the marker of a list, a task or a
 * heading.
 */
const PREFIX = /^(?:\s*>)*\s*(?:(?:[-*+•–]|\d{1,9}[.)]|#{1,6})\s+)?(?:\[[ xX]\]\s+)?/
const HAS_CONTENT = /[\p{L}\p{N}\p{Sc}\p{So}]/u
const ABSTENTION: FilteredAnswer = { text: '', cited: [], unverified: false, abstained: true }

export interface CitationOptions {
  /** The texts of the sources. Only web addresses that occur in them verbatim are shown. Default: none. */
  sourceTexts?: readonly string[]
}

interface Citations {
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

/** The end of an answer, with the properties of the whole answer. */
export interface FilteredAnswer extends Citations {
  /** Empty for an abstention. */
  text: string
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
    if (abstained) return { ...ABSTENTION, cited: [] }
    this.#reader.push(held + text)
    this.#reader.end()
    if (this.#mayBeAbstention) return { ...ABSTENTION, cited: [] }
    const cited = [...this.#numbers.keys()]
    const result = { cited, unverified: cited.length === 0, abstained }
    return { ...result, text: this.#shown.isEmpty ? this.#uncutText : this.#flush() }
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
    if (starts) this.#begin(prefix)
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

  #begin (prefix: string): void {
    this.#shown.begin(prefix)
    this.#uncut.begin(prefix)
  }

  #keep (gap: string, text: string): void {
    this.#ready += this.#shown.keep(gap, text)
  }

  #drop (): void {
    this.#shown.drop()
    this.#uncut.drop()
  }
}
