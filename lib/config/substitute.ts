import type { EnvironmentReader } from './environment-reader.js'
import { formatPath, toPointer, type Path } from './problems.js'
import { type SchemaNode, childOf } from '../validation/schema-node.js'
import { FileSchema, type FileConfig } from './schema.js'
import { PROVIDER_SETTINGS } from '../providers/schemas.js'
import { isJsonObject } from '../validation/json-object.js'

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g

/** Replaces `${NAME}` in the texts of the file by variables of the environment. */
export class Substitution {
  /** JSON pointers to the values that came from the environment, each of which may be a secret. */
  readonly resolved = new Set<string>()
  /** Those that could not be substituted. The problem is reported, and the value has no meaning. */
  readonly unresolved = new Set<string>()
  readonly #reader: EnvironmentReader
  readonly #problems: string[]

  constructor (reader: EnvironmentReader, problems: string[]) {
    this.#reader = reader
    this.#problems = problems
  }

  /**
   * `$${` is a literal `${`. A substituted value is not searched again. A text that is a single reference becomes a
   * number or boolean where the schema requires one.
   */
  apply (text: string, path: Path, schema: SchemaNode | undefined): string | number | boolean {
    const replaced = text.replace(REFERENCE, (found: string, name: string | undefined) => {
      if (found === '$${') return '${'
      return name === undefined ? this.#malformed(path) : this.#resolve(name, path)
    })
    const whole = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text)
    return whole ? convertedText(replaced, schema?.type) : replaced
  }

  #resolve (name: string, path: Path): string {
    this.resolved.add(toPointer(path))
    const { value, problem } = this.#reader.lookUp(name)
    if (value !== undefined) return value
    this.unresolved.add(toPointer(path))
    this.#problems.push(`${formatPath(path)}: \${${name}} cannot be replaced, ${problem ?? `${name} is not set`}`)
    return ''
  }

  #malformed (path: Path): string {
    this.unresolved.add(toPointer(path))
    this.#problems.push(`${formatPath(path)}: "\${" does not begin a reference of the form \${NAME}; write "$\${" ` +
      'for a literal "${"')
    return ''
  }
}

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
