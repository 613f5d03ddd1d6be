import { isDeepStrictEqual } from 'node:util'
import type { Steps } from '../../concurrency/steps.js'
import type { JsonSchema } from '../../models/language-model.js'
import { codePointsUpTo } from '../../validation/code-points.js'
import { shorten } from '../../validation/shorten.js'
import { brokenFormat } from './formats.js'
import { isJsonObject } from '../../validation/json-object.js'

/** Maximum number of problems reported for one value. */
const MAX_PROBLEMS = 20
/**
 * Maximum number of comparisons of a value and its parts with schemas, values of `enum` and names. A long list under a
 * long `anyOf` multiplies them, which could take minutes.
 */
const MAX_COMPARISONS = 500_000
/** Comparisons that one step makes. */
const COMPARISONS_PER_STEP = 256
/** Characters of a text that count as one comparison. */
const CHARACTERS_PER_COMPARISON = 128
/** Maximum length of a name in a problem: the model may invent names as long as its answer. */
const MAX_NAME_CHARACTERS = 100

interface Comparisons {
  /** How many remain. */
  left: number
  /** How many were made since the last step. */
  ofStep: number
}

interface CheckContext {
  path: string
  problems: string[]
  comparisons: Comparisons
}

/**
 * Checks a value by the keywords of response-schema.ts (JSON Schema 2020-12, where `format` is an assertion). It is a
 * separate interpreter, because Ajv generates code from a schema, and TypeBox treats an inherited name (`toString`) as
 * a property and collects problems without bound. Nothing is cached.
 * @param schema one that passed checkResponseSchema
 * @returns at most 20 problems without values, such as `structured.age: must be integer`; none when the value satisfies
 *   the schema
 */
export function * problemSteps (schema: JsonSchema, value: unknown): Steps<string[]> {
  return yield * problemsWithin(schema, value, { left: MAX_COMPARISONS, ofStep: 0 })
}

function * problemsWithin (schema: JsonSchema, value: unknown, comparisons: Comparisons): Steps<string[]> {
  const place: CheckContext = { path: '', problems: [], comparisons }
  yield * checkInstance(schema, value, place)
  return place.problems
}

function * checkInstance (schema: unknown, value: unknown, place: CheckContext): Steps<void> {
  if (!isJsonObject(schema) || place.problems.length >= MAX_PROBLEMS || !(yield * consume(place, 1))) return
  const types = own(schema, 'type')
  if (types !== undefined && !(Array.isArray(types) ? types : [types]).some((type) => isOfType(value, type))) {
    addProblem(place, `must be ${(Array.isArray(types) ? types : [types]).join(' or ')}`)
    return
  }
  yield * checkAny(schema, value, place)
  if (typeof value === 'string') yield * checkText(schema, value, place)
  else if (typeof value === 'number') checkNumber(schema, value, place)
  else if (Array.isArray(value)) yield * checkList(schema, value, place)
  else if (isJsonObject(value)) yield * checkObject(schema, value, place)
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

function * checkAny (schema: JsonSchema, value: unknown, place: CheckContext): Steps<void> {
  const values = own(schema, 'enum')
  if (Array.isArray(values) && (yield * consume(place, values.length)) && !(yield * holds(values, value))) {
    addProblem(place, 'must be one of the values of enum')
  }
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema['const'], value)) {
    addProblem(place, 'must be the value of const')
  }
  const alternatives = own(schema, 'anyOf')
  if (!Array.isArray(alternatives)) return
  for (const alternative of alternatives as JsonSchema[]) {
    if ((yield * problemsWithin(alternative, value, place.comparisons)).length === 0) return
  }
  addProblem(place, 'must satisfy one of anyOf')
}

function * holds (values: readonly unknown[], value: unknown): Steps<boolean> {
  for (const [index, allowed] of values.entries()) {
    if (index % COMPARISONS_PER_STEP === COMPARISONS_PER_STEP - 1) yield
    if (isDeepStrictEqual(allowed, value)) return true
  }
  return false
}

function * checkText (schema: JsonSchema, value: string, place: CheckContext): Steps<void> {
  const [min, max] = [numberAt(schema, 'minLength'), numberAt(schema, 'maxLength')]
  const format = own(schema, 'format')
  if (min === undefined && max === undefined && format === undefined) return
  if (!(yield * consume(place, Math.floor(value.length / CHARACTERS_PER_COMPARISON)))) return
  // JSON Schema defines the length of a string in characters (RFC 8259), not in UTF-16 units.
  const length = min === undefined && max === undefined ? 0 : codePointsUpTo(value, Infinity)
  if (min !== undefined && length < min) addProblem(place, `must have at least ${min} characters`)
  if (max !== undefined && length > max) addProblem(place, `must have at most ${max} characters`)
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

function * checkList (schema: JsonSchema, value: readonly unknown[], place: CheckContext): Steps<void> {
  const [min, max] = [numberAt(schema, 'minItems'), numberAt(schema, 'maxItems')]
  if (min !== undefined && value.length < min) addProblem(place, `must have at least ${min} items`)
  if (max !== undefined && value.length > max) addProblem(place, `must have at most ${max} items`)
  const items = own(schema, 'items')
  if (items === undefined) return
  for (const [index, item] of value.entries()) {
    if (place.problems.length >= MAX_PROBLEMS) return
    yield * checkInstance(items, item, { ...place, path: `${place.path}[${index}]` })
  }
}

function * checkObject (
  schema: JsonSchema, value: Readonly<Record<string, unknown>>, place: CheckContext,
): Steps<void> {
  const inside = (name: string): CheckContext => {
    const shown = shorten(name, MAX_NAME_CHARACTERS)
    return { ...place, path: place.path === '' ? shown : `${place.path}.${shown}` }
  }
  const required = own(schema, 'required')
  const names: unknown[] = Array.isArray(required) ? required : []
  const members = Object.entries(value)
  if (!(yield * consume(place, names.length + members.length))) return
  for (const name of names) {
    if (place.problems.length >= MAX_PROBLEMS) return
    if (!Object.hasOwn(value, String(name))) addProblem(inside(String(name)), 'is required')
  }
  const properties = own(schema, 'properties')
  const isClosed = own(schema, 'additionalProperties') === false
  for (const [name, member] of members) {
    if (place.problems.length >= MAX_PROBLEMS) return
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) {
      yield * checkInstance(properties[name], member, inside(name))
    } else if (isClosed) {
      addProblem(inside(name), 'is not a property of the schema')
    }
  }
}

/** Counts comparisons, and yields after some. @returns whether they are within the bound */
function * consume (place: CheckContext, count: number): Steps<boolean> {
  const { comparisons } = place
  comparisons.left -= count
  comparisons.ofStep += count
  if (comparisons.left < 0) {
    addProblem(place, 'is too long to be checked')
    return false
  }
  if (comparisons.ofStep >= COMPARISONS_PER_STEP) {
    comparisons.ofStep = 0
    yield
  }
  return true
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
