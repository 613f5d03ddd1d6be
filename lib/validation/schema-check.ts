import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { INSTANT_RULE, parseInstant } from '../time/clock.js'
import { invalidRequest, type FieldError, type ServiceError } from '../errors/service-error.js'
import { isUuid, isUuidV7 } from './ids.js'
import { addLengthKeywords } from './length-keywords.js'
import { didYouMean, textThatIs } from '../errors/wording.js'

/** Fields named in one answer; a body of a thousand wrong items is told about its first twenty. */
const MAX_FIELD_ERRORS = 20
/** Values up to which a body is told all that is wrong with it, and not only the first of it. */
const SMALL_INPUT = 5000
/** Characters that an instant is read from; only a fraction could make it longer. */
const LONGEST_INSTANT = 64
/** Digits of a number that is given as text: no finite one has more before its point. */
const LONGEST_NUMBER = 400
/** A field's name is the client's own, and could be as long as a body. */
const MAX_NAME = 100

const FORMATS: Record<string, { validate: (text: string) => boolean, rule: string }> = {
  'date-time': { validate: (text) => text.length <= LONGEST_INSTANT && parseInstant(text) !== undefined, rule: INSTANT_RULE },
  uuid: { validate: isUuid, rule: 'must be a UUID' },
  uuid7: { validate: isUuidV7, rule: 'must be a UUIDv7' },
}

/** As much of an Ajv error as the texts are made of; Fastify hands on the same. */
interface SchemaError {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message?: string
  /** The schema that has the keyword. */
  parentSchema?: InputSchema
}

/**
 * The one way in which input is validated: nothing is removed or filled in, and a number is a finite one. The schemas are our own, so
 * they are not checked against the schema of schemas, whose compilation would hold up the start.
 */
export function strictAjv (options: Options = {}): Ajv {
  const ajv = new Ajv({ removeAdditional: false, useDefaults: false, allErrors: true, strict: false, strictNumbers: true, meta: false, validateSchema: false, verbose: true, ...options })
  for (const [name, { validate }] of Object.entries(FORMATS)) ajv.addFormat(name, { validate })
  addLengthKeywords(ajv)
  return ajv
}

/** Whether a value passes a schema; `problems` is what the last one that did not was told. */
export interface Validator {
  (value: unknown): boolean
  problems: readonly ErrorObject[]
}

const first = strictAjv({ allErrors: false })
const all = strictAjv()

/**
 * A validator that stops at the first problem, and looks for the others only in an input that is small: what is wrong a million times
 * costs no more than what is wrong once. It is compiled when the first value comes: what few requests need should not hold up the start.
 */
export function validatorOf (schema: object): Validator {
  const passes = lazily(first, schema)
  const find = lazily(all, schema)
  const validator: Validator = (value) => {
    const validate = passes()
    if (validate(value)) return true
    validator.problems = validate.errors ?? []
    if (isSmall(value)) {
      const complete = find()
      // Whatever passes by itself was refused for good.
      if (!complete(value)) validator.problems = complete.errors ?? []
    }
    return false
  }
  validator.problems = []
  return validator
}

function lazily (ajv: Ajv, schema: object): () => ValidateFunction {
  let compiled: ValidateFunction | undefined
  return () => {
    if (compiled === undefined) {
      compiled = ajv.compile(schema)
      // Ajv would hold on to schemas that nothing else knows any more.
      ajv.removeSchema(schema)
    }
    return compiled
  }
}

/** Whether a value of JSON holds few values. Looks at no more than it has to. */
function isSmall (value: unknown): boolean {
  const open = [value]
  for (let count = 1; open.length > 0;) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    const members: unknown[] = Array.isArray(node) ? node : Object.values(node)
    count += members.length
    if (count > SMALL_INPUT) return false
    for (const member of members) open.push(member)
  }
  return true
}

/**
 * Checks values against a schema.
 * @returns a function that gives the value back as what it is
 * @throws ServiceError (from that function) invalid_request that names each wrong field, behind `at`
 */
export function schemaCheck<S extends TSchema> (schema: S): (value: unknown, at?: string) => Static<S> {
  const validate = validatorOf(schema)
  const passes = (value: unknown): value is Static<S> => validate(value)
  return (value, at = '') => {
    if (passes(value)) return value
    throw refusal(validate.problems, at)
  }
}

/** As much of a JSON Schema as the preparation of input looks at. */
export interface InputSchema {
  // Without use here: one each that TypeBox's and Ajv's types share with this one, as TypeScript asks.
  '~kind'?: string
  $id?: string
  type?: unknown
  maxItems?: number
  properties?: Record<string, InputSchema>
  items?: InputSchema
  /** What a pattern asks for, in words. */
  'x-allowed'?: unknown
}

/**
 * The contract's rules for bodies, before validation: null stands for an absent optional field, and a numeric string for a number where
 * one is asked for. Works in place, on a value that nobody else has. A map without named properties, as metadata, keeps its nulls.
 */
export function prepareInput (value: unknown, { properties = {} }: InputSchema): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const map = value as Record<string, unknown>
  for (const [name, property] of Object.entries(properties)) {
    const member = Object.hasOwn(map, name) ? map[name] : undefined
    if (member === null) delete map[name]
    else if (typeof member === 'string' && isNumeric(property.type)) map[name] = readNumber(member)
    else if (Array.isArray(member) && property.items?.type === 'object') member.forEach((item) => { prepareInput(item, property.items!) })
    else if (property.type === 'object') prepareInput(member, property)
  }
}

function isNumeric (type: unknown): boolean {
  return type === 'integer' || type === 'number'
}

function readNumber (text: string): string | number {
  return text.length <= LONGEST_NUMBER && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** 400 with the wrong fields in the client's own words. */
export function refusal (problems: readonly SchemaError[], at = ''): ServiceError {
  const seen = new Map<string, FieldError>()
  for (const problem of problems) {
    // What nobody is told of is not put into words: there can be thousands, and to find what a name was meant to be takes a while.
    if (seen.size === MAX_FIELD_ERRORS) break
    const field = fieldOf(problem)
    // One wrong field often breaks several rules; the first says enough.
    if (!seen.has(field)) seen.set(field, { field: nameOf(field, at), message: messageOf(problem) })
  }
  return invalidRequest([...seen.values()])
}

function nameOf (field: string, at: string): string {
  const name = field === '' ? at.replace(/[:.]\s*$/, '') : `${at}${field}`
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

function fieldOf ({ instancePath, params }: SchemaError): string {
  const path = fieldPath(instancePath)
  const member = params['missingProperty'] ?? params['additionalProperty']
  if (member === undefined) return path
  return path === '' ? String(member) : `${path}.${String(member)}`
}

function messageOf ({ keyword, params, message = 'is invalid', parentSchema = {} }: SchemaError): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return `is not a known field${didYouMean(String(params['additionalProperty']), Object.keys(parentSchema.properties ?? {}))}`
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'format':
      return FORMATS[String(params['format'])]?.rule ?? 'is invalid'
    case 'pattern':
      return typeof parentSchema['x-allowed'] === 'string' ? `must be ${textThatIs(parentSchema['x-allowed'])}` : message
    default:
      return message
  }
}

/** `/items/3/tags` becomes `items[3].tags`. */
function fieldPath (pointer: string): string {
  return pointer.split('/').slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => /^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)
    .join('')
}
