import { randomUUID } from 'node:crypto'
import fastJson, { type Schema } from 'fast-json-stringify'

/** The keywords of JSON Schema that this file uses. */
export interface AnswerSchema {
  type?: unknown
  format?: unknown
  properties?: Record<string, AnswerSchema>
  items?: AnswerSchema
}

type Answer = Record<string, unknown>
type Serialize = (value: unknown) => string

/**
 * The placeholder of a list or a long text in the text of an answer without them. It is random, so no value of an
 * answer can contain it.
 */
const MARK = randomUUID()
const SPLIT = new RegExp(`"${MARK}:(\\w+)"`)

/** Characters of a member besides its name and value: quotes, colon and comma. */
const MEMBER = 4
/** The assumed length of a number, a boolean or null. */
const PLAIN = 8

/**
 * Estimates the length of a value as JSON, in UTF-16 units. It stops at the limit, so the cost does not depend on the
 * length of the value.
 * @param lengthOf the length of a text
 */
export function jsonLength (value: unknown, limit: number, lengthOf: (text: string) => number = unitsOf): number {
  if (typeof value === 'string') return lengthOf(value) + MEMBER
  if (typeof value !== 'object' || value === null) return PLAIN
  let weight = MEMBER
  if (Array.isArray(value)) {
    for (const element of value) {
      weight += jsonLength(element, limit - weight, lengthOf)
      if (weight > limit) return weight
    }
    return weight
  }
  // Answers are plain objects, so all their properties are own properties. Object.entries would allocate a list for
  // every hit.
  for (const name in value) {
    weight += name.length + MEMBER + jsonLength(value[name as keyof typeof value], limit - weight, lengthOf)
    if (weight > limit) return weight
  }
  return weight
}

function unitsOf (text: string): number {
  return text.length
}

/** The last character that JSON escapes, apart from surrogates. */
const LAST_ESCAPED = 0x5c
/** By how many bytes each character up to it is longer in JSON: control characters are escaped as \u0001 or like \n. */
const ADDED_BYTES = Uint8Array.from({ length: LAST_ESCAPED + 1 }, (_, unit) => (
  JSON.stringify(String.fromCharCode(unit)).length - '"a"'.length
))

/** The characters that have six bytes in JSON and one in UTF-8. */
// eslint-disable-next-line no-control-regex -- they are what it looks for
const CONTROL = /[\u0000-\u0007\u000b\u000e-\u001f]/

/**
 * The bytes of a text in JSON, without its quotes. To count each character takes as long as to write it, so that is
 * done only for a text with control characters; for another the result is at least half of the length.
 */
export function escapedBytes (text: string): number {
  return Buffer.byteLength(text) + (CONTROL.test(text) ? addedBytes(text) : 0)
}

function addedBytes (text: string): number {
  let added = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit <= LAST_ESCAPED) added += ADDED_BYTES[unit]!
    else if (unit < 0xd800 || unit > 0xdfff) continue
    else if (isPairAt(text, index)) index++
    // Half of a pair is escaped, and has three bytes in UTF-8.
    else added += 3
  }
  return added
}

/** Whether a character of two UTF-16 units begins there. */
function isPairAt (text: string, index: number): boolean {
  return text.codePointAt(index)! > 0xffff
}

/** Texts up to this length are written in one step, which takes a tenth of a millisecond when all of it is escaped. */
const PIECE = 8192

/** A text in pieces of about PIECE units, which are not cut within a character. */
export function * piecesOf (text: string): Generator<string, void> {
  for (let start = 0, end; start < text.length; start = end) {
    end = Math.min(start + PIECE, text.length)
    if (end < text.length && isPairAt(text, end - 1)) end++
    yield text.slice(start, end)
  }
}

/**
 * Splits an answer into the texts that it is sent as: the text around its lists and long texts, each element of a list,
 * and the pieces of a long text.
 */
class AnswerParts {
  /** The members that are lists of objects, which grow with the request. */
  readonly lists: readonly string[]
  readonly #strings: readonly string[]
  readonly #schema: AnswerSchema
  #envelope: Serialize | undefined
  readonly #elements = new Map<string, Serialize>()

  constructor (schema: AnswerSchema) {
    this.#schema = schema
    const members = Object.entries(schema.properties ?? {})
    this.lists = members
      .filter(([, { type, items }]) => type === 'array' && items?.type === 'object')
      .map(([name]) => name)
    this.#strings = members
      .filter(([, { type, format }]) => type === 'string' && format === undefined)
      .map(([name]) => name)
  }

  /** The texts in order, generated lazily. Joined, they are the answer as its serializer writes it. */
  * texts (answer: Answer): Generator<string, void> {
    const present = [
      ...this.lists.filter((name) => Array.isArray(answer[name])),
      ...this.#strings.filter((name) => isLongText(answer[name])),
    ]
    const marks = Object.fromEntries(present.map((name) => [name, `${MARK}:${name}`]))
    const around = this.#serializeEnvelope({ ...answer, ...marks }).split(SPLIT)
    for (const [index, text] of around.entries()) {
      // String.split puts the captured names of members at the odd indexes.
      if (index % 2 === 0) yield text
      else yield * this.#member(text, answer[text])
    }
  }

  * #member (name: string, value: unknown): Generator<string, void> {
    if (Array.isArray(value)) yield * this.#list(name, value)
    else if (typeof value === 'string') yield * escapedPieces(value)
  }

  * #list (name: string, list: readonly unknown[]): Generator<string, void> {
    const serialize = this.#elementSerializer(name)
    let before = '['
    for (const element of list) {
      yield before + serialize(element)
      before = ','
    }
    yield list.length === 0 ? '[]' : ']'
  }

  #serializeEnvelope (answer: Answer): string {
    if (this.#envelope === undefined) {
      const text: AnswerSchema = { type: 'string' }
      const properties = { ...this.#schema.properties, ...Object.fromEntries(this.lists.map((name) => [name, text])) }
      this.#envelope = fastJson({ ...this.#schema, properties } as Schema)
    }
    return this.#envelope(answer)
  }

  #elementSerializer (name: string): Serialize {
    let serialize = this.#elements.get(name)
    if (serialize === undefined) {
      serialize = fastJson(this.#schema.properties![name]!.items as Schema)
      this.#elements.set(name, serialize)
    }
    return serialize
  }
}

function isLongText (value: unknown): boolean {
  return typeof value === 'string' && value.length > PIECE
}

function * escapedPieces (text: string): Generator<string, void> {
  yield '"'
  for (const piece of piecesOf(text)) yield JSON.stringify(piece).slice(1, -1)
  yield '"'
}

const parts = new WeakMap<object, AnswerParts>()

/** Compiled for the first large answer of the process. */
export function answerPartsOf (schema: AnswerSchema): AnswerParts {
  let found = parts.get(schema)
  if (found === undefined) parts.set(schema, found = new AnswerParts(schema))
  return found
}
