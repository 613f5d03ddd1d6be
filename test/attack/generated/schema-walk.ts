/*
 * Finds, in an OpenAPI document, every place of a request that a caller fills, and something valid to put around it.
 */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** One operation with what a caller may send to it. */
export interface Operation {
  method: string
  path: string
  /** Undefined: it takes no body. */
  body: { contentType: string, schema: Schema } | undefined
  /** Its parameters, by their place. */
  query: Parameter[]
  headers: Parameter[]
  pathParameters: Parameter[]
}

export interface Parameter {
  name: string
  schema: Schema
}

/** Of JSON Schema, what is used here. */
export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: boolean | Schema
  required?: string[]
  enum?: Json[]
  const?: Json
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  $ref?: string
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  pattern?: string
  format?: string
  examples?: Json[]
  example?: Json
  default?: Json
}

/** A member of an object by its name, an element of an array by `[]`, any member of a map by `{}`. */
export type Place = readonly string[]

const METHODS = ['get', 'put', 'post', 'patch', 'delete', 'options', 'head']
/** Deeper than any schema of a document; it ends the walk through one that refers to itself. */
const DEEPEST = 12
const ELEMENT = '[]'
const MEMBER = '{}'

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const members = (value: unknown): Record<string, unknown> => isObject(value) ? value : {}

/** @throws Error when it has no paths */
export function operationsOf (document: unknown): Operation[] {
  const operations = Object.entries(
    members(members(document)['paths']),
  ).flatMap(([path, item]) => Object.entries(members(item))
    .filter(([method]) => METHODS.includes(method))
    .flatMap(([method, operation]) => read(method, path, members(item)['parameters'], members(operation))))
  if (operations.length === 0) throw new Error('The OpenAPI document has no operation')
  return operations
}

/** One for each content type of the body. */
function read (method: string, path: string, shared: unknown, operation: Record<string, unknown>): Operation[] {
  const parameters = [shared, operation['parameters']].flatMap((list) => Array.isArray(list) ? list : []).map(members)
  const parametersIn = (where: string): Parameter[] => (
    parameters.filter(({ in: place, name }) => place === where && typeof name === 'string')
      .map(({ name, schema }) => ({ name: String(name), schema: schemaOf(schema) }))
  )
  const content = Object.entries(members(members(operation['requestBody'])['content']))
  const bodies = content.map(([contentType, value]) => {
    const { schema, example } = members(value)
    return { contentType, schema: { ...schemaOf(schema), ...(isJson(example) && { example }) } }
  })
  return (bodies.length === 0 ? [undefined] : bodies).map((body) => ({
    method: method.toUpperCase(),
    path,
    body,
    query: parametersIn('query'),
    headers: parametersIn('header'),
    pathParameters: parametersIn('path'),
  }))
}

/** A document is trusted to have schemas where schemas belong; what is none allows everything. */
function schemaOf (value: unknown): Schema {
  return isObject(value) ? value : {}
}

function isJson (value: unknown): value is Json {
  return value !== undefined
}

/** Schemas by reference, and alternatives as one list. */
export class SchemaReader {
  readonly #document: unknown

  constructor (document: unknown) {
    this.#document = document
  }

