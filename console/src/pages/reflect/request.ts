import type { ReflectRequest } from 'memory-gateway-client'
import { checkSchemaText } from './schema-check.js'

/** The reader's choices, as in the fields. */
export interface Wishes {
  query: string
  bank: string
  /** More banks, separated by commas or spaces. */
  moreBanks: string
  /** Separated by commas. */
  tags: string
  tagsMatch: 'any' | 'all'
  minTrust: '' | 'untrusted' | 'trusted'
  /** In the reader's time zone, as the value of a datetime-local input. */
  occurredAfter: string
  occurredBefore: string
  asOf: string
  referenceTime: string
  maxTokens: string
  instructions: string
  hasSchema: boolean
  schema: string
}

export const EXAMPLE_SCHEMA = `{
  "type": "object",
  "properties": {
    "drink": {"type": "string"},
    "hot": {"type": ["boolean", "null"]}
  },
  "required": ["drink"]
}`

export const NO_WISHES: Omit<Wishes, 'bank'> = {
  query: '',
  moreBanks: '',
  tags: '',
  tagsMatch: 'any',
  minTrust: '',
  occurredAfter: '',
  occurredBefore: '',
  asOf: '',
  referenceTime: '',
  maxTokens: '',
  instructions: '',
  hasSchema: false,
  schema: EXAMPLE_SCHEMA,
}

export type Missing = 'query' | 'bank' | 'schema'

function listOf (text: string, separator: RegExp): string[] {
  return [...new Set(text.split(separator).map((part) => part.trim()).filter((part) => part !== ''))]
}

/** The request for the choices, or what is still missing for one. The gateway checks the rest. */
export function requestOf (wishes: Wishes): { request: ReflectRequest } | { missing: Missing } {
  const query = wishes.query.trim()
  const banks = listOf(`${wishes.bank} ${wishes.moreBanks}`, /[\s,]+/)
  const [first, ...others] = banks
  if (first === undefined) return { missing: 'bank' }
  if (query === '') return { missing: 'query' }
  const checked = wishes.hasSchema ? checkSchemaText(wishes.schema) : undefined
  if (checked !== undefined && checked.schema === undefined) return { missing: 'schema' }
  const tags = listOf(wishes.tags, /,/)
  const more = {
    query,
    ...(tags.length > 0 && { tags, tags_match: wishes.tagsMatch }),
    ...(wishes.minTrust !== '' && { min_trust: wishes.minTrust }),
    ...instant('occurred_after', wishes.occurredAfter),
    ...instant('occurred_before', wishes.occurredBefore),
    ...instant('as_of', wishes.asOf),
    ...instant('reference_time', wishes.referenceTime),
    ...(wishes.maxTokens !== '' && { max_tokens: Number(wishes.maxTokens) }),
    ...(wishes.instructions.trim() !== '' && { instructions: wishes.instructions.trim() }),
    ...(checked?.schema !== undefined && { response_schema: checked.schema }),
  }
  return { request: others.length === 0 ? { bank_id: first, ...more } : { banks, ...more } }
}

function instant<Name extends string> (name: Name, local: string): Partial<Record<Name, string>> {
  const date = new Date(local)
  // The compiler types a computed key of a generic name as a mere string.
  return Number.isNaN(date.getTime()) ? {} : { [name]: date.toISOString() } as Record<Name, string>
}
