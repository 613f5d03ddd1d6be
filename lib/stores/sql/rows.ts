import { bankKeyString, bankOfKey, type BankKey } from '../../access/context.js'
import { readTrust } from '../../access/trust.js'
import { TokenCount } from '../../text/tokens.js'
import { FIELDS, type FieldKind, type FieldName, memoryValues, type MEMORY_FIELDS } from '../memory-fields.js'
import type { Memory, MessageFields, Metadata } from '../vector-store.js'

/** What a row has of a field. */
interface RowValues {
  id: string
  text: string
  texts: string[]
  object: string
  message: string
  instant: number
  trust: string
  tokens: number
}

type Fields = typeof MEMORY_FIELDS
type RowValue<F> = F extends { readonly kind: infer K extends FieldKind }
  ? F extends { readonly nullable: true } ? RowValues[K] | null : RowValues[K]
  : never

/** A row with the columns of READ_COLUMNS. */
export type MemoryRow = { [K in FieldName as Fields[K]['column']]: RowValue<Fields[K]> }

const SELECTED: Partial<Record<FieldKind, string>> = { id: 'text', object: 'text', message: 'text', instant: 'float8' }

/** A memory's columns as `toMemory` expects them, from the table with the alias m. */
export const READ_COLUMNS = FIELDS.map(({ column, kind }) => {
  const type = SELECTED[kind]
  return type === undefined ? `m.${column}` : `m.${column}::${type} as ${column}`
}).join(', ')

const READ: { [K in FieldKind]?: (value: RowValues[K]) => unknown } = {
  object: (text) => JSON.parse(text) as Metadata,
  message: (text) => JSON.parse(text) as MessageFields,
  trust: readTrust,
  tokens: TokenCount.known,
}

export function toMemory (row: MemoryRow): Memory {
  return memoryValues(({ column, kind }) => {
    const read = READ[kind] as ((value: unknown) => unknown) | undefined
    const value = row[column]
    return read === undefined || value === null ? value : read(value)
  })
}

/** The first parameter of every statement on a bank. */
export function bankParameters (bank: BankKey): [bankKey: string] {
  return [bankKeyString(bank)]
}

/** A row with the key of its bank. */
export interface BankRow {
  bank_key: string
}

export function toBankKey (row: BankRow): BankKey {
  return bankOfKey(row.bank_key)
}
