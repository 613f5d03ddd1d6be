import { isDeepStrictEqual } from 'node:util'
import secureJson from 'secure-json-parse'
import { codePointsUpTo } from '../base/code-points.js'
import { isJsonObject } from '../base/json-object.js'
import type { JsonSchema } from '../models/language-model.js'
import { isAbstention } from './citations.js'
import { brokenFormat, childPath, isFiniteThroughout } from './response-schema.js'

/** Work that can be suspended: a generator that yields at least once a millisecond or so, and returns its result. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps at once: for work that is known to be short. */
export function runSync<T> (steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Maximum number of brace-delimited texts that are tried: prose before the object may contain braces too. */
const MAX_OBJECTS = 8
const SPACE = new Set(' \t\n\r')

/** `depth` is the nesting depth of its lists and objects; 1 for a flat object. */
interface ObjectText { json: string, depth: number }

/**
 * The texts in balanced braces, in order; braces in JSON strings do not count. They do not overlap, so the time is
 * linear.
 */
function * jsonObjectsIn (text: string): Generator<ObjectText> {
  let from = 0
  for (let count = 0; count < MAX_OBJECTS; count++) {
    const start = text.indexOf('{', from)
    if (start < 0) return
    const found = balanced(text, start)
    if (found === undefined) return
    yield found
    from = start + found.json.length
  }
}

function balanced (text: string, start: number): ObjectText | undefined {
  let depth = 0
  let deepest = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      at = stringEnd(text, at) - 1
    } else if (character === '{' || character === '[') {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return { json: text.slice(start, at + 1), depth: deepest }
    }
  }
  return undefined
}

/** Whether an object in a valid JSON text has a name twice, however it is escaped. */
function hasDuplicateName (json: string): boolean {
  const open: Array<Set<string>> = []
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '{' || character === '[') open.push(new Set())
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = stringEnd(json, at)
      if (isName(json, end)) {
        const name = String(JSON.parse(json.slice(at, end)))
        const names = open.at(-1)!
        if (names.has(name)) return true
        names.add(name)
      }
      at = end - 1
    }
  }
  return false
}

function isName (json: string, end: number): boolean {
  let at = end
  while (SPACE.has(json[at] ?? '')) at += 1
  return json[at] === ':'
}

/**
 * @param start the index of the opening quotation mark
 * @returns the index after the closing one
 */
function stringEnd (text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return Math.min(at + 1, text.length)
}

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

interface CheckContext {
  path: string
  problems: string[]
  /** How many comparisons remain, and how many were made since the last step. */
  comparisons: { left: number, ofStep: number }
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

function * problemsWithin (
  schema: JsonSchema, value: unknown, comparisons: CheckContext['comparisons'],
): Steps<string[]> {
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
  const inside = (name: string): CheckContext => ({ ...place, path: childPath(place.path, name) })
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

/** Maximum nesting of lists and objects; the schema of a caller allows far less. */
const MAX_DEPTH = 64
/** Maximum number of problems that are sent back to the model; more would not help it. */
const MAX_REPORTED_PROBLEMS = 10

type Reading<T> = { ok: true } & T | { ok: false, problems: string[] }

/** The schema of the JSON object that the model returns: the answer in words, and the value by the caller's schema. */
export function wrapSchema (schema: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { answer: { type: 'string' }, structured: schema },
    required: ['answer', 'structured'],
    additionalProperties: false,
  }
}

/**
 * Reads the JSON object that a model wrote, alone, in a fence or within prose: the first text in balanced braces that
 * is JSON. The time is linear in the length of the text.
 *
 * It refuses duplicate names in one object, because parsers differ in which of them counts, `__proto__` (and
 * `constructor` with a `prototype`), numbers that are infinite, and everything that is not JSON, such as NaN.
 * @returns the object, or problems that contain no value of the text
 */
function * readJsonObject (text: string): Steps<Reading<{ value: Readonly<Record<string, unknown>> }>> {
  for (const { json, depth } of jsonObjectsIn(text)) {
    if (depth > MAX_DEPTH) return failed(`must not be nested more than ${MAX_DEPTH} deep`)
    const value = parse(json)
    yield
    if (!isJsonObject(value)) continue
    if (hasDuplicateName(json)) return failed('must not have a name twice in one object')
    yield
    if (!isFiniteThroughout(value)) return failed('must hold no number that is too great')
    return { ok: true, value }
  }
  return failed('must be one JSON object, complete and without __proto__')
}

/** @returns the object by readJsonObject; undefined when there is none */
export function readObject (text: string): Readonly<Record<string, unknown>> | undefined {
  const read = runSync(readJsonObject(text))
  return read.ok ? read.value : undefined
}

/**
 * Reads an answer that follows wrapSchema and ignores other properties. When the answer in words is an abstention,
 * `structured` may violate the schema, and is then returned empty.
 * @param schema of `structured`
 */
export function * readStructuredSteps (
  text: string, schema: JsonSchema,
): Steps<Reading<{ answer: string, structured: Record<string, unknown> }>> {
  // The rules for every answer ask for this word and nothing else, so a model may leave out the JSON.
  if (isAbstention(text)) return { ok: true, answer: text, structured: {} }
  const read = yield * readJsonObject(text)
  if (!read.ok) return read
  const answer = Object.hasOwn(read.value, 'answer') ? read.value['answer'] : undefined
  const problems = typeof answer === 'string' ? [] : ['answer: must be a string']
  const structured = Object.hasOwn(read.value, 'structured') ? read.value['structured'] : undefined
  const wrong = yield * structuredProblems(structured, schema)
  if (typeof answer === 'string' && isAbstention(answer)) {
    return { ok: true, answer, structured: wrong.length === 0 && isJsonObject(structured) ? structured : {} }
  }
  problems.push(...wrong)
  if (problems.length > 0 || typeof answer !== 'string' || !isJsonObject(structured)) return { ok: false, problems }
  return { ok: true, answer, structured }
}

function * structuredProblems (structured: unknown, schema: JsonSchema): Steps<string[]> {
  if (structured === undefined) return ['structured: is required']
  if (!isJsonObject(structured)) return ['structured: must be object']
  return (yield * problemSteps(schema, structured)).map((problem) => `structured: ${problem}`)
}

/** The message that asks the model to correct its JSON. */
export function repairMessage (problems: readonly string[]): string {
  return `Your last answer cannot be used:
${problems.slice(0, MAX_REPORTED_PROBLEMS).map((problem) => `- ${problem}`).join('\n')}
Write the whole answer again by the same rules, corrected: one JSON object with "answer" and "structured" that \
satisfies the schema, and nothing around it.`
}

function failed (problem: string): { ok: false, problems: string[] } {
  return { ok: false, problems: [problem] }
}

function parse (json: string): unknown {
  try {
    const value: unknown = secureJson.parse(json)
    return value
  } catch {
    return undefined
  }
}
