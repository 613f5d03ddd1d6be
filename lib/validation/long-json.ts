import { ServiceError } from '../errors/service-error.js'
import { ForbiddenMember } from './forbidden-members.js'
import { turns } from '../concurrency/turn-budget.js'

/** Bytes that JSON.parse gets at a time, which take it about a millisecond. */
const CHUNK_BYTES = 262_144
/** Bytes that are scanned between two looks at the clock. */
const SCAN_CHUNK_BYTES = 262_144
// Not imported, for the reason in json-guard.ts.
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** A container that is longer than a chunk. */
interface Layout {
  /** The position of its closing bracket. */
  close: number
  /** The commas at which it is cut. Between two of them are short members, a chunk at most, or a single longer one. */
  cuts: readonly number[]
}

/** A container whose end is not found yet. */
interface OpenContainer {
  open: number
  /** The start of the members that are parsed together. */
  group: number
  /** The start of the last member. */
  member: number
  cuts: number[]
}

/**
 * Parses long JSON in turns of the event loop, because JSON.parse cannot be interrupted. A first pass finds the commas
 * between which the text can be cut. The second gives each chunk to JSON.parse, which also decides whether it is valid.
 */
export class LongJson {
  readonly #bytes: Buffer
  readonly #caller: string
  readonly #chunkBytes: number
  /** By the position of the opening bracket. */
  readonly #layouts = new Map<number, Layout>()
  /** The containers around the current position of the scan. */
  readonly #open: OpenContainer[] = []
  /** Whether the current position of the scan is inside a string. */
  #isInText = false

  /**
   * @param caller as in TurnBudget.next
   * @param chunkBytes bytes that are parsed at a time
   */
  constructor (bytes: Buffer, caller: string, chunkBytes = CHUNK_BYTES) {
    this.#bytes = bytes
    this.#caller = caller
    this.#chunkBytes = chunkBytes
  }

