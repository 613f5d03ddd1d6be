import { randomUUID } from 'node:crypto'
import fastJson, { type Schema } from 'fast-json-stringify'

/** As much of a JSON Schema as is looked at here. */
export interface AnswerSchema {
  type?: unknown
  properties?: Record<string, AnswerSchema>
  items?: AnswerSchema
}

type Answer = Record<string, unknown>
type Serialize = (value: unknown) => string

/**
 * Stands for a list in the text of an answer without its lists. No caller knows it, so that no value of an answer can
 * hold it.
 */
const MARK = randomUUID()
const SPLIT = new RegExp(`"${MARK}:(\\w+)"`)

/** The characters that a member has beside its name and value. */
const MEMBER = 4
/** What stands for a number, a boolean or null. */
const PLAIN = 8

/**
 * About how long a value is as JSON, in UTF-16 units; counted no further than to the limit, so that asking costs little
 * however long it is.
 * @param lengthOf of a text
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
  // Answers are plain objects, so that these are their own members; a list of them would be made for every hit.
  for (const name in value) {
    weight += name.length + MEMBER + jsonLength(value[name as keyof typeof value], limit - weight, lengthOf)
    if (weight > limit) return weight
  }
  return weight
}

function unitsOf (text: string): number {
  return text.length
}

/** An answer in the texts that it is sent as: what stands around its lists, and each element of them by itself. */
export class AnswerParts {
  /** The members that are lists of objects: what grows with the request. */
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

  /**
   * The texts in order; each is made when it is asked for. Together they are the answer as its serializer would write
   * it.
   */
  * texts (answer: Answer): Generator<string, void> {
    const marks = Object.fromEntries(this.lists.filter((name) => Array.isArray(answer[name])).map((name) => [name, `${MARK}:${name}`]))
    const around = this.#serializeEnvelope({ ...answer, ...marks }).split(SPLIT)
    for (const [index, text] of around.entries()) {
      // What the expression has captured, the name of a list, stands at each odd place.
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

/** Compiled once for a process, when an answer is first that large. */
export function answerPartsOf (schema: AnswerSchema): AnswerParts {
  let found = parts.get(schema)
  if (found === undefined) parts.set(schema, found = new AnswerParts(schema))
  return found
}
