import { FileSchema } from '../../lib/config/schema.js'
import { PROVIDER_SETTINGS } from '../../lib/providers/schemas.js'
import { isJsonObject } from '../../lib/validation/json-object.js'
import type { SchemaNode } from '../../lib/validation/schema-node.js'

/** A text in the file that is replaced by the value of a variable, which may be of any type. */
const REFERENCE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

type Schema = Readonly<Record<string, unknown>>

/** The JSON Schema (draft-07) of the configuration file. With it an editor completes keys and shows what they mean. */
export function fileJsonSchema (): Schema {
  const { properties, ...rest } = asSchema(FileSchema)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Memory Gateway configuration file',
    ...rest,
    properties,
    allOf: PROVIDER_SETTINGS.map(({ key, name, schema }) => ({
      if: { properties: { [key]: { const: name } }, required: [key] },
      then: { properties: { [`${key}_config`]: asSchema(schema) } },
    })),
  }
}

/** A section may be empty, which counts as absent, so null is allowed. Our annotations are omitted. */
function asSchema (node: SchemaNode): Schema {
  const plain: unknown = JSON.parse(JSON.stringify(node))
  return toSchema(plain)
}

function toSchema (value: unknown): Schema {
  if (!isJsonObject(value)) return {}
  const { description, default: fallback, ...rest } = withoutAnnotations(value)
  const annotations = { description, default: fallback }
  if (isJsonObject(rest['properties']) || isJsonObject(rest['patternProperties'])) {
    return { ...annotations, ...rest, ...childrenOf(rest), type: ['object', 'null'] }
  }
  if (isJsonObject(rest['items'])) {
    return { ...annotations, ...rest, items: toSchema(rest['items']), type: ['array', 'null'] }
  }
  if (Array.isArray(rest['anyOf'])) return { ...annotations, ...rest, anyOf: rest['anyOf'].map(toSchema) }
  return takesAnyText(rest) ? { ...annotations, ...rest } : { ...annotations, anyOf: [rest, REFERENCE] }
}

function childrenOf ({ properties, patternProperties }: Schema): Schema {
  const all = (map: Schema) => Object.fromEntries(Object.entries(map).map(([key, child]) => [key, toSchema(child)]))
  return {
    ...(isJsonObject(properties) && { properties: all(properties) }),
    ...(isJsonObject(patternProperties) && { patternProperties: all(patternProperties) }),
  }
}

/** Whether a reference to a variable already satisfies the schema. */
function takesAnyText ({ type, enum: values, pattern, const: constant, maxLength }: Schema): boolean {
  if (values !== undefined || pattern !== undefined || constant !== undefined || maxLength !== undefined) return false
  return type === undefined || type === 'string' || type === 'object'
}

function withoutAnnotations (value: Schema): Schema {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-')))
}
