import { bankKeyString, bankOfKey, type BankKey } from '../../access/context.js'
import { readTrust } from '../../access/trust.js'
import { TokenCount } from '../../text/tokens.js'
import {
  emptyMemory, type Field, FIELDS, type FieldKind, type FieldName, newLife, type MEMORY_FIELDS,
} from '../memory-fields.js'
import type { Memory, Metadata, Part } from '../vector-store.js'

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

type LifeField = { [K in FieldName]: Fields[K] extends { readonly life: true } ? K : never }[FieldName]

/** A row with the columns of READ_COLUMNS. */
export type MemoryRow = { [K in Exclude<FieldName, LifeField> as Fields[K]['column']]: RowValue<Fields[K]> } & {
  /** A JSON array of the fields of LIFE; null when the memory has the defaults of all. */
  life: string | null
}

const PLAIN = FIELDS.filter(({ life }) => life !== true)
/** One column for all of them, because reading many costs time and most memories have the defaults. */
const LIFE = FIELDS.filter(({ life }) => life === true)
const SELECTED: Partial<Record<FieldKind, string>> = { id: 'text', object: 'text', instant: 'float8' }

const DEFAULTS: Partial<Record<FieldKind, string>> = {
  count: '1', ids: '\'{}\'', state: '\'current\'', memoryKind: '\'memory\'',
}

/** A condition: a field of the row `m` has its default. */
function isDefault ({ name, column, kind }: Field): string {
  if (name === 'changedAt') return 'm.changed_at = m.retained_at'
  const value = DEFAULTS[kind]
  return value === undefined ? `m.${column} is null` : `m.${column} = ${value}`
}

const LIFE_COLUMN = `case when ${LIFE.map(isDefault).join(' and ')} then null
  else json_build_array(${LIFE.map(({ column }) => `m.${column}`).join(', ')})::text end as life`

function selected (expressionOf: (column: string) => string): string {
  return [...PLAIN.map(({ column, kind }) => {
    const [expression, type] = [expressionOf(column), SELECTED[kind]]
    return type === undefined ? `${expression} as ${column}` : `${expression}::${type} as ${column}`
  }), LIFE_COLUMN].join(', ')
}

/** A memory's columns as `toMemory` expects them, from the table with the alias m. */
export const READ_COLUMNS = selected((column) => `m.${column}`)

/** The columns of an earlier version that it has of its memory. */
export const OF_PAST = {
  memory_id: 'coalesce(m.version_of, m.memory_id)', expires_at: 'coalesce(m.told_expires_at, m.expires_at)',
} as const
/** The same from memories_past. */
export const READ_PAST_COLUMNS = selected((column) => (
  column === 'memory_id' || column === 'expires_at' ? OF_PAST[column] : `m.${column}`
))

export function readColumns (part: Part): string {
  return part === 'past' ? READ_PAST_COLUMNS : READ_COLUMNS
}

const READ: { [K in FieldKind]?: (value: RowValues[K]) => unknown } = {
  object: (text) => JSON.parse(text) as Metadata, trust: readTrust, tokens: TokenCount.known,
}

/** What a memory has that was never changed and of which nothing more is told, but for `changedAt`. */
const NEW_LIFE: Readonly<Record<string, unknown>> = newLife({ changedAt: 0, changedBy: null })

export function toMemory (row: MemoryRow): Memory {
  const memory = emptyMemory()
  const life = row.life === null ? undefined : JSON.parse(row.life) as unknown[]
  for (const [at, { name }] of LIFE.entries()) {
    memory[name] = life === undefined ? NEW_LIFE[name] ?? null : life[at]
  }
  if (life === undefined) memory['changedAt'] = row.retained_at
  for (const { name, column, kind } of PLAIN) {
    const read = READ[kind] as ((value: unknown) => unknown) | undefined
    const value = row[column as keyof MemoryRow]
    memory[name] = read === undefined || value === null ? value : read(value)
  }
  return memory as unknown as Memory
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
