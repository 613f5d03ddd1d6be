import type { Fields } from './fields.js'
import type { MemoryToolBanks, PropertySchema } from './types.js'

/** The banks of a set of tools: their properties in the input schemas, and a check that rejects all other banks. */
export class Banks {
  readonly names: readonly string[]
  readonly #singleBank: string | undefined
  readonly #purposes: string

  constructor ({ bank, banks = [] }: MemoryToolBanks) {
    this.#singleBank = bank
    const purposes = Array.isArray(banks) ? [] : Object.entries<string>({ ...banks })
    this.names = bank !== undefined ? [bank] : Array.isArray(banks) ? [...banks] : purposes.map(([name]) => name)
    this.#purposes = purposes.map(([name, purpose]) => ` ${name}: ${purpose}.`).join('')
    if (this.names.length === 0 || this.names.includes('')) throw new TypeError('Tools require the name of a bank')
  }

  /** Whether there are several banks, so that the text of each hit must name its bank. */
  get hasSeveral (): boolean {
    return this.names.length > 1
  }

  /** The property of a tool that works on one bank. */
  get property (): Record<string, PropertySchema> {
    if (this.#singleBank !== undefined) return {}
    return {
      bank: { type: 'string', description: `Which memory bank to use.${this.#purposes}`, enum: [...this.names] },
    }
  }

  /** The property of a tool that searches. */
  get listProperty (): Record<string, PropertySchema> {
    if (this.#singleBank !== undefined) return {}
    const description = `Which memory banks to search; all of them when it is left out.${this.#purposes}`
    return { banks: { type: 'array', description, items: { type: 'string', enum: [...this.names] } } }
  }

  get required (): string[] {
    return Object.keys(this.property)
  }

  /** The bank that the input of a tool names. */
  bankIn (fields: Fields): string {
    if (this.#singleBank !== undefined) return this.#singleBank
    const name = fields.text('bank')
    this.#checkAllowed(name, 'bank', fields)
    return name
  }

  /** The banks that the input of a search names; all of them for an empty list, which models write for "no choice". */
  banksIn (fields: Fields): { bank_id: string } | { banks: string[] } {
    if (this.#singleBank !== undefined) return { bank_id: this.#singleBank }
    const names = fields.optionalTexts('banks') ?? []
    for (const name of names) this.#checkAllowed(name, 'banks', fields)
    return { banks: names.length === 0 ? [...this.names] : names }
  }

  #checkAllowed (name: string, field: string, fields: Fields): void {
    if (!this.names.includes(name)) fields.addProblem(field, `must be one of ${this.names.join(', ')}`)
  }
}
