import {
  _, Ajv, type CodeKeywordDefinition, type ErrorObject, type Name, type Options, type ValidateFunction,
} from 'ajv'
import type { Static, TSchema } from 'typebox'
import { INSTANT_RULE, parseInstant } from './clock.js'
import { codePointsUpTo } from './code-points.js'
import { isUuid, isUuidV7 } from './ids.js'
import { pointerSegments } from './json-object.js'
import type { SchemaNode } from './schema-node.js'
import { invalidRequest, type FieldError, type ServiceError } from './service-error.js'
import { shorten } from './shorten.js'
import { didYouMean, memberName, textThatIs } from './wording.js'

/** Maximum number of fields that one error names. */
const MAX_FIELD_ERRORS = 20
/** All errors are reported for an input with at most this many values, else only the first. */
const SMALL_INPUT = 5000
/** Maximum length of a number in a string; no finite number has more digits before its decimal point. */
const MAX_NUMBER_CHARACTERS = 400
/** Maximum length of a field's name in an error, because a client can send a name as long as the body. */
export const MAX_NAME_CHARACTERS = 100

/** The formats of texts, with the rule that the message about another text states. */
const FORMATS: Readonly<Record<string, { validate: (text: string) => boolean, rule: string }>> = {
  'date-time': { validate: (text) => parseInstant(text) !== undefined, rule: INSTANT_RULE },
  uuid: { validate: isUuid, rule: 'must be a UUID' },
  uuid7: { validate: isUuidV7, rule: 'must be a UUIDv7' },
}

const PATTERN: CodeKeywordDefinition = {
  keyword: 'pattern',
  type: 'string',
  schemaType: 'string',
  code (cxt) {
    const { maxLength } = cxt.parentSchema as { maxLength?: number }
    const pattern = cxt.gen.scopeValue('pattern', { key: cxt.schema, ref: new RegExp(cxt.schema as string, 'u') })
    const isMatched = maxLength === undefined ? _`` : _`${cxt.data}.length <= 2 * ${maxLength} && `
    cxt.fail(_`${isMatched}!${pattern}.test(${cxt.data})`)
  },
}

/**
 * Replaces the keywords of Ajv whose time grows with a text that is far too long. Its minLength and maxLength count all
 * code points, which takes 25 ms for 10 MB. These first compare the number of UTF-16 units, of which a code point has
 * one or two. Its pattern is matched even when maxLength has failed, which takes 25 to 40 ms.
 */
function addTextKeywords (ajv: Ajv): void {
  for (const keyword of ['minLength', 'maxLength', 'pattern']) ajv.removeKeyword(keyword)
  ajv.addKeyword(lengthKeyword('minLength', (text, count, limit) => (
    _`${text}.length < 2 * ${limit} && ${count}(${text}, ${limit}) < ${limit}`
  )))
  ajv.addKeyword(lengthKeyword('maxLength', (text, count, limit) => (
    _`${text}.length > ${limit} && ${count}(${text}, ${limit}) > ${limit}`
  )))
  ajv.addKeyword(PATTERN)
}

function lengthKeyword (
  keyword: string, fails: (text: Name, count: Name, limit: number) => ReturnType<typeof _>,
): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    code (cxt) {
      const count = cxt.gen.scopeValue('func', { ref: codePointsUpTo })
      cxt.fail(fails(cxt.data, count, cxt.schema as number))
    },
  }
}

/**
 * An Ajv instance for input: nothing is removed or filled in, and numbers must be finite. Our own schemas are not
 * validated against the meta-schema, because compiling that slows the start.
 */
export function strictAjv (options: Options = {}): Ajv {
  const ajv = new Ajv({
    removeAdditional: false,
    useDefaults: false,
    allErrors: true,
    strict: false,
    strictNumbers: true,
    meta: false,
    validateSchema: false,
    verbose: true,
    // Optimizing the code takes as long as generating it, and saves nothing that can be measured.
    code: { optimize: false },
    ...options,
  })
  for (const [name, { validate }] of Object.entries(FORMATS)) ajv.addFormat(name, { validate })
  addTextKeywords(ajv)
  return ajv
}

