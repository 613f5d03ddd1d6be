import { didYouMean, textThatIs } from '../errors/wording.js'
import { FORMATS } from './formats.js'

/** The members of a JSON Schema that messages are made from. */
export interface DescribedSchema {
  // Not used here. TypeScript requires a member in common with the types of TypeBox and of Ajv.
  '~kind'?: string
  $id?: string
  type?: unknown
  enum?: readonly unknown[]
  const?: unknown
  format?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: object
  /** The meaning of a pattern in words. */
  'x-allowed'?: unknown
}

/** The members of an Ajv error that messages are made from; Fastify passes on the same. */
export interface SchemaError {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  /** The schema that has the keyword. */
  parentSchema?: DescribedSchema
  /** The value that the schema refuses. */
  data?: unknown
}

/** The words for members and objects in messages about requests. */
const REQUEST_WORDS = { knownMember: 'a known field', object: 'a JSON object' }
export type Words = typeof REQUEST_WORDS

/** Names that other memory services give to fields, with those of this one, the first that an object has. */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['limit', ['max_results']],
  ['top_k', ['max_results']],
  ['k', ['max_results']],
  ['text', ['content', 'query']],
  ['messages', ['content', 'items']],
  ['user_id', ['bank_id']],
  ['namespace', ['bank_id']],
  ['bankId', ['bank_id']],
])

/** What is expected of the field of an error, without the field's name: `must be an integer from 1 to 200`. */
export function faultInWords (
  { keyword, params, parentSchema = {} }: SchemaError, words = REQUEST_WORDS,
): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties': {
      const [name, fields] = [String(params['additionalProperty']), Object.keys(parentSchema.properties ?? {})]
      const meant = OTHER_NAMES.get(name)?.find((field) => fields.includes(field))
      return `is not ${words.knownMember}${meant === undefined ? didYouMean(name, fields) : `; use ${meant}`}`
    }
    // The words of x-allowed describe the pattern, which a text of a wrong length may match.
    case 'minLength':
    case 'maxLength':
      return `must be ${textOfLength(parentSchema)}`
    default:
      return ruleOf(parentSchema, words)
  }
}

function ruleOf (schema: DescribedSchema, words: Words): string {
  if (schema.enum !== undefined) return `must be ${oneOf(schema.enum)}`
  if (schema.const !== undefined) return `must be ${JSON.stringify(schema.const)}`
  const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  if (format !== undefined) return format.rule
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return 'is not valid'
  return `must be ${inSeries(types.flatMap((type) => valuesOf(String(type), schema, words)))}`
}

function oneOf (values: readonly unknown[]): string {
  return `${values.length === 1 ? '' : 'one of '}${values.map((value) => JSON.stringify(value)).join(', ')}`
}

/** The values of a type in words; those of a boolean are two. */
function valuesOf (type: string, schema: DescribedSchema, words: Words): string[] {
  switch (type) {
    case 'string':
      return [typeof schema['x-allowed'] === 'string' ? textThatIs(schema['x-allowed']) : textOfLength(schema)]
    case 'integer': return [`an integer${rangeInWords(schema)}`]
    case 'number': return [`a number${rangeInWords(schema)}`]
    case 'boolean': return ['true', 'false']
    case 'array': return [`a list${sizeInWords(schema.minItems, schema.maxItems, 'element')}`]
    case 'object': return [words.object]
    default: return [type]
  }
}

function textOfLength ({ minLength, maxLength }: DescribedSchema): string {
  return `a text${sizeInWords(minLength, maxLength, 'character')}`
}

/** ` from 1 to 10`, ` of at least 1`, ` of at most 10`, or an empty text when there are no bounds. */
export function rangeInWords ({ minimum, maximum }: { minimum?: number, maximum?: number }): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`
}

function sizeInWords (minimum: number | undefined, maximum: number | undefined, unit: string): string {
  const units = (count: number) => `${count} ${unit}${count === 1 ? '' : 's'}`
  if (maximum === undefined) {
    if (minimum === 1) return ' that is not empty'
    return minimum === undefined || minimum === 0 ? '' : ` of at least ${units(minimum)}`
  }
  if (minimum === maximum) return ` of ${units(maximum)}`
  if (minimum === undefined || minimum === 0) return ` of at most ${units(maximum)}`
  return ` of ${minimum} to ${units(maximum)}`
}

function inSeries (words: readonly string[]): string {
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
