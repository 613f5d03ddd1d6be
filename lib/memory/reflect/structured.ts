import secureJson from 'secure-json-parse'
import { runSync, type Steps } from '../../concurrency/steps.js'
import type { JsonSchema } from '../../models/language-model.js'
import { isAbstention } from './abstention.js'
import { hasDuplicateName, jsonObjectsIn } from './json-text.js'
import { problemSteps } from './schema-instance.js'
import { isJsonObject } from '../../validation/json-object.js'

/** Maximum nesting of lists and objects; the schema of a caller allows far less. */
const MAX_DEPTH = 64
/** Maximum number of problems that are sent back to the model; more would not help it. */
const MAX_REPORTED_PROBLEMS = 10
const MEMBERS = ['answer', 'structured']

type ObjectReading =
  | { ok: true, value: Readonly<Record<string, unknown>> }
  | { ok: false, problems: string[] }

type StructuredReading =
  | { ok: true, answer: string, structured: Record<string, unknown> }
  | { ok: false, problems: string[] }

/** The schema of the JSON object that the model returns: the answer in words, and the value by the caller's schema. */
export function wrapSchema (schema: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { answer: { type: 'string' }, structured: schema },
    required: [...MEMBERS],
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
function * readJsonObject (text: string): Steps<ObjectReading> {
  for (const { json, depth } of jsonObjectsIn(text)) {
    if (depth > MAX_DEPTH) return failed(`must not be nested more than ${MAX_DEPTH} deep`)
    const value = parse(json)
    yield
    if (!isJsonObject(value)) continue
    if (hasDuplicateName(json)) return failed('must not have a name twice in one object')
    yield
    if (holdsInfinity(value)) return failed('must hold no number that is too great')
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
export function * readStructuredSteps (text: string, schema: JsonSchema): Steps<StructuredReading> {
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

function holdsInfinity (value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity)
}
