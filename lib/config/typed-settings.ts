import { FileSchema, type FileConfig } from './schema.js'
import { PROVIDER_SETTINGS } from '../providers/schemas.js'
import { isJsonObject } from '../validation/json-object.js'
import { childOf, type SchemaNode } from '../validation/schema-node.js'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * The number or boolean that a text spells, where the schema has one: every variable of the environment is a text.
 * @param type that of the schema
 */
export function convertedText (text: string, type: unknown): string | number | boolean {
  const trimmed = text.trim()
  if ((type === 'number' || type === 'integer') && NUMBER.test(trimmed)) return Number(trimmed)
  if (type === 'boolean' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  return text
}

/**
 * Converts texts in the settings of registered providers, which the schema of the file does not contain. A class of the
 * operator's own has no schema, so its settings stay as they are.
 */
export function withTypedSettings (file: FileConfig): FileConfig {
  const maps = PROVIDER_SETTINGS.flatMap(({ key, name, schema }) => {
    const at = `${key}_config` as const
    const { default: byDefault }: SchemaNode = FileSchema.properties[key]
    const isRegistered = file[at] !== undefined && name === (file[key] ?? byDefault)
    return isRegistered ? [[at, converted(file[at], schema)] as const] : []
  })
  return { ...file, ...Object.fromEntries(maps) }
}

function converted (value: unknown, schema: SchemaNode = {}): unknown {
  if (typeof value === 'string') return convertedText(value, schema.type)
  if (schema.properties === undefined || !isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => (
    [name, converted(child, childOf(schema, name))]
  )))
}
