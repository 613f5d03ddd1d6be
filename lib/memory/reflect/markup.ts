import { readCode } from './addresses.js'
import { SafeTextBuilder } from './safe-text-builder.js'
import { readMark, type Mark } from '../../text/marks.js'
import { bracketPairs, codeSpans, type Pair } from './spans.js'

const PLAIN = /[^[\]<(:【`!]+/y
const LENTICULAR = /【([^【】]{1,200})】/y
/**
 * The trimmed content of a link's round brackets (CommonMark 0.31 section 6.3): a target, perhaps a title. On untrimmed
 * text the time would be quadratic in the white space.
 */
const TARGET = /^(<[^<>]*>|\S*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?$/
/**
 * Pairs of brackets, one inside the other, in the target of a link. Renderers allow at most 32. More would take
 * quadratic time, because each pair is read with all that it contains.
 */
const MAX_TARGET_DEPTH = 32
/** Characters of a link's target; `[i](n)` in a formula has none of them. */
const LEADS_ELSEWHERE = /[/:.#?&\\]/
const AUTOLINK = /^[a-z][a-z0-9+.-]{1,31}:\S*$/i
const MAIL = /^[\w.+-]+@[\w.-]+$/
const BARE_TAG = /^\/?([a-z][a-z0-9-]*)\s*\/?$/i
/** In a tag: a sign of an attribute or an address. */
const SIGN = /[=:&]|\/\//g
/** Elements that load a resource, link or run code. */
const ACTIVE = new Set(`a applet audio base body button embed form frame frameset head html iframe image img input link
math meta noscript object picture portal script source style svg template track video`.split(/\s+/))
const WORD = /[\p{L}\p{N}_]/u
/** Characters before which a removed mark leaves no space. */
const NO_SPACE_BEFORE = /^[\s.,;:!?)\]。，、！？]/

export interface SourceBounds {
  /** Sources are numbered from 1 to this. */
  sources: number
  /** Web addresses that the text may contain. */
  allowed: ReadonlySet<string>
  /** The numbers under which the text so far cites its sources, by source. */
  numbers: ReadonlyMap<number, number>
}

interface Prose {
  /**
   * With marks as `[n]`, numbered in the order of the answer, without marks that name no source, and without links that
   * are not allowed.
   */
  text: string
  /** The sources that it cites, in the order in which it does. */
  cited: number[]
  /** Whether a mark named a source that does not exist. */
  hasUnknownSource: boolean
}

/**
 * Reads the marks of a sentence and removes what may not be shown. Outside of code
 * - a mark becomes `[n]` for each source that it names, and is removed when it names none; a source that was not cited
 *   before gets the next number; a year in square brackets gets round ones;
 * - an image is replaced by its alternative text; a link (also in HTML) to an address that is not allowed is replaced
 *   by its text;
 * - an HTML tag that loads a resource, links or runs code is removed, and so is any tag with attributes. In code only
 *   addresses are filtered: `arr[0]` is not a mark there.
 */
export function readProse (text: string, bounds: SourceBounds): Prose {
  return new ProseReader(text, bounds).read()
}

class ProseReader {
  readonly #text: string
  readonly #bounds: SourceBounds
  readonly #code: Map<number, number>
  readonly #square: Map<number, Pair>
  readonly #round: Map<number, Pair>
  /** Ranges that are removed or copied unchanged, by their start. */
  readonly #skip = new Map<number, { end: number, keep: boolean }>()
  readonly #out = new SafeTextBuilder()
  /** The number under which each source of this text is cited. */
  readonly #cited = new Map<number, number>()
  #newSources = 0
  #hasUnknownSource = false
  #nextAngle = -1
  #nextSign = -1

  constructor (text: string, bounds: SourceBounds) {
    this.#text = text
    this.#bounds = bounds
    this.#code = codeSpans(text)
    this.#square = bracketPairs(text, ['[', ']'], this.#code)
    this.#round = bracketPairs(text, ['(', ')'], this.#code)
  }

  read (): Prose {
    for (let at = 0; at < this.#text.length;) at = this.#next(at)
    return {
      text: this.#out.toText(this.#bounds.allowed),
      cited: [...this.#cited.keys()],
      hasUnknownSource: this.#hasUnknownSource,
    }
  }

  /** @returns the position to continue at */
  #next (at: number): number {
    const code = this.#code.get(at)
    if (code !== undefined) return this.#fixed(readCode(this.#text.slice(at, code), this.#bounds.allowed), code)
    const skip = this.#skip.get(at)
    if (skip !== undefined) return this.#fixed(skip.keep ? this.#text.slice(at, skip.end) : '', skip.end)
    const character = this.#text[at]
    if (character === '[') return this.#bracket(at)
    if (character === '<') return this.#angle(at)
    if (character === '【') return this.#lenticular(at)
    PLAIN.lastIndex = at
    return this.#add(PLAIN.exec(this.#text)?.[0] ?? character!, at)
  }

  #add (text: string, at: number): number {
    this.#out.put(text)
    return at + text.length
  }

  #fixed (text: string, end: number): number {
    this.#out.putFixed(text)
    return end
  }

  #bracket (at: number): number {
    const pair = this.#square.get(at)
    if (pair === undefined) return this.#add('[', at)
    const { close } = pair
    const mark = pair.depth > 0 ? undefined : readMark(this.#text.slice(at + 1, close), this.#bounds.sources)
    const targetEnd = this.#targetEnd(close + 1)
    if (targetEnd !== undefined) {
      const isImage = this.#out.last === '!'
      if (isImage) this.#out.takeBack('!')
      if (mark !== undefined) return this.#mark(mark, at, targetEnd)
      const keep = !isImage && this.#isAllowed(this.#text.slice(close + 2, targetEnd - 1))
      this.#skip.set(close, { end: targetEnd, keep })
      if (keep) this.#out.putFixed('[')
      return at + 1
    }
    if (mark !== undefined) return this.#mark(mark, at, close + 1)
    const labelEnd = this.#labelEnd(at, close + 1)
    if (labelEnd === undefined) return this.#add('[', at)
    this.#out.takeBack('!')
    this.#skip.set(close, { end: labelEnd, keep: false })
    return at + 1
  }

  /** @returns the end of the round brackets after a link's text; undefined when they do not contain a target */
  #targetEnd (at: number): number | undefined {
    const pair = this.#round.get(at)
    if (pair === undefined || pair.depth > MAX_TARGET_DEPTH) return undefined
    const { close } = pair
    const inside = this.#text.slice(at + 1, close).trim()
    return LEADS_ELSEWHERE.test(inside) && TARGET.test(inside) ? close + 1 : undefined
  }

  #isAllowed (inside: string): boolean {
    const target = TARGET.exec(inside.trim())?.[1] ?? ''
    return this.#bounds.allowed.has(target.startsWith('<') ? target.slice(1, -1) : target)
  }

  /**
   * @returns the end of the label after a link's text (`[text][label]`); undefined when there is none. `m[i][j]` is a
   *   formula.
   */
  #labelEnd (at: number, label: number): number | undefined {
    const pair = this.#square.get(label)
    if (pair === undefined || pair.depth > 0 || WORD.test(this.#text[at - 1] ?? '')) return undefined
    const inside = this.#text.slice(label + 1, pair.close)
    return readMark(inside, this.#bounds.sources) === undefined ? pair.close + 1 : undefined
  }

  #lenticular (at: number): number {
    LENTICULAR.lastIndex = at
    const found = LENTICULAR.exec(this.#text)
    const mark = found === null ? undefined : readMark(found[1]!, this.#bounds.sources)
    return found === null || mark === undefined || mark.isYear
      ? this.#add('【', at)
      : this.#mark(mark, at, at + found[0].length)
  }

  #mark (mark: Mark, at: number, end: number): number {
    // `[1]: Alice …` would be the link definition of the other marks.
    const next = this.#text[end] === ':' && this.#out.isBlank ? end + 1 : end
    this.#hasUnknownSource ||= mark.hasUnknownSource
    if (mark.isYear) {
      this.#out.put(`(${this.#text.slice(at + 1, end - 1)})`)
    } else if (mark.cited.length > 0) {
      this.#out.putFixed(mark.cited.map((source) => `[${this.#cite(source)}]`).join(''))
    } else if (
      this.#out.trimEnd() && !NO_SPACE_BEFORE.test(this.#text.slice(next, next + 1)) && next < this.#text.length
    ) {
      this.#out.put(' ')
    }
    return next
  }

  #cite (source: number): number {
    const known = this.#bounds.numbers.get(source) ?? this.#cited.get(source)
    const number = known ?? this.#bounds.numbers.size + ++this.#newSources
    this.#cited.set(source, number)
    return number
  }

  #angle (at: number): number {
    if (this.#nextAngle <= at) this.#nextAngle = this.#text.indexOf('>', at)
    if (this.#nextAngle < 0) this.#nextAngle = Infinity
    if (this.#nextAngle === Infinity || !/^[a-z/!?]/i.test(this.#text.slice(at + 1, at + 2))) return this.#add('<', at)
    const end = this.#nextAngle + 1
    const inside = this.#text.slice(at + 1, end - 1)
    // Many opening brackets may share a closing one. Only the last of them is read with all that is between them.
    if (!inside.includes('<')) {
      if (MAIL.test(inside) || this.#bounds.allowed.has(inside)) return this.#fixed(`<${inside}>`, end)
      if (AUTOLINK.test(inside)) return end
      const name = BARE_TAG.exec(inside)?.[1]?.toLowerCase()
      if (name !== undefined) return ACTIVE.has(name) ? end : this.#fixed(`<${inside}>`, end)
    }
    const isTag = /^[/!?]/.test(inside) || this.#signAfter(at) < end || ACTIVE.has(
      /^[a-z][a-z0-9-]*/i.exec(inside)?.[0].toLowerCase() ?? '',
    )
    return isTag ? end : this.#add('<', at)
  }

  /** The position of the next sign of an attribute or an address, found once for all brackets before it. */
  #signAfter (at: number): number {
    if (this.#nextSign <= at) {
      SIGN.lastIndex = at
      this.#nextSign = SIGN.exec(this.#text)?.index ?? Infinity
    }
    return this.#nextSign
  }
}