  /**
   * @returns what JSON.parse returns; a byte order mark is ignored
   * @throws SyntaxError where JSON.parse does; ForbiddenMember for a member `__proto__` of a long object
   * @throws ServiceError body_too_large when the text of a number or of the name of a member is longer than a chunk
   */
  async parse (): Promise<unknown> {
    if (this.#bytes.length > this.#chunkBytes) await this.#findLayouts()
    const hasMark = this.#bytes.length > 2 && this.#bytes.readUIntBE(0, 3) === 0xefbbbf
    return await this.#value(hasMark ? 3 : 0, this.#bytes.length)
  }

  async #findLayouts (): Promise<void> {
    for (let from = 0; from < this.#bytes.length;) {
      if (turns.isExhausted) await turns.next(this.#caller)
      from = this.#scan(from, Math.min(from + SCAN_CHUNK_BYTES, this.#bytes.length))
    }
  }

  /** Scans the bytes from `from` to before `to`. @returns where to continue */
  #scan (from: number, to: number): number {
    const bytes = this.#bytes
    let at = from
    let inner = this.#open.at(-1)
    while (at < to) {
      let byte = bytes[at]!
      if (this.#isInText) {
        while (byte !== QUOTE && byte !== BACKSLASH && ++at < to) byte = bytes[at]!
        if (at === to) break
        if (byte === QUOTE) this.#isInText = false
        // The byte after a backslash is skipped.
        at += byte === QUOTE ? 1 : 2
        continue
      }
      if (byte === QUOTE) {
        this.#isInText = true
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        inner = { open: at, group: at + 1, member: at + 1, cuts: [] }
        this.#open.push(inner)
      } else if (inner !== undefined && byte === COMMA) {
        this.#endMember(inner, at)
      } else if (inner !== undefined && (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) {
        this.#endMember(inner, at)
        if (at - inner.open >= this.#chunkBytes) this.#layouts.set(inner.open, { close: at, cuts: inner.cuts })
        this.#open.pop()
        inner = this.#open.at(-1)
      }
      at++
    }
    return at
  }

  #endMember (container: OpenContainer, at: number): void {
    const { member, group, cuts } = container
    if (at - group > this.#chunkBytes) {
      const isLong = at - member > this.#chunkBytes
      if (member > group) cuts.push(member - 1)
      if (isLong) cuts.push(at)
      container.group = isLong ? at + 1 : member
    }
    container.member = at + 1
  }

  async #value (outerFrom: number, outerTo: number): Promise<unknown> {
    const from = await this.#skip(outerFrom, outerTo, 1)
    const to = await this.#skip(outerTo - 1, from - 1, -1) + 1
    if (to - from <= this.#chunkBytes) return await this.#short('', from, to, '')
    const first = this.#bytes[from]
    if (first === QUOTE) return await this.#text(from, to)
    if (first === OPEN_ARRAY) return await this.#array(from, to)
    if (first === OPEN_OBJECT) return await this.#object(from, to)
    if ('-0123456789'.includes(String.fromCharCode(first!))) throw tooLong('a number')
    throw new SyntaxError('A value is no JSON')
  }

  async #array (from: number, to: number): Promise<unknown[]> {
    const list: unknown[] = []
    for (const [start, end] of await this.#groups(from, to, CLOSE_ARRAY)) {
      if (end - start > this.#chunkBytes) {
        list.push(await this.#value(start, end))
        continue
      }
      const some = await this.#short('[', start, end, ']') as unknown[]
      if (some.length === 0) throw new SyntaxError('A value is missing')
      for (const value of some) list.push(value)
    }
    return list
  }

  async #object (from: number, to: number): Promise<Record<string, unknown>> {
    const object: Record<string, unknown> = {}
    const set = (name: string, value: unknown) => {
      // Assigning it would replace the prototype.
      if (name === '__proto__') throw new ForbiddenMember('"__proto__"')
      object[name] = value
    }
    for (const [start, end] of await this.#groups(from, to, CLOSE_OBJECT)) {
      if (end - start > this.#chunkBytes) {
        const { name, value } = await this.#nameOf(start, end)
        set(name, await this.#value(value, end))
        continue
      }
      const some = Object.entries(await this.#short('{', start, end, '}') as object)
      if (some.length === 0) throw new SyntaxError('A member is missing')
      for (const [name, value] of some) set(name, value)
    }
    return object
  }

  /** The parts of a long container, each with the place after its end. */
  async #groups (from: number, to: number, closing: number): Promise<Array<[from: number, to: number]>> {
    const layout = this.#layouts.get(from)
    if (layout?.close !== to - 1 || this.#bytes[to - 1] !== closing) throw new SyntaxError('A bracket is missing')
    if (await this.#skip(from + 1, to - 1, 1) === to - 1) return []
    const borders = [from, ...layout.cuts]
    // A long member at the end ends at the closing bracket.
    if (borders.at(-1) !== to - 1) borders.push(to - 1)
    return borders.slice(1).map((border, index) => [borders[index]! + 1, border])
  }

  /** The name of a long member, and where its value starts. */
  async #nameOf (from: number, to: number): Promise<{ name: string, value: number }> {
    const start = await this.#skip(from, to, 1)
    if (this.#bytes[start] !== QUOTE) throw new SyntaxError('A name is missing')
    let end = start + 1
    for (; end < to && this.#bytes[end] !== QUOTE; end++) {
      if (end - start > this.#chunkBytes) throw tooLong('the name of a member')
      if (this.#bytes[end] === BACKSLASH) end++
    }
    const colon = await this.#skip(end + 1, to, 1)
    if (this.#bytes[colon] !== COLON) throw new SyntaxError('A colon is missing')
    return { name: String(JSON.parse(this.#bytes.toString('utf8', start, end + 1))), value: colon + 1 }
  }

  async #text (from: number, to: number): Promise<string> {
    const end = to - 1
    if (this.#bytes[end] !== QUOTE) throw new SyntaxError('A text is not closed')
    let text = ''
    for (let at = from + 1; at < end;) {
      const cut = this.#cutOfText(at, end)
      text += String(await this.#short('"', at, cut, '"'))
      at = cut
    }
    return text
  }

  /** Where a chunk of a string ends: about a chunk after `from`, but inside no escape or UTF-8 sequence. */
  #cutOfText (from: number, end: number): number {
    const bytes = this.#bytes
    const target = Math.min(from + this.#chunkBytes, end)
    let cut = from
    while (cut < target) cut += bytes[cut] !== BACKSLASH ? 1 : bytes[cut + 1] === LETTER_U ? 6 : 2
    for (let more = 0; more < 3 && cut < end && (bytes[cut]! & 0xc0) === 0x80; more++) cut++
    return Math.min(cut, end)
  }

  /** Parses a chunk in the given frame. @throws SyntaxError */
  async #short (before: string, from: number, to: number, after: string): Promise<unknown> {
    if (turns.isExhausted) await turns.next(this.#caller)
    return JSON.parse(before + this.#bytes.toString('utf8', from, to) + after)
  }

  /** The first place from `start` on, backwards with step -1, that is not white space; at most `end`. */
  async #skip (start: number, end: number, step: 1 | -1): Promise<number> {
    for (let from = start; ;) {
      const to = from + step * Math.min(SCAN_CHUNK_BYTES, Math.abs(end - from))
      const at = skipSpace(this.#bytes, from, to, step)
      if (at !== to || to === end) return at
      from = to
      if (turns.isExhausted) await turns.next(this.#caller)
    }
  }
}

function skipSpace (bytes: Buffer, from: number, to: number, step: 1 | -1): number {
  let at = from
  while (at !== to && isSpace(bytes[at]!)) at += step
  return at
}

const isSpace = (byte: number) => byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB

function tooLong (subject: string): ServiceError {
  return new ServiceError('body_too_large', `Request body holds ${subject} of more than ${CHUNK_BYTES} bytes`)
}
