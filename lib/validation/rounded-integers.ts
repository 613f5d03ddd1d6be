import type { Steps } from '../concurrency/steps.js'

/** The digits of 2^53. An integer with fewer is exact. */
const MIN_DIGITS = 16
/** An integer with more digits becomes Infinity, which is refused as no finite number. */
const MAX_DIGITS = 309
/** The longest text of a name that is compared: `arguments`, quoted, with each character escaped. */
const MAX_NAME = 56
/** Bytes that are inspected in one step. */
const STEP_BYTES = 16_384
/** Bytes that are copied in one step. */
const COPIED_BYTES = 262_144

/** The mark in place of an integer: no value that metadata can have, and not longer than the shortest such integer. */
const MARK = '{"rounded":1}'

/** What is wrong with such an integer. */
export const ROUNDED_INTEGER = 'is an integer that would be rounded: send it as a text'

// Not imported, for the reason in json-guard.ts.
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What an object is: metadata is that of a request, of its items, or of the arguments of an MCP tool. */
type ObjectKind = 'request' | 'parameters' | 'metadata' | 'object'
type Kind = ObjectKind | 'batch' | 'items' | 'list'

/** What the members of an object are, if they are objects or, for `items`, an array. */
const MEMBERS: Readonly<Partial<Record<Kind, ReadonlyArray<readonly [name: string, kind: ObjectKind | 'items']>>>> = {
  request: [['metadata', 'metadata'], ['items', 'items'], ['params', 'parameters']],
  parameters: [['arguments', 'request']],
}

/**
 * Marks the integers of metadata that JSON.parse would round silently: the validation of metadata refuses a mark, and
 * `isRoundedInteger` recognises it. A number in another notation, such as 1.10 or 1e30, is left alone.
 * @param root what the whole text is
 * @returns the bytes themselves unless there is such an integer
 */
export function * markRoundedIntegers (bytes: Buffer, root: 'request' | 'metadata' = 'request'): Steps<Buffer> {
  if (!(yield * hasLongInteger(bytes))) return bytes
  let marked = bytes
  const outer: Kind[] = []
  let inner: Kind = 'list'
  /** What the next value is if it is an object. */
  let next: ObjectKind | 'items' = root
  let isName = false
  let pause = STEP_BYTES
  for (let at = 0; at < bytes.length;) {
    if (at >= pause) {
      yield
      pause = at + STEP_BYTES
    }
    const byte = bytes[at]!
    if (byte === QUOTE) {
      const from = at++
      while (at < bytes.length && bytes[at] !== QUOTE) {
        at += bytes[at] === BACKSLASH ? 2 : 1
        if (at < pause) continue
        yield
        pause = at + STEP_BYTES
      }
      at++
      if (isName) next = memberOf(inner, bytes, from, at)
      isName = false
    } else if (byte === OPEN_OBJECT) {
      outer.push(inner)
      inner = next === 'items' ? 'object' : next
      isName = true
      at++
    } else if (byte === OPEN_ARRAY) {
      outer.push(inner)
      // A batch of JSON-RPC is an array of requests.
      inner = outer.length === 1 && root === 'request' ? 'batch' : next === 'items' ? 'items' : 'list'
      next = elementOf(inner)
      at++
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      inner = outer.pop() ?? inner
      isName = false
      at++
    } else if (byte === COMMA) {
      next = elementOf(inner)
      isName = !isArray(inner)
      at++
    } else if (byte === COLON || byte <= SPACE) {
      at++
    } else {
      const from = at
      let isInteger = byte === MINUS || isDigit(byte)
      for (at++; at < bytes.length && !isEnd(bytes[at]!); at++) {
        isInteger &&= isDigit(bytes[at]!)
        if (at < pause) continue
        yield
        pause = at + STEP_BYTES
      }
      if (inner !== 'metadata' || isName || !isInteger || !isRounded(bytes, from, at)) continue
      if (marked === bytes) marked = yield * copyOf(bytes)
      marked.fill(SPACE, from, at).write(MARK, from)
    }
  }
  return marked
}

/** Whether a value was an integer that would have been rounded. */
export function isRoundedInteger (value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'rounded' in value && value.rounded === 1
}

/** A fast check that most texts do not pass: whether there are MIN_DIGITS digits in a row. */
function * hasLongInteger (bytes: Buffer): Steps<boolean> {
  // Digits in a row include a byte at a multiple of their number.
  for (let at = 0, pause = STEP_BYTES; at < bytes.length; at += MIN_DIGITS) {
    if (isDigit(bytes[at]!)) {
      let from = at
      let to = at + 1
      while (at - from < MIN_DIGITS && from > 0 && isDigit(bytes[from - 1]!)) from--
      while (to - from < MIN_DIGITS && to < bytes.length && isDigit(bytes[to]!)) to++
      if (to - from >= MIN_DIGITS) return true
    }
    if (at < pause) continue
    yield
    pause = at + STEP_BYTES
  }
  return false
}

/** The bytes may belong to the caller, so they are not changed. */
function * copyOf (bytes: Buffer): Steps<Buffer> {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  for (let at = 0; at < bytes.length; at += COPIED_BYTES) {
    bytes.copy(copy, at, at, at + COPIED_BYTES)
    yield
  }
  return copy
}

function isArray (kind: Kind): boolean {
  return kind === 'batch' || kind === 'items' || kind === 'list'
}

/** What the elements of an array are if they are objects. */
function elementOf (container: Kind): ObjectKind {
  return container === 'batch' || container === 'items' ? 'request' : 'object'
}

/** What the member is whose name is the JSON text from `from` to before `to`. */
function memberOf (container: Kind, bytes: Buffer, from: number, to: number): ObjectKind | 'items' {
  const members = MEMBERS[container]
  if (members === undefined || to - from > MAX_NAME) return 'object'
  const name = unescaped(bytes.toString('utf8', from + 1, to - 1))
  return members.find(([known]) => known === name)?.[1] ?? 'object'
}

/** A name whose characters may be escaped. Those with an escape of their own, such as \\n, are in no name here. */
function unescaped (name: string): string {
  if (!name.includes('\\')) return name
  return name.replaceAll(/\\u00([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function isRounded (bytes: Buffer, from: number, to: number): boolean {
  const digits = bytes[from] === MINUS ? from + 1 : from
  // JSON has no leading zeros.
  if (bytes[digits] === ZERO || to - digits < MIN_DIGITS || to - digits > MAX_DIGITS) return false
  const literal = bytes.toString('latin1', from, to)
  return String(Number(literal)) !== literal
}

function isDigit (byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}

/** Whether a byte ends a number or a word of JSON. */
function isEnd (byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === COLON || byte === QUOTE || byte === OPEN_ARRAY ||
    byte === CLOSE_ARRAY || byte === OPEN_OBJECT || byte === CLOSE_OBJECT
}
