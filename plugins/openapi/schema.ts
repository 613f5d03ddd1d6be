/** The keywords of JSON Schema that the passes over the document use. All others are kept unchanged. */
export interface Schema {
  [keyword: string]: unknown
  $ref?: string
  title?: string
  type?: string | string[]
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema | boolean>
  patternProperties?: Record<string, Schema | boolean>
  additionalProperties?: boolean | Schema
  items?: Schema
  not?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  /**
   * Members of which at least one must be present, each with the members that are allowed with it. Of the others that
   * are named here, it excludes all.
   */
  'x-choice'?: Record<string, readonly string[]>
  /** The schema of each item of a streamed text, as `itemSchema` in OpenAPI 3.2. */
  'x-item-schema'?: Schema
}

const MAPS = ['properties', 'patternProperties'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const
const SINGLE = ['additionalProperties', 'items', 'not', 'x-item-schema'] as const

export function mapValues<From, To> (
  record: Readonly<Record<string, From>>, map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

/** Copies a schema and replaces its direct subschemas. */
export function mapChildren (schema: Schema, map: (child: Schema) => Schema): Schema {
  const copy = { ...schema }
  for (const keyword of MAPS) {
    const children = schema[keyword]
    if (children === undefined) continue
    copy[keyword] = mapValues(children, (child) => typeof child === 'object' ? map(child) : child)
  }
  for (const keyword of LISTS) {
    const children = schema[keyword]
    if (children !== undefined) copy[keyword] = children.map(map)
  }
  for (const keyword of SINGLE) {
    const child = schema[keyword]
    if (typeof child === 'object') copy[keyword] = map(child)
  }
  return copy
}
