import { INSTANT_RULE, parseInstant } from '../base/clock.js'
import { parseDay } from '../base/days.js'
import { isUuid } from '../base/ids.js'
import { isJsonObject } from '../base/json-object.js'
import { invalidField } from '../base/service-error.js'
import { shorten } from '../base/shorten.js'
import type { JsonSchema } from '../models/language-model.js'

/** A test takes time linear in the length of the text. A rule completes a sentence that begins with a field's name. */
const FORMATS: ReadonlyMap<string, { test: (text: string) => boolean, rule: string }> = new Map([
  ['date-time', { test: (text) => parseInstant(text) !== undefined, rule: INSTANT_RULE }],
  ['date', { test: (text) => parseDay(text) !== undefined, rule: 'must be a date like 2024-03-01' }],
  ['email', { test: isMailAddress, rule: 'must be an email address' }],
  [
    'uri',
    {
      test: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && !/\s/.test(text) && URL.canParse(text),
      rule: 'must be a URI',
    },
  ],
  ['uuid', { test: isUuid, rule: 'must be a UUID' }],
])

const FORMAT_NAMES: readonly unknown[] = [...FORMATS.keys()]

/** @returns the rule that the text breaks; undefined when it breaks none, or the format is unknown */
export function brokenFormat (name: string, text: string): string | undefined {
  const format = FORMATS.get(name)
  return format === undefined || format.test(text) ? undefined : format.rule
}

/** One @ between two parts without white space, the second with a dot. */
function isMailAddress (text: string): boolean {
  const [local, domain, more] = text.split('@', 3)
  return more === undefined && !/\s/.test(text) && local !== undefined && local !== '' && local.length <= 64 &&
    domain !== undefined && domain.length <= 255 && /^[^.]+(?:\.[^.]+)+$/.test(domain)
}

const FIELD = 'response_schema'
export const MAX_SCHEMA_BYTES = 16 * 1024
/** Maximum depth of nested schemas, including the root. */
export const MAX_SCHEMA_DEPTH = 8
/** Maximum number of properties of all objects together. */
export const MAX_SCHEMA_PROPERTIES = 256

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const MAX_NAME_CHARACTERS = 100
/** Deeper than any valid schema, including enum and const. */
const MAX_JSON_DEPTH = 64

type Check = (value: unknown, path: string, depth: number, budget: Budget) => void

interface Budget {
  properties: number
}

const must = (holds: (value: unknown) => boolean, rule: string): Check => (value, path) => {
  if (!holds(value)) throw invalidField(path, rule)
}
const text = must((value) => typeof value === 'string', 'must be a string')
/** 1e999 is parsed as Infinity, which JSON would write as null. */
const any = must(isFiniteThroughout, 'must hold finite numbers only')
const count = must((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'must be a whole number from 0')
const number = must(Number.isFinite, 'must be a number')

/**
 * The supported keywords of JSON Schema 2020-12. `pattern` is not supported: a caller's regular expression may never
 * terminate.
 */
const KEYWORDS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['type', checkType],
  ['properties', checkProperties],
  ['required', checkNames],
  ['additionalProperties', must((value) => typeof value === 'boolean', 'must be true or false')],
  ['items', checkSchema],
  ['enum', checkEnum],
  ['const', any],
  ['anyOf', checkAlternatives],
  ['title', text],
  ['description', text],
  ['default', any],
  ['minLength', count],
  ['maxLength', count],
  ['minItems', count],
  ['maxItems', count],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['format', must((value) => FORMAT_NAMES.includes(value), `must be one of ${FORMAT_NAMES.join(', ')}`)],
])

/**
 * Checks the schema that a caller gives for an answer: the schema of an object, at most 16 KiB as JSON, 8 schemas deep,
 * with 256 properties altogether and only with the keywords above.
 * @throws ServiceError invalid_request with the field (`response_schema.properties.a.type`)
 */
