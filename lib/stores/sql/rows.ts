import { bankKeyString, bankOfKey, type BankKey } from '../../access/context.js'
import { readTrust } from '../../access/trust.js'
import { TokenCount } from '../../text/tokens.js'
import {
  FIELDS, type FieldKind, type FieldName, MEMORY_KINDS, memoryValues, STATES, type MEMORY_FIELDS,
} from '../memory-fields.js'
import type { Memory, MessageFields, Metadata, Part } from '../vector-store.js'

/** What a row has of a field. */
interface RowValues {
  id: string
  text: string
  texts: string[]
  ids: string[]
  object: string
  message: string
  count: number
  instant: number
  trust: string
  state: string
  memoryKind: string
  tokens: number
}

type Fields = typeof MEMORY_FIELDS
type RowValue<F> = F extends { readonly kind: infer K extends FieldKind }
  ? F extends { readonly nullable: true } ? RowValues[K] | null : RowValues[K]
  : never

/** A row with the columns of READ_COLUMNS. */
export type MemoryRow = { [K in FieldName as Fields[K]['column']]: RowValue<Fields[K]> }

const SELECTED: Partial<Record<FieldKind, string>> = {
  id: 'text', ids: 'text[]', object: 'text', message: 'text', instant: 'float8',
}

function selected (expressionOf: (column: string) => string): string {
  return FIELDS.map(({ column, kind }) => {
    const [expression, type] = [expressionOf(column), SELECTED[kind]]
    return type === undefined ? `${expression} as ${column}` : `${expression}::${type} as ${column}`
  }).join(', ')
}

/** A memory's columns as `toMemory` expects them, from the table with the alias m. */
export const READ_COLUMNS = selected((column) => `m.${column}`)

/** The columns of an earlier version that it has of its memory. */
const OF_PAST: Readonly<Record<string, string>> = {
  memory_id: 'coalesce(m.version_of, m.memory_id)', expires_at: 'coalesce(m.told_expires_at, m.expires_at)',
}
/** The same from memories_past. */
export const READ_PAST_COLUMNS = selected((column) => OF_PAST[column] ?? `m.${column}`)

export function readColumns (part: Part): string {
  return part === 'past' ? READ_PAST_COLUMNS : READ_COLUMNS
}

const NO_IDS: readonly string[] = Object.freeze([])

function oneOf<T extends string> (values: readonly T[]): (text: string) => T {
  return (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new Error(`A memory has the unknown value ${text}`)
    return found
  }
}

const READ: { [K in FieldKind]?: (value: RowValues[K]) => unknown } = {
  object: (text) => JSON.parse(text) as Metadata,
  message: (text) => JSON.parse(text) as MessageFields,
  ids: (ids) => ids.length === 0 ? NO_IDS : ids,
  trust: readTrust,
  tokens: TokenCount.known,
  state: oneOf(STATES),
  memoryKind: oneOf(MEMORY_KINDS),
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
