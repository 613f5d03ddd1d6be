import { readMark, type Mark } from './marks.js'

/**
 * A web address. It ends at white space, a quotation mark, or Chinese and Japanese punctuation, which an address
 * contains only escaped.
 */
const ADDRESS = /(?:[a-z0-9+.-]{1,40}:\/\/|(?<![a-z0-9])www\.)[^\s<>"`“”「」『』【】《》（），。、；：！？]+/gi
/** Nothing but punctuation up to the next white space or tag. */
const ENDS = /[^\p{L}\p{N}\s<]{0,20}(?=[\s<]|$)/uy
/** Punctuation after an address that belongs to the sentence. */
const TRAILING = new Set('.,;:!?\'"*_~]}')
const DEFINITION = /^\[[^[\]]{1,999}\]:\s*<?(\S+)/
const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\\\|www\.)/i
const ADDRESS_LIKE = /[:&\\]|\/\//
const CODE_LINK = /!?\[([^[\]]*)\]\(([^()]*)\)/g
const CODE_TAG = /<[^<>]*>/g

/** @returns every web address in the texts, verbatim */
export function addressesIn (texts: readonly string[]): Set<string> {
  const found = new Set<string>()
  for (const text of texts) {
    for (const [address] of text.matchAll(ADDRESS)) found.add(address.slice(0, addressEnd(address)))
  }
  return found
}

/**
 * Removes web addresses that are not allowed, with the brackets around them. A space separates an allowed address from
 * the text after it, because many clients read everything up to the next white space as one address.
 * @param isFollowed whether more text follows without white space
 */
function withoutOtherAddresses (text: string, allowed: ReadonlySet<string>, isFollowed = false): string {
  let result = ''
  let from = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const end = addressEnd(found)
    const next = index + found.length
    if (allowed.has(found.slice(0, end))) {
      ENDS.lastIndex = next
      if (ENDS.test(text) && !(isFollowed && ENDS.lastIndex === text.length)) continue
      result += `${text.slice(from, next)} `
    } else {
      // A remaining colon could come to follow a bracket and define a link.
      const behind = found.slice(end).replaceAll(':', '')
      const isBracketed = text[index - 1] === '(' && behind.startsWith(')')
      const before = text.slice(from, isBracketed ? index - 1 : index)
      const isLast = next === text.length ? !isFollowed : /\s/.test(text[next]!)
      result += (isLast ? before.trimEnd() : before) + (isBracketed ? behind.slice(1) : behind)
    }
    from = next
  }
  return from === 0 ? text : result + text.slice(from)
}

/**
 * The end of an address that was read up to the next white space: before trailing punctuation and unopened brackets.
 */
function addressEnd (found: string): number {
  let unopened = 0
  for (const character of found) {
    if (character === '(') unopened -= 1
    else if (character === ')') unopened += 1
  }
  let end = found.length
  for (; end > 0; end--) {
    const last = found[end - 1]!
    if (last === ')' && unopened > 0) unopened -= 1
    else if (!TRAILING.has(last)) break
  }
  return end
}

/** Whether a line defines the target of links elsewhere in the text, and the target is not allowed. */
export function definesLink (text: string, allowed: ReadonlySet<string>): boolean {
  const target = DEFINITION.exec(text)?.[1]
  return target !== undefined && ABSOLUTE.test(target) && !allowed.has(target.replace(/>$/, ''))
}

/**
 * Removes links, images and tags with addresses that are not allowed even from code, because Markdown parsers disagree
 * on where code ends.
 */
export function readCode (text: string, allowed: ReadonlySet<string>): string {
  const unlinked = text
    .replace(CODE_LINK, (whole, label: string, target: string) => (
      ADDRESS_LIKE.test(target) && (whole.startsWith('!') || !allowed.has(target)) ? `${label} ` : whole
    ))
    // Without an attribute it may be a type, such as `<std::string>`.
    .replace(CODE_TAG, (whole) => whole.includes('=') && ADDRESS_LIKE.test(whole) ? ' ' : whole)
  return withoutOtherAddresses(unlinked, allowed)
}

const RUN = /`+/g

/**
 * Code spans of a line (CommonMark 0.31 section 6.1): from a run of backticks to the next run of the same length.
 * @returns the end of each span by its start
 */
function codeSpans (text: string): Map<number, number> {
  const spans = new Map<number, number>()
  const runs = [...text.matchAll(RUN)].map(({ 0: run, index }) => ({ at: index, length: run.length }))
  const nextAlike = new Array<number>(runs.length).fill(-1)
  const latest = new Map<number, number>()
  for (let index = runs.length - 1; index >= 0; index--) {
    nextAlike[index] = latest.get(runs[index]!.length) ?? -1
    latest.set(runs[index]!.length, index)
  }
  for (let index = 0; index < runs.length; index++) {
    const close = nextAlike[index]!
    if (close < 0) continue
    spans.set(runs[index]!.at, runs[close]!.at + runs[close]!.length)
    index = close
  }
  return spans
}

interface Pair {
  /** Position of the closing bracket. */
  close: number
  /** How many pairs of the same kind it contains, one inside the other. */
  depth: number
}

/**
 * Pairs of brackets outside of code, by the position of the opening bracket.
 * @param kind opening and closing bracket
 */
function bracketPairs (
  text: string, [open, close]: readonly [string, string], code: ReadonlyMap<number, number>,
): Map<number, Pair> {
  const pairs = new Map<number, Pair>()
  const stack: Array<{ at: number, depth: number }> = []
  for (let at = 0; at < text.length; at++) {
    const end = code.get(at)
    if (end !== undefined) {
      at = end - 1
      continue
    }
    const character = text[at]
    if (character === open) stack.push({ at, depth: 0 })
    else if (character === close) {
      const opened = stack.pop()
      if (opened === undefined) continue
      pairs.set(opened.at, { close: at, depth: opened.depth })
      const outer = stack.at(-1)
      if (outer !== undefined) outer.depth = Math.max(outer.depth, opened.depth + 1)
    }
  }
  return pairs
}

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
class SafeTextBuilder {
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
