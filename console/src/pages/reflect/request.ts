import type { ReflectRequest } from 'memory-gateway-client'
import { bankIdsIn } from '../../text/bank-id.js'
import { fromLocalInput } from '../../text/local-time.js'
import type { StateChoice } from '../../text/state-choice.js'

/** The values of the form. */
export interface ReflectFormValues {
  query: string
  bank: string
  /** More banks, separated by commas or spaces. */
  moreBanks: string
  /** Separated by commas. */
  speakers: string
  /** Separated by commas. */
  tags: string
  tagsMatch: 'any' | 'all'
  minTrust: '' | 'untrusted' | 'trusted'
  /** In the user's time zone, as the value of a datetime-local input. */
  occurredAfter: string
  occurredBefore: string
  /** Empty: the question decides. */
  state: StateChoice
  validAt: string
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

export const EMPTY_FORM: Omit<ReflectFormValues, 'bank'> = {
  query: '',
  moreBanks: '',
  speakers: '',
  tags: '',
  tagsMatch: 'any',
  minTrust: '',
  occurredAfter: '',
  occurredBefore: '',
  state: '',
  validAt: '',
  asOf: '',
  referenceTime: '',
  maxTokens: '',
  instructions: '',
  hasSchema: false,
  schema: EXAMPLE_SCHEMA,
}

export type RequiredField = 'query' | 'schema'

function namesIn (text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()).filter((part) => part !== ''))]
}

/** The request for the values of the form, or the required field that is missing or invalid. The gateway checks it. */
export function requestOf (values: ReflectFormValues): { request: ReflectRequest } | { missing: RequiredField } {
  const query = values.query.trim()
  const others = bankIdsIn(values.moreBanks).filter((id) => id !== values.bank)
  if (query === '') return { missing: 'query' }
  const schema = values.hasSchema ? parsedSchema(values.schema) : undefined
  if (values.hasSchema && schema === undefined) return { missing: 'schema' }
  const [speakers, tags] = [namesIn(values.speakers), namesIn(values.tags)]
  const more = {
    query,
    ...(speakers.length > 0 && { speakers }),
    ...(tags.length > 0 && { tags, tags_match: values.tagsMatch }),
    ...(values.minTrust !== '' && { min_trust: values.minTrust }),
    ...instant('occurred_after', values.occurredAfter),
    ...instant('occurred_before', values.occurredBefore),
    ...(values.state !== '' && { state: values.state }),
    ...instant('valid_at', values.validAt),
    ...instant('as_of', values.asOf),
    ...instant('reference_time', values.referenceTime),
    ...(values.maxTokens !== '' && { max_tokens: Number(values.maxTokens) }),
    ...(values.instructions.trim() !== '' && { instructions: values.instructions.trim() }),
    ...(schema !== undefined && { response_schema: schema }),
  }
  const scope = others.length === 0 ? { bank_id: values.bank } : { banks: [values.bank, ...others] }
  return { request: { ...scope, ...more } }
}

/** Undefined for a text that is no JSON object. The gateway checks the schema. */
export function parsedSchema (text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function instant<Name extends string> (name: Name, local: string): Partial<Record<Name, string>> {
  const value = fromLocalInput(local)
  // The compiler widens a computed key of a generic type to string.
  return value === '' ? {} : { [name]: value } as Record<Name, string>
}
