import { randomUUID } from 'node:crypto'
import fastJson, { type Schema } from 'fast-json-stringify'

/** The keywords of JSON Schema that this file uses. */
export interface AnswerSchema {
  type?: unknown
  properties?: Record<string, AnswerSchema>
  items?: AnswerSchema
}

type Answer = Record<string, unknown>
type Serialize = (value: unknown) => string

/**
 * The placeholder of a list in the text of an answer without its lists. It is random, so no value of an answer can
 * contain it.
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

/** Splits an answer into the texts that it is sent as: the text around its lists, and each element of a list. */
class AnswerParts {
  /** The members that are lists of objects, which grow with the request. */
  readonly lists: readonly string[]
  readonly #schema: AnswerSchema
  #envelope: Serialize | undefined
  readonly #elements = new Map<string, Serialize>()

  constructor (schema: AnswerSchema) {
    this.#schema = schema
    this.lists = Object.entries(schema.properties ?? {})
      .filter(([, { type, items }]) => type === 'array' && items?.type === 'object')
      .map(([name]) => name)
  }

  /** The texts in order, generated lazily. Joined, they are the answer as its serializer writes it. */
  * texts (answer: Answer): Generator<string, void> {
    const present = this.lists.filter((name) => Array.isArray(answer[name]))
    const marks = Object.fromEntries(present.map((name) => [name, `${MARK}:${name}`]))
    const around = this.#serializeEnvelope({ ...answer, ...marks }).split(SPLIT)
    for (const [index, text] of around.entries()) {
      // Array.split puts the captured names of lists at the odd indexes.
      if (index % 2 === 0) yield text
      else yield * this.#list(text, answer[text])
    }
  }

  * #list (name: string, list: unknown): Generator<string, void> {
    if (!Array.isArray(list)) return
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

const parts = new WeakMap<object, AnswerParts>()

/** Compiled for the first large answer of the process. */
export function answerPartsOf (schema: AnswerSchema): AnswerParts {
  let found = parts.get(schema)
  if (found === undefined) parts.set(schema, found = new AnswerParts(schema))
  return found
}
