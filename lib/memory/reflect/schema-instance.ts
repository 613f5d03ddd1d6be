import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../../models/language-model.js'
import { codePointsUpTo } from '../../validation/code-points.js'
import { shorten } from '../../validation/shorten.js'
import { brokenFormat } from './formats.js'
import { isJsonObject } from '../../validation/json-object.js'

/** Maximum number of problems reported for one value. */
const MAX_PROBLEMS = 20
/**
 * Maximum number of comparisons of a value and its parts with schemas and values of `enum`. A long list under a long
 * `anyOf` multiplies them, which could take minutes.
 */
const MAX_COMPARISONS = 500_000
/** Maximum length of a name in a problem: the model may invent names as long as its answer. */
const MAX_NAME_CHARACTERS = 100

interface CheckContext {
  path: string
  problems: string[]
  /** The remaining comparisons. */
  comparisonsLeft: { count: number }
}

/**
 * Checks a value by the keywords of response-schema.ts (JSON Schema 2020-12, where `format` is an assertion). It is a
 * separate interpreter, because Ajv generates code from a schema, and TypeBox treats an inherited name (`toString`) as
 * a property and collects problems without bound. Nothing is cached.
 * @param schema one that passed checkResponseSchema
 * @returns at most 20 problems without values, such as `structured.age: must be integer`; none when the value satisfies
 *   the schema
 */
export function problemsOf (schema: JsonSchema, value: unknown): string[] {
  return problemsWithin(schema, value, { count: MAX_COMPARISONS })
}

function problemsWithin (
  schema: JsonSchema, value: unknown, comparisonsLeft: CheckContext['comparisonsLeft'],
): string[] {
  const place: CheckContext = { path: '', problems: [], comparisonsLeft }
  checkInstance(schema, value, place)
  return place.problems
}

function checkInstance (schema: unknown, value: unknown, place: CheckContext): void {
  if (!isJsonObject(schema) || place.problems.length >= MAX_PROBLEMS || !consumeComparisons(place, 1)) return
  const types = own(schema, 'type')
  if (types !== undefined && !(Array.isArray(types) ? types : [types]).some((type) => isOfType(value, type))) {
    addProblem(place, `must be ${(Array.isArray(types) ? types : [types]).join(' or ')}`)
    return
  }
  checkAny(schema, value, place)
  if (typeof value === 'string') checkText(schema, value, place)
  else if (typeof value === 'number') checkNumber(schema, value, place)
  else if (Array.isArray(value)) checkList(schema, value, place)
  else if (isJsonObject(value)) checkObject(schema, value, place)
}

function isOfType (value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object': return isJsonObject(value)
    case 'array': return Array.isArray(value)
    case 'string': return typeof value === 'string'
    case 'number': return typeof value === 'number' && Number.isFinite(value)
    case 'integer': return Number.isInteger(value)
    case 'boolean': return typeof value === 'boolean'
    case 'null': return value === null
    default: return false
  }
}

function checkAny (schema: JsonSchema, value: unknown, place: CheckContext): void {
  const values = own(schema, 'enum')
  if (Array.isArray(values) && consumeComparisons(place, values.length) &&
    !values.some((allowed) => isDeepStrictEqual(allowed, value))) addProblem(place, 'must be one of the values of enum')
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema['const'], value)) {
    addProblem(place, 'must be the value of const')
  }
  const alternatives = own(schema, 'anyOf')
  if (Array.isArray(alternatives) &&
    !alternatives.some((schema: JsonSchema) => (
      problemsWithin(schema, value, place.comparisonsLeft).length === 0
    ))) addProblem(place, 'must satisfy one of anyOf')
}

function checkText (schema: JsonSchema, value: string, place: CheckContext): void {
  const [min, max] = [numberAt(schema, 'minLength'), numberAt(schema, 'maxLength')]
  // JSON Schema defines the length of a string in characters (RFC 8259), not in UTF-16 units.
  const length = min === undefined && max === undefined ? 0 : codePointsUpTo(value, Infinity)
  if (min !== undefined && length < min) addProblem(place, `must have at least ${min} characters`)
  if (max !== undefined && length > max) addProblem(place, `must have at most ${max} characters`)
  const format = own(schema, 'format')
  const rule = typeof format === 'string' ? brokenFormat(format, value) : undefined
  if (rule !== undefined) addProblem(place, rule)
}

function checkNumber (schema: JsonSchema, value: number, place: CheckContext): void {
  const bounds: Array<[keyword: string, breaks: (bound: number) => boolean, rule: string]> = [
    ['minimum', (bound) => value < bound, 'at least'],
    ['maximum', (bound) => value > bound, 'at most'],
    ['exclusiveMinimum', (bound) => value <= bound, 'more than'],
    ['exclusiveMaximum', (bound) => value >= bound, 'less than'],
  ]
  for (const [keyword, breaks, rule] of bounds) {
    const bound = numberAt(schema, keyword)
    if (bound !== undefined && breaks(bound)) addProblem(place, `must be ${rule} ${bound}`)
  }
}

function checkList (schema: JsonSchema, value: readonly unknown[], place: CheckContext): void {
  const [min, max] = [numberAt(schema, 'minItems'), numberAt(schema, 'maxItems')]
  if (min !== undefined && value.length < min) addProblem(place, `must have at least ${min} items`)
  if (max !== undefined && value.length > max) addProblem(place, `must have at most ${max} items`)
  const items = own(schema, 'items')
  if (items === undefined) return
  for (const [index, item] of value.entries()) {
    if (place.problems.length >= MAX_PROBLEMS) return
    checkInstance(items, item, { ...place, path: `${place.path}[${index}]` })
  }
}

function checkObject (schema: JsonSchema, value: Readonly<Record<string, unknown>>, place: CheckContext): void {
  const inside = (name: string): CheckContext => {
    const shown = shorten(name, MAX_NAME_CHARACTERS)
    return { ...place, path: place.path === '' ? shown : `${place.path}.${shown}` }
  }
  const required = own(schema, 'required')
  for (const name of Array.isArray(required) ? required : []) {
    if (!Object.hasOwn(value, String(name))) addProblem(inside(String(name)), 'is required')
  }
  const properties = own(schema, 'properties')
  const isClosed = own(schema, 'additionalProperties') === false
  for (const [name, member] of Object.entries(value)) {
    if (place.problems.length >= MAX_PROBLEMS) return
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) {
      checkInstance(properties[name], member, inside(name))
    } else if (isClosed) {
      addProblem(inside(name), 'is not a property of the schema')
    }
  }
}

/** Counts comparisons. @returns whether they are within the bound */
function consumeComparisons (place: CheckContext, count: number): boolean {
  place.comparisonsLeft.count -= count
  if (place.comparisonsLeft.count >= 0) return true
  addProblem(place, 'is too long to be checked')
  return false
}

function own (schema: JsonSchema, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
}

function numberAt (schema: JsonSchema, keyword: string): number | undefined {
  const value = own(schema, keyword)
  return typeof value === 'number' ? value : undefined
}

function addProblem ({ path, problems }: CheckContext, rule: string): void {
  if (problems.length < MAX_PROBLEMS) problems.push(path === '' ? rule : `${path}: ${rule}`)
}
