import { boundsOf } from '../../../lib/config/schema.js'
import { KIND_NAMES, KINDS, MAX_CONTENT_LENGTH } from '../texts.js'
import { isMap, mapOf, type ValueGenerator } from './long-values.js'
import { isObject, type Json, type Schema } from './schema-walk.js'

/*
 * Generators of the largest values that the bounds allow. What exceeds a bound is refused by the validation, so only
 * these reach the work behind it.
 */

const { array_elements: MAX_ELEMENTS, json_values: MAX_VALUES, json_depth: MAX_DEPTH } = boundsOf()
/** The length of a text for which neither the schema nor the configuration has a bound. */
const LONG_TEXT = 250_000
/** Levels and values of a body around the place of a value. */
const DEPTH_AROUND = 16
const VALUES_AROUND = 100

export interface PlaceToFill {
  schema: Schema
  /** A valid value of the place, and of an element and its schema when it is a list. */
  sample: Json
  element: Json | undefined
  elementSchema: Schema
  /** Whether the value is the whole body. */
  isWhole: boolean
}

/** @param seed of the texts */
export function valuesWithinBounds (place: PlaceToFill, seed: number): ValueGenerator[] {
  const { schema, sample, element, elementSchema, isWhole } = place
  return [
    ...(isFreeText(schema) ? textsWithin(schema, seed) : []),
    ...(element === undefined ? [] : listsWithin(schema, element, elementSchema, seed)),
    ...(isMap(schema) ? mapsWithin() : []),
    ...(isWhole
      ? [{
          name: 'white space up to the limit of a body',
          make: (bytes: number) => JSON.stringify(sample) + ' '.repeat(bytes - lengthOf(sample)),
        }]
      : []),
  ]
}

export function isFreeText ({ type, enum: choices, const: only, format, pattern }: Schema): boolean {
  return [type].flat().includes('string') && [choices, only, format, pattern].every((given) => given === undefined)
}

function textsWithin ({ maxLength }: Schema, seed: number): ValueGenerator[] {
  const longest = maxLength ?? MAX_CONTENT_LENGTH
  const ofLength = (kind: typeof KIND_NAMES[number], length: number): ValueGenerator => ({
    name: `${length} characters of ${kind}`,
    make: (bytes) => JSON.stringify(KINDS[kind](Math.min(length, bytes), seed)),
  })
  return [
    ...KIND_NAMES.map((kind) => ofLength(kind, longest)),
    ofLength('words', longest - 1),
    ...(maxLength === undefined ? [ofLength('words', LONG_TEXT)] : []),
    { name: `${longest} quotes`, make: () => JSON.stringify('"'.repeat(longest)) },
  ]
}

function listsWithin (schema: Schema, element: Json, elementSchema: Schema, seed: number): ValueGenerator[] {
  const most = Math.min(
    schema.maxItems ?? MAX_ELEMENTS, Math.floor((MAX_VALUES - VALUES_AROUND) / valuesIn(element)),
  )
  const list = (count: number, at: (index: number) => Json) => (
    `[${Array.from({ length: count }, (_, index) => JSON.stringify(at(index))).join(',')}]`
  )
  const longest = isFreeText(elementSchema) ? elementSchema.maxLength : MAX_CONTENT_LENGTH
  return [
    ...[most, most - 1].map((count) => ({
      name: `${count} different elements`,
      make: () => list(count, (index) => withTexts(element, (text) => numbered(text, index))),
    })),
    ...(longest === undefined
      ? []
      : [{
          name: `${most} elements that are as long as fits`,
          make: (bytes: number) => {
            // A quarter is left for the rest of an element.
            const length = Math.min(longest, Math.max(1, Math.floor(bytes * 3 / 4 / most)))
            return list(most, (index) => withTexts(
              element, (text) => isFree(text) ? KINDS.words(length, seed + index) : numbered(text, index),
            ))
          },
        }]),
  ]
}

function mapsWithin (): ValueGenerator[] {
  const levels = MAX_DEPTH - DEPTH_AROUND
  return [
    ...[MAX_ELEMENTS, MAX_ELEMENTS - 1, 100].map((count) => ({
      name: `${count} members with a text`, make: () => mapOf('"a"', count)(Infinity),
    })),
    { name: `${levels} levels`, make: () => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}` },
  ]
}

/** A sample of a schema has this letter, or several, where any text is allowed. */
const isFree = (text: string) => /^a+$/.test(text)
const UUID_END = /^([0-9a-f]{8}-(?:[0-9a-f]{4}-){3})[0-9a-f]{12}$/

/** The same text with a number, where its schema allows that. */
function numbered (text: string, index: number): string {
  if (isFree(text)) return `a${index}`
  return text.replace(UUID_END, `$1${index.toString(16).padStart(12, '0')}`)
}

function withTexts (value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((element) => withTexts(element, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTexts(member, change)]))
}

function valuesIn (value: Json): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1)
}

const lengthOf = (value: Json) => Buffer.byteLength(JSON.stringify(value))
