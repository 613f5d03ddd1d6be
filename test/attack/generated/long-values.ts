import type { Json, Schema } from './schema-walk.js'

/*
 * Generators of long JSON values, which are put at a place in a body.
 */

export interface ValueGenerator {
  name: string
  /** @param bytes the maximum length */
  make (bytes: number): string
}

/** Shorter values show whether a value is handled correctly, longer ones what it costs. */
const SHORT = 2000

const repeated = (piece: string, bytes: number) =>
  piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(piece))))
const listOf = (element: string) => (bytes: number) => (
  `[${repeated(`${element},`, bytes - element.length - 2)}${element}]`
)
const text = (piece: string) => (bytes: number) => `"${repeated(piece, bytes - 2)}"`
const constant = (value: string) => () => value
const nested = (open: string, core: string, close: string) => (bytes: number) => {
  const depth = Math.max(1, Math.floor((bytes - core.length) / (open.length + close.length)))
  return `${open.repeat(depth)}${core}${close.repeat(depth)}`
}

/** Members with different short names, at most `count`. */
export function mapOf (value: string, count = Infinity): (bytes: number) => string {
  return (bytes) => {
    const parts: string[] = []
    for (let index = 0, used = 2; used < bytes && index < count; index++) {
      const member = `"${index.toString(36)}":${value}`
      used += member.length + 1
      parts.push(member)
    }
    return `{${parts.join(',')}}`
  }
}

/** Different texts, all of the same length. */
function distinctTexts (bytes: number): string {
  return `[${Array.from({ length: Math.max(1, Math.floor(bytes / 9)) }, (_, index) => (
    `"${index.toString(36).padStart(6, '0')}"`
  )).join(',')}]`
}

const fixed = (name: string, value: string): ValueGenerator => ({ name, make: constant(value) })

/** Values for any place, whatever its schema is. */
const ANYWHERE: readonly ValueGenerator[] = [
  { name: 'list of {}', make: listOf('{}') },
  { name: 'list of numbers', make: listOf('1') },
  { name: 'list of nulls', make: listOf('null') },
  { name: 'list of lists', make: listOf('[]') },
  { name: 'list of texts', make: listOf('"a"') },
  { name: 'list of different texts', make: distinctTexts },
  { name: 'map of numbers', make: mapOf('1') },
  { name: 'map of lists', make: mapOf('[]') },
  { name: 'the same member again', make: (bytes) => `{${repeated('"a":1,', bytes - 8)}"b":1}` },
  { name: 'long key', make: (bytes) => `{"${repeated('k', bytes - 8)}":1}` },
  { name: 'long text', make: text('a') },
  { name: 'text of words', make: text('ab cd ') },
  { name: 'text that expands', make: text('\ufdfa') },
  { name: 'text of escapes', make: text('\\u0000') },
  { name: 'long number', make: (bytes) => repeated('9', bytes) },
  { name: 'long fraction', make: (bytes) => `0.${repeated('1', bytes - 2)}` },
  { name: 'numeric text', make: text('9') },
  { name: 'lists in lists', make: nested('[', '', ']') },
  { name: 'maps in maps', make: nested('{"a":', '1', '}') },
  { name: 'lists that do not end', make: (bytes) => repeated('[', bytes) },
  fixed('1e999', '1e999'),
  fixed('-1e999', '-1e999'),
  fixed('1e-999999999', '1e-999999999'),
  fixed('9007199254740993', '9007199254740993'),
  fixed('null', 'null'),
  fixed('true', 'true'),
  fixed('empty text', '""'),
  fixed('empty list', '[]'),
  fixed('empty map', '{}'),
  fixed('__proto__', '{"__proto__":{"a":1}}'),
  fixed('NUL', '"a\\u0000b"'),
  fixed('half a surrogate', '"\\ud800"'),
]

/**
 * All ways to fill a place: those that fit anywhere, and what its own schema just allows or just does not.
 * @param sample a valid value of the place; @param element of an element of it, when it is a list
 */
export function growthsOf (schema: Schema, sample: Json, element: Json | undefined): ValueGenerator[] {
  const own: ValueGenerator[] = []
  if (element !== undefined) {
    const valid = JSON.stringify(element)
    own.push({ name: 'list of valid elements', make: listOf(valid) })
    const { maxItems } = schema
    if (maxItems !== undefined) {
      own.push(
        ...[maxItems, maxItems + 1].map((count) => fixed(
          `${count} valid elements`, `[${Array.from({ length: count }, () => valid).join(',')}]`,
        )),
      )
    }
  }
  if (isMap(schema)) own.push({ name: 'map of texts', make: mapOf('"a"') }, fixed('20 members', mapOf('1')(200)))
  if (schema.maxLength !== undefined) {
    own.push(
      ...[schema.maxLength, schema.maxLength + 1].map((length) => fixed(
        `${length} characters`, JSON.stringify('a'.repeat(length)),
      )),
    )
  }
  own.push({
    name: 'members that are unknown',
    make: (bytes) => isPlainObject(sample) ? merged(sample, mapOf('1')(bytes)) : mapOf('"x"')(bytes),
  })
  // Half of the costly inputs are found with small sizes too; quadratic growth shows at the full size.
  return [
    ...own, ...ANYWHERE,
    ...ANYWHERE.slice(0, 4).map(
      ({ name, make }) => ({ name: `short ${name}`, make: (bytes: number) => make(Math.min(bytes, SHORT)) }),
    ),
  ]
}

export const isMap = ({ type, additionalProperties }: Schema) => (
  type === 'object' && additionalProperties !== undefined && additionalProperties !== false
)

function isPlainObject (value: Json): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param more the text of an object with at least one member */
function merged (value: { [name: string]: Json }, more: string): string {
  const own = JSON.stringify(value).slice(1, -1)
  return own === '' ? more : `{${own},${more.slice(1)}`
}
