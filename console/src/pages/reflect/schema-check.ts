/** An error in a schema, because of which the gateway would refuse it. */
export interface SchemaProblem {
  /** Such as `properties.drink.type`; empty: the whole schema. */
  path: string
  message: string
}

export type CheckedSchema =
  | { schema: Record<string, unknown>, problems: readonly [] }
  | { schema?: never, problems: readonly SchemaProblem[] }

const MAX_BYTES = 16 * 1024
const MAX_DEPTH = 8
const MAX_PROPERTIES = 256
/** Maximum nesting of the JSON text; no valid schema is deeper, including its enum and const values. */
const MAX_JSON_DEPTH = 64
/** Maximum number of reported problems: more would not help a user who is typing. */
const MAX_PROBLEMS = 10
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const FORMATS = ['date-time', 'date', 'email', 'uri', 'uuid']

type Checked = (value: unknown, path: string, depth: number) => void

/**
 * The rules of the gateway for `response_schema`; it checks them again. All problems are reported, not only the first.
 */
export function checkSchemaText (text: string): CheckedSchema {
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch (error) {
    return { problems: [{ path: '', message: `Not JSON: ${error instanceof Error ? error.message : String(error)}` }] }
  }
  const problems = isDeeper(schema, MAX_JSON_DEPTH)
    ? [{ path: '', message: 'is nested too deeply' }]
    : new Checker().check(schema)
  return problems.length === 0 && isObject(schema) ? { schema, problems: [] } : { problems }
}

class Checker {
  readonly #problems: SchemaProblem[] = []
  #properties = 0

  readonly #text: Checked = (value, path) => { if (typeof value !== 'string') this.#refuse(path, 'must be a string') }
  readonly #any: Checked = (value, path) => {
    if (!isFinite(value)) this.#refuse(path, 'must contain only finite numbers')
  }

  readonly #count: Checked = (value, path) => {
    if (!Number.isSafeInteger(value) || Number(value) < 0) this.#refuse(path, 'must be a whole number from 0')
  }

  readonly #number: Checked = (value, path) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) this.#refuse(path, 'must be a number')
  }

  readonly #keywords: ReadonlyMap<string, Checked> = new Map<string, Checked>([
    ['type', (value, path) => { this.#type(value, path) }],
    ['properties', (value, path, depth) => { this.#allProperties(value, path, depth) }],
    ['required', (value, path) => { this.#names(value, path) }],
    ['additionalProperties', (value, path) => {
      if (typeof value !== 'boolean') this.#refuse(path, 'must be true or false')
    }],
    ['items', (value, path, depth) => { this.#schema(value, path, depth) }],
    ['enum', (value, path) => { this.#list(value, path, 'value', (item) => { this.#any(item, path, 0) }) }],
    ['const', this.#any],
    ['anyOf', (value, path, depth) => {
      this.#list(value, path, 'schema', (item, index) => { this.#schema(item, `${path}[${index}]`, depth + 1) })
    }],
    ['title', this.#text],
    ['description', this.#text],
    ['default', this.#any],
    ...['minLength', 'maxLength', 'minItems', 'maxItems'].map((name) => [name, this.#count] as const),
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [name, this.#number] as const),
    ['format', (value, path) => {
      if (!FORMATS.some((format) => format === value)) this.#refuse(path, `must be one of ${FORMATS.join(', ')}`)
    }],
  ])

  check (schema: unknown): SchemaProblem[] {
    if (!isObject(schema)) return [{ path: '', message: 'must be a JSON Schema, an object' }]
    if (new TextEncoder().encode(JSON.stringify(schema)).length > MAX_BYTES) {
      this.#refuse('', `must not be longer than ${MAX_BYTES} bytes as JSON`)
    }
    if (schema['type'] !== 'object') this.#refuse('type', 'must be "object"')
    this.#schema(schema, '', 1)
    if (this.#properties > MAX_PROPERTIES) {
      this.#refuse('', `must not have more than ${MAX_PROPERTIES} properties altogether`)
    }
    return this.#problems.slice(0, MAX_PROBLEMS)
  }

  #schema (schema: unknown, path: string, depth: number): void {
    if (!isObject(schema)) return this.#refuse(path, 'must be a JSON Schema, an object')
    if (depth > MAX_DEPTH) return this.#refuse(path, `must not be more than ${MAX_DEPTH} schemas deep`)
    for (const [keyword, value] of Object.entries(schema)) {
      const at = path === '' ? keyword : `${path}.${keyword}`
      const check = this.#keywords.get(keyword)
      if (check === undefined) this.#refuse(at, 'is not a supported keyword')
      // The type of the whole schema has a message of its own.
      else if (at !== 'type') check(value, at, depth)
    }
  }

  #type (value: unknown, path: string): void {
    const types: readonly unknown[] = Array.isArray(value) ? value : [value]
    const isKnown = types.length > 0 && types.every((type) => typeof type === 'string' && TYPES.includes(type))
    if (!isKnown || new Set(types).size < types.length) {
      this.#refuse(path, `must be one of ${TYPES.join(', ')}, or a list of these`)
    }
  }

  #allProperties (value: unknown, path: string, depth: number): void {
    if (!isObject(value)) return this.#refuse(path, 'must be an object of schemas')
    for (const [name, schema] of Object.entries(value)) {
      this.#properties++
      if (name === '__proto__') this.#refuse(`${path}.${name}`, 'is not a name that a property can have')
      else this.#schema(schema, `${path}.${name}`, depth + 1)
    }
  }

  #names (value: unknown, path: string): void {
    if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
      this.#refuse(path, 'must be a list of names')
    } else if (value.includes('__proto__')) this.#refuse(path, 'must not name __proto__')
  }

  #list (value: unknown, path: string, what: string, each: (item: unknown, index: number) => void): void {
    if (!Array.isArray(value) || value.length === 0) this.#refuse(path, `must be a list of at least one ${what}`)
    else value.forEach(each)
  }

  #refuse (path: string, message: string): void {
    this.#problems.push({ path, message })
  }
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFinite (value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinite)
}

function isDeeper (value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
