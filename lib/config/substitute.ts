import type { EnvironmentReader } from './environment-reader.js'
import { formatPath, toPointer, type Path } from './paths.js'
import { convertedText } from './typed-settings.js'
import type { SchemaNode } from '../validation/schema-node.js'

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