  /** @returns the schema itself and its alternatives, references followed */
  variants (schema: Schema, depth = 0): Schema[] {
    if (depth > DEEPEST) return []
    const { $ref, anyOf, oneOf, allOf, ...own } = schema
    const others = [...anyOf ?? [], ...oneOf ?? [], ...allOf ?? [], ...($ref === undefined ? [] : [this.#follow($ref)])]
    return [own, ...others.flatMap((other) => this.variants(other, depth + 1))].filter(
      (variant) => Object.keys(variant).length > 0,
    )
  }

  /** Every place in values of a schema, the whole value first. */
  places (schema: Schema, at: Place = []): Place[] {
    if (at.length > DEEPEST) return []
    const below = this.variants(schema).flatMap(({ properties = {}, items, additionalProperties }) => [
      ...Object.entries(properties).flatMap(([name, member]) => this.places(member, [...at, name])),
      ...(items === undefined ? [] : this.places(items, [...at, ELEMENT])),
      ...(isObject(additionalProperties) ? this.places(additionalProperties, [...at, MEMBER]) : []),
    ])
    const seen = new Set<string>()
    return [at, ...below].filter((place) => {
      const key = place.join('\0')
      return !seen.has(key) && seen.add(key)
    })
  }

  /** The schema at a place; undefined when there is none. */
  at (schema: Schema, [step, ...rest]: Place): Schema | undefined {
    if (step === undefined) return schema
    for (const variant of this.variants(schema)) {
      const next = step === ELEMENT
        ? variant.items
        : step === MEMBER ? asSchema(variant.additionalProperties) : variant.properties?.[step]
      const found = next === undefined ? undefined : this.at(next, rest)
      if (found !== undefined) return found
    }
    return undefined
  }

  /**
   * A value that the schema takes, as far as one can be made from it.
   * @param known values for members by their names, which the document cannot tell, such as a bank that is there
   */
  sample (schema: Schema, known: Readonly<Record<string, Json>> = {}, depth = 0): Json {
    const variant = this.variants(schema).find(
      ({ type, enum: choices, const: only }) => type !== undefined || choices !== undefined || only !== undefined,
    ) ?? {}
    const { type, enum: choices, const: only, examples, properties = {}, required = [], items, minItems = 1 } = variant
    if (only !== undefined) return only
    if (choices?.[0] !== undefined) return choices[0]
    const kind = Array.isArray(type) ? type.find((name) => name !== 'null') : type
    if (kind === 'object') {
      const named = Object.entries(properties).filter(([name]) => required.includes(name) && depth < DEEPEST)
      return Object.fromEntries(
        named.map(([name, member]) => [name, known[name] ?? this.sample(member, known, depth + 1)]),
      )
    }
    if (examples?.[0] !== undefined) return examples[0]
    if (kind === 'array') {
      return items === undefined
        ? []
        : Array.from({ length: Math.max(1, minItems) }, () => this.sample(items, known, depth + 1))
    }
    return scalar(kind, variant)
  }

  #follow (reference: string): Schema {
    const found = reference.replace(/^#\//, '').split('/').reduce<unknown>(
      (value, step) => members(value)[step.replaceAll('~1', '/').replaceAll('~0', '~')], this.#document,
    )
    return schemaOf(found)
  }
}

function asSchema (value: boolean | Schema | undefined): Schema | undefined {
  return isObject(value) ? value : undefined
}

function scalar (kind: string | undefined, { format, minimum = 0, minLength = 1 }: Schema): Json {
  if (kind === 'integer' || kind === 'number') return Math.max(minimum, 1)
  if (kind === 'boolean') return true
  if (kind === 'null') return null
  if (format === 'date-time') return '2094-01-01T00:00:00Z'
  if (format === 'uuid') return '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'
  return 'a'.repeat(Math.max(1, minLength))
}

const HOLE = '\u0001hole\u0001'

/**
 * A body with a text of JSON at a place: a value that is too big to be made as one is put in unchanged.
 * @returns what precedes and what follows that text
 */
export function around (
  reader: SchemaReader, schema: Schema, place: Place, known: Readonly<Record<string, Json>>,
): readonly [string, string] {
  const whole = JSON.stringify(put(reader, schema, place, known))
  const [before = '', after = ''] = whole.split(JSON.stringify(HOLE))
  return [before, after]
}

function put (
  reader: SchemaReader, schema: Schema, [step, ...rest]: Place, known: Readonly<Record<string, Json>>,
): Json {
  if (step === undefined) return HOLE
  const inner = put(reader, reader.at(schema, [step]) ?? {}, rest, known)
  if (step === ELEMENT) return [inner]
  const base = reader.sample(schema, known)
  return { ...isObject(base) ? base : {}, [step === MEMBER ? 'member' : step]: inner }
}
