import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { invalidRequest, type FieldError, type ServiceError } from '../errors/service-error.js'
import { memberName } from '../errors/wording.js'
import { FORMATS } from './formats.js'
import { pointerSegments } from './json-pointer.js'
import { addTextKeywords } from './text-keywords.js'
import { faultInWords, type DescribedSchema, type SchemaError, type Words } from './problem-messages.js'
import { shorten } from './shorten.js'

/** Maximum number of fields that one error names. */
const MAX_FIELD_ERRORS = 20
/** All errors are reported for an input with at most this many values, else only the first. */
const SMALL_INPUT = 5000
/** Maximum length of a number in a string; no finite number has more digits before its decimal point. */
const MAX_NUMBER_CHARACTERS = 400
/** Maximum length of a field's name in an error, because a client can send a name as long as the body. */
export const MAX_NAME_CHARACTERS = 100

/**
 * The Ajv instance of all input: nothing is removed or filled in, and numbers must be finite. Our own schemas are not
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
    ...options,
  })
  for (const [name, { validate }] of Object.entries(FORMATS)) ajv.addFormat(name, { validate })
  addTextKeywords(ajv)
  return ajv
}

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
 */
export function validatorOf (schema: object): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) validators.set(schema, validator = makeValidator(schema))
  return validator
}

function makeValidator (schema: object): Validator {
  const passes = lazily(first, schema)
  const find = lazily(all, schema)
  const validator: Validator = (value) => {
    const validate = passes()
    if (validate(value)) return true
    validator.problems = validate.errors ?? []
    if (isSmall(value)) {
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

export function compile (ajv: Ajv, schema: object): ValidateFunction {
  const validate = ajv.compile(schema)
  // Ajv would keep schemas alive that nothing else refers to.
  ajv.removeSchema(schema)
  return validate
}

/** Whether a JSON value holds at most SMALL_INPUT values. */
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

/** The members of a JSON Schema that prepareInput() and messages read. */
export interface InputSchema extends DescribedSchema {
  properties?: Record<string, InputSchema>
  additionalProperties?: unknown
  items?: InputSchema
}

/**
 * Applies the contract's rules for bodies before validation, in place: null means that an optional field is absent, and
 * a numeric string is converted where the schema has a number. A map without named properties, such as metadata, keeps
 * its nulls.
 */
export function prepareInput (value: unknown, { properties = {} }: InputSchema): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const map = value as Record<string, unknown>
  for (const [name, property] of Object.entries(properties)) {
    const member = Object.hasOwn(map, name) ? map[name] : undefined
    if (member === null) delete map[name]
    else if (typeof member === 'string' && isNumeric(property.type)) map[name] = readNumber(member)
    else if (Array.isArray(member) && property.items?.type === 'object') {
      for (const item of member) prepareInput(item, property.items)
    } else if (property.type === 'object') prepareInput(member, property)
  }
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