/** The members of an Ajv error that messages are made from; Fastify passes on the same. */
type SchemaError =
  Pick<ErrorObject, 'keyword' | 'instancePath' | 'params' | 'data'> & { parentSchema?: SchemaNode }

/** Whether a value satisfies a schema; `problems` are those of the last value that did not. */
export interface Validator {
  (value: unknown): boolean
  problems: readonly ErrorObject[]
  /** Compiles the schema before its first use. */
  compile: () => void
}

const first = strictAjv({ allErrors: false })
const all = strictAjv()
/** For the whole process, which may hold several gateways. */
const validators = new WeakMap<object, Validator>()

/**
 * The validator of a schema. It stops at the first problem, and looks for the others only in a small input, so that a
 * million problems cost no more than one. It is compiled at its first use, because compiling all schemas slows the
 * start.
 * @param small maximum number of values in a small input
 */
export function validatorOf (schema: object, small = SMALL_INPUT): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) validators.set(schema, validator = makeValidator(schema, small))
  return validator
}

function makeValidator (schema: object, small: number): Validator {
  const passes = lazily(first, schema)
  const find = lazily(all, schema)
  const validator: Validator = (value) => {
    const validate = passes()
    if (validate(value)) return true
    validator.problems = validate.errors ?? []
    if (hasAtMost(small, value)) {
      const complete = find()
      // If this check passes, the value stays refused with the first problem.
      if (!complete(value)) validator.problems = complete.errors ?? []
    }
    return false
  }
  validator.problems = []
  validator.compile = () => {
    passes()
    find()
  }
  return validator
}

function lazily (ajv: Ajv, schema: object): () => ValidateFunction {
  let compiled: ValidateFunction | undefined
  return () => {
    compiled ??= compile(ajv, schema)
    return compiled
  }
}

function compile (ajv: Ajv, schema: object): ValidateFunction {
  const validate = ajv.compile(schema)
  // Ajv would keep schemas alive that nothing else refers to.
  ajv.removeSchema(schema)
  return validate
}

/** Whether a JSON value holds at most so many values. */
function hasAtMost (limit: number, value: unknown): boolean {
  if (limit === Infinity) return true
  const open = [value]
  for (let count = 1; open.length > 0;) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    const members: unknown[] = Array.isArray(node) ? node : Object.values(node)
    count += members.length
    if (count > limit) return false
    for (const member of members) open.push(member)
  }
  return true
}

/**
 * Checks values against a schema.
 * @returns a function that returns the value with the schema's type
 * @throws (from that function) by default ServiceError invalid_request that names each wrong field, prefixed with `at`
 */
export function schemaCheck<S extends TSchema> (
  schema: S, errorOf: (problems: readonly SchemaError[], at: string) => Error = validationError,
): (value: unknown, at?: string) => Static<S> {
  const validate = validatorOf(schema)
  const passes = (value: unknown): value is Static<S> => validate(value)
  return (value, at = '') => {
    if (passes(value)) return value
    throw errorOf(validate.problems, at)
  }
}

/**
 * Applies the contract's rules for bodies before validation, in place: null means that an optional field is absent, and
 * a numeric string is converted where the schema has a number. A map without named properties, such as metadata, keeps
 * its nulls, and so does a field that may be null.
 */
export function prepareInput (value: unknown, { properties = {} }: SchemaNode): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const map = value as Record<string, unknown>
  for (const [name, property] of Object.entries(properties)) {
    const member = Object.hasOwn(map, name) ? map[name] : undefined
    if (member === null) {
      if (![property.type].flat().includes('null')) delete map[name]
    } else if (typeof member === 'string' && isNumeric(property.type)) map[name] = readNumber(member)
    else if (Array.isArray(member) && property.items?.type === 'object') {
      for (const item of member) prepareInput(item, property.items)
    } else if (property.type === 'object') prepareInput(member, property)
  }
}

