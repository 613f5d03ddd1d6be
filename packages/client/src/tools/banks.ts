import type { Fields } from './fields.js'
import type { MemoryToolBanks, PropertySchema } from './types.js'

/** The banks of a set of tools: how a model names them, and a check that refuses all others. */
export class Banks {
  readonly names: readonly string[]
  readonly #fixed: string | undefined
  readonly #uses: string

  constructor ({ bank, banks = [] }: MemoryToolBanks) {
    this.#fixed = bank
    const uses = Array.isArray(banks) ? [] : Object.entries<string>({ ...banks })
    this.names = bank !== undefined ? [bank] : Array.isArray(banks) ? [...banks] : uses.map(([name]) => name)
    this.#uses = uses.map(([name, use]) => ` ${name}: ${use}.`).join('')
    if (this.names.length === 0 || this.names.includes('')) throw new TypeError('Tools need the name of a bank')
  }

  /** Whether the text of each hit must name its bank. */
  get areSeveral (): boolean {
    return this.names.length > 1
  }

  /** The property of a tool that works on one bank. */
  get property (): Record<string, PropertySchema> {
    if (this.#fixed !== undefined) return {}
    return { bank: { type: 'string', description: `Which memory bank to use.${this.#uses}`, enum: [...this.names] } }
  }

  /** The property of a tool that searches. */
  get listProperty (): Record<string, PropertySchema> {
    if (this.#fixed !== undefined) return {}
    const description = `Which memory banks to search; all of them when it is left out.${this.#uses}`
    return { banks: { type: 'array', description, items: { type: 'string', enum: [...this.names] } } }
  }

  get required (): string[] {
    return Object.keys(this.property)
  }

  in (fields: Fields): string {
    if (this.#fixed !== undefined) return this.#fixed
    const name = fields.text('bank')
    this.#allow(name, 'bank', fields)
    return name
  }

  /** An empty list is what models write for "no choice". */
  listIn (fields: Fields): { bank_id: string } | { banks: string[] } {
    if (this.#fixed !== undefined) return { bank_id: this.#fixed }
    const names = fields.optionalTexts('banks') ?? []
    for (const name of names) this.#allow(name, 'banks', fields)
    return { banks: names.length === 0 ? [...this.names] : names }
  }

  #allow (name: string, field: string, fields: Fields): void {
    if (!this.names.includes(name)) fields.wrong(`${field}: is one of ${this.names.join(', ')}`)
  }
}