export function checkResponseSchema (schema: unknown): JsonSchema {
  if (!isJsonObject(schema)) throw invalidField(FIELD, 'must be a JSON Schema, an object')
  // Checked first, because JSON.stringify and the checks below recurse as deep as the value, and would take long for
  // the megabytes that a body may have.
  const bytesLeft = leftOfBytes(schema, MAX_SCHEMA_BYTES, MAX_JSON_DEPTH)
  if (bytesLeft < 0 || Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    throw invalidField(FIELD, `must not be longer than ${MAX_SCHEMA_BYTES} bytes as JSON`)
  }
  if (schema['type'] !== 'object') throw invalidField(`${FIELD}.type`, 'must be "object"')
  checkSchema(schema, FIELD, 1, { properties: 0 })
  return schema
}

function checkSchema (schema: unknown, path: string, depth: number, budget: Budget): void {
  if (!isJsonObject(schema)) throw invalidField(path, 'must be a JSON Schema, an object')
  if (depth > MAX_SCHEMA_DEPTH) throw invalidField(path, `must not be more than ${MAX_SCHEMA_DEPTH} schemas deep`)
  for (const [keyword, value] of Object.entries(schema)) {
    const check = KEYWORDS.get(keyword)
    if (check === undefined) {
      throw invalidField(
        childPath(path, keyword), `is not a supported keyword; supported are ${[...KEYWORDS.keys()].join(', ')}`,
      )
    }
    check(value, childPath(path, keyword), depth, budget)
  }
}

function checkType (value: unknown, path: string): void {
  const types: readonly unknown[] = Array.isArray(value) ? value : [value]
  const isKnown = types.length > 0 && types.every((type) => typeof type === 'string' && TYPES.includes(type))
  if (!isKnown || new Set(types).size < types.length) {
    throw invalidField(path, `must be one of ${TYPES.join(', ')}, or a list of these`)
  }
}

function checkProperties (value: unknown, path: string, depth: number, budget: Budget): void {
  if (!isJsonObject(value)) throw invalidField(path, 'must be an object of schemas')
  for (const [name, schema] of Object.entries(value)) {
    budget.properties += 1
    if (budget.properties > MAX_SCHEMA_PROPERTIES) {
      throw invalidField(FIELD, `must not have more than ${MAX_SCHEMA_PROPERTIES} properties altogether`)
    }
    // An answer with this property is refused as an attack, so the schema cannot be satisfied.
    if (name === '__proto__') throw invalidField(childPath(path, name), 'is not a name that a property can have')
    checkSchema(schema, childPath(path, name), depth + 1, budget)
  }
}

function checkNames (value: unknown, path: string): void {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    throw invalidField(path, 'must be a list of names')
  }
  if (value.includes('__proto__')) throw invalidField(path, 'must not name __proto__')
}

function checkEnum (value: unknown, path: string, depth: number, budget: Budget): void {
  if (!Array.isArray(value) || value.length === 0) throw invalidField(path, 'must be a list of at least one value')
  any(value, path, depth, budget)
}

/** Whether all numbers in it are finite. */
export function isFiniteThroughout (value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isFiniteThroughout)
}

function checkAlternatives (value: unknown, path: string, depth: number, budget: Budget): void {
  if (!Array.isArray(value) || value.length === 0) throw invalidField(path, 'must be a list of at least one schema')
  value.forEach((schema: unknown, index) => { checkSchema(schema, `${path}[${index}]`, depth + 1, budget) })
}

/**
 * What is left of `bytes` when a value is written as JSON, at most: a text counts as its characters, and another value
 * as one byte. It reads no more of the value than the bytes allow.
 * @returns less than 0 when the JSON is longer
 * @throws ServiceError when a value within the bytes is nested more than `levels` deep
 */
function leftOfBytes (value: unknown, bytes: number, levels: number): number {
  if (typeof value === 'string') return bytes - value.length
  let left = bytes - 1
  if (typeof value !== 'object' || value === null) return left
  if (levels === 0) throw invalidField(FIELD, `is nested too deeply; the maximum is ${MAX_JSON_DEPTH} levels`)
  // An array gets no list of its names, which may be as many as its values.
  const isList = Array.isArray(value)
  for (const name in value) {
    if (!isList) left -= name.length
    if (left >= 0) left = leftOfBytes((value as Record<string, unknown>)[name], left, levels - 1)
    if (left < 0) break
  }
  return left
}

/** @param name may be as long as a schema or an answer */
export function childPath (path: string, name: string): string {
  const shown = shorten(name, MAX_NAME_CHARACTERS)
  return path === '' ? shown : `${path}.${shown}`
}