/** The texts that are numbers in a query, for each numeric type of a schema. */
const DECIMAL: Readonly<Record<string, RegExp>> = { integer: /^-?\d+$/, number: /^-?\d+(\.\d+)?$/ }

/**
 * Converts the texts of a query string in place, where the schema has a number, a boolean or a list. A text that spells
 * none stays, and the validation refuses it.
 */
export function prepareQuery (value: unknown, { properties = {} }: SchemaNode): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, given] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name]! : {}
    const one: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given
    Reflect.set(value, name, property.type === 'array'
      ? [given].flat().map((text) => ofType(text, property.items?.type))
      : ofType(one, property.type))
  }
}

function ofType (text: unknown, type: unknown): unknown {
  if (typeof text !== 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return DECIMAL[String(type)]?.test(text) === true && Number.isFinite(Number(text)) ? Number(text) : text
}

function isNumeric (type: unknown): boolean {
  return type === 'integer' || type === 'number'
}

function readNumber (text: string): string | number {
  return text.length <= MAX_NUMBER_CHARACTERS && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** The error `invalid_request` with the wrong fields as the client wrote them. */
export function validationError (problems: readonly SchemaError[], at = '', words?: Words): ServiceError {
  const seen = new Map<string, FieldError>()
  for (const problem of problems) {
    // There can be thousands of problems, and looking for a similar name takes time, so messages are made for the first
    // only.
    if (seen.size === MAX_FIELD_ERRORS) break
    const field = fieldOf(problem)
    // One wrong field often violates several rules; the first is enough.
    if (!seen.has(field)) seen.set(field, fieldError(nameOf(field, at), faultInWords(problem, words)))
  }
  return invalidRequest([...seen.values()])
}

/** The whole body has no name that could come before the message. */
function fieldError (field: string, message: string): FieldError {
  return { field, message: field === '' ? `The body ${message}` : message }
}

function nameOf (field: string, at: string): string {
  const name = field === '' ? at.replace(/[:.]\s*$/, '') : `${at}${field}`
  return shorten(name, MAX_NAME_CHARACTERS)
}

function fieldOf ({ instancePath, params }: SchemaError): string {
  const path = fieldPath(instancePath)
  const member = params['missingProperty'] ?? params['additionalProperty']
  if (member === undefined) return path
  const name = memberName(String(member))
  return path === '' ? name : `${path}.${name}`
}

/** `/items/3/tags` becomes `items[3].tags`. */
function fieldPath (pointer: string): string {
  return pointerSegments(pointer)
    .map((part, index) => /^\d+$/.test(part) ? `[${part}]` : index === 0 ? memberName(part) : `.${memberName(part)}`)
    .join('')
}

/** The words for members and objects in messages about requests. */
const REQUEST_WORDS = { knownMember: 'a known field', object: 'a JSON object' }
/** Those in messages about settings. */
export const SETTINGS_WORDS: Words = { knownMember: 'a known key', object: 'a map' }
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
  ['memory', ['content']],
  ['timestamp', ['occurred_at', 'created_at']],
  ['created_at', ['occurred_at']],
  ['occurred_at', ['created_at']],
  ['valid_to', ['valid_until']],
  ['invalid_at', ['valid_until']],
])

/** What is expected of the field of an error, without the field's name: `must be an integer from 1 to 200`. */
function faultInWords (
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

function ruleOf (schema: SchemaNode, words: Words): string {
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
export function valuesOf (type: string, schema: SchemaNode, words: Words): string[] {
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

function textOfLength ({ minLength, maxLength }: SchemaNode): string {
  return `a text${sizeInWords(minLength, maxLength, 'character')}`
}

/** ` from 1 to 10`, ` of at least 1`, ` of at most 10`, or an empty text when there are no bounds. */
function rangeInWords ({ minimum, maximum }: { minimum?: number, maximum?: number }): string {
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
