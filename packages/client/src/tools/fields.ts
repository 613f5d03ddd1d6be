import type { InputSchema } from './types.js'

/** The input of a model does not satisfy the schema of the tool. */
export class InvalidInput extends Error {}

/** Reads the members of a model's input and reports all violations of the schema to the model at once. */
export class Fields {
  readonly #values: Map<string, unknown>
  /** By field, the first problem of each: those after it follow from it. */
  readonly #problems = new Map<string, string>()

  constructor (input: unknown, { properties }: InputSchema) {
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
    if (!isObject) throw new InvalidInput('The input must be a JSON object')
    // null means absent: models that fill in every member write it.
    this.#values = new Map(Object.entries(input).filter(([, value]) => value !== null && value !== undefined))
    const known = Object.keys(properties)
    for (const name of this.#values.keys()) {
      if (!known.includes(name)) {
        this.addProblem(name, `is not a field of this tool; its fields are ${known.join(', ')}`)
      }
    }
  }

  text (name: string): string {
    const value = this.optionalText(name)
    if (value === undefined) this.addProblem(name, 'is required')
    return value ?? ''
  }

  optionalText (name: string): string | undefined {
    const value = this.#values.get(name)
    if (value === undefined || typeof value === 'string') return value
    this.addProblem(name, 'must be a string')
    return undefined
  }

  texts (name: string): string[] {
    const value = this.optionalTexts(name)
    if (value === undefined) this.addProblem(name, 'is required')
    return value ?? []
  }

  optionalTexts (name: string): string[] | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value
    this.addProblem(name, 'must be a list of strings')
    return undefined
  }

  addProblem (name: string, problem: string): void {
    if (!this.#problems.has(name)) this.#problems.set(name, problem)
  }

  /** Throws if any field was invalid; called after all fields are read. */
  check (): void {
    if (this.#problems.size === 0) return
    throw new InvalidInput([...this.#problems].map(([name, problem]) => `${name}: ${problem}`).join('; '))
  }
}
