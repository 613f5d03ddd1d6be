import type { TSchema } from 'typebox'
import { branchOf, type SchemaNode } from './schema-node.js'
import type { Resolved } from './schema-parts.js'
import { isJsonObject } from '../validation/json-object.js'

/**
 * Fills every default of the schema into a copy of a valid value. TypeBox's `Value.Default` cannot be used, because it
 * writes into the value, which is frozen, and skips the values of maps.
 */
export function withDefaults<S extends TSchema> (schema: S, given: unknown): Resolved<S> {
  return filled(schema, given) as Resolved<S>
}

function filled (schema: SchemaNode, given: unknown): unknown {
  const value = given === undefined ? schema.default : given
  if (Array.isArray(value)) return schema.items === undefined ? value : value.map((item) => filled(schema.items!, item))
  if (!isJsonObject(value)) return value
  const branch = schema.anyOf?.[branchOf(schema, value)]
  if (branch !== undefined) return filled(branch, value)
  const { properties = {}, patternProperties = {} } = schema
  const [ofMap] = Object.values(patternProperties)
  const entries = [...new Set([...Object.keys(properties), ...Object.keys(value)])].flatMap((key) => {
    const child = Object.hasOwn(properties, key) ? properties[key] : ofMap
    const inner = child === undefined ? value[key] : filled(child, value[key])
    return inner === undefined ? [] : [[key, inner] as const]
  })
  return Object.fromEntries(entries)
}
