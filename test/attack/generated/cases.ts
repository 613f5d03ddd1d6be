import { seededRandom, type Random } from '../../../bench/http/vocabulary.js'
import type { Request } from '../client.js'
import { FOREIGN_BANK, OWN_BANK, OWNER, SOURCE, OUTSIDER } from '../target.js'
import { BODY_LIMIT } from '../texts.js'
import type { Case } from './case.js'
import { headerCases, pathCases, queryCases } from './head-cases.js'
import { growthsOf, type ValueGenerator } from './long-values.js'
import { around, isObject, operationsOf, SchemaReader, type Json, type Operation } from './schema-walk.js'
import { isFreeText, valuesWithinBounds } from './within-bounds.js'

/** What fits into the limit of a body together with what surrounds it. */
const ROOM = BODY_LIMIT - 1024
const MEMORY_ID = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'

/** The owner on her bank, and one without rights on another's; what of a document only the gateway itself knows. */
const CALLERS = [{ principal: OWNER, bank: OWN_BANK }, { principal: OUTSIDER, bank: FOREIGN_BANK }] as const
type Caller = typeof CALLERS[number]

const knownOf = ({ bank }: Caller): Record<string, Json> => ({
  bank_id: bank,
  banks: [bank],
  source_id: SOURCE,
  memory_id: MEMORY_ID,
  memory_ids: [MEMORY_ID],
  conversation_id: 'talk',
})

/**
 * Every way to fill every place of every operation, in an order that follows from the seed. The operations take turns,
 * and so do values within the bounds, values beyond them, and heads: in whatever time there is, none is left out
 * because another has a great schema. Values within the bounds are sent only by the owner, and heads too, because the
 * other caller is refused before them.
 */
export function casesOf (document: unknown, seed: number): Case[] {
  const reader = new SchemaReader(document)
  const elements = new SchemaReader(withoutExamplesOfTexts(document))
  const random = seededRandom(seed)
  const groups = operationsOf(document).flatMap((operation) => CALLERS.map((caller) => {
    const { within, beyond } = bodyCases(reader, elements, operation, caller, seed)
    const known = knownOf(caller)
    const sample = sampleRequest(reader, operation, caller)
    const queries = queryCases(operation, sample)
    const heads = caller.principal === OWNER
      ? [...pathCases(operation, sample, known), ...headerCases(operation, sample)]
      : []
    const named = [queries, heads].map((list) => list.map(({ name, request }) => (
      { name: `${name}, as ${caller.principal}`, request }
    )))
    return inTurn([within, beyond, ...named].map((list) => shuffle(list, random)))
  }))
  return inTurn(groups)
}

/** The first of each list, then the second of each. */
function inTurn<T> (lists: readonly T[][]): T[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: rounds }, (_, round) => lists.flatMap((list) => list.slice(round, round + 1))).flat()
}

function pathOf (path: string, caller: Caller): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const known = knownOf(caller)[name]
    return typeof known === 'string' ? known : 'a'
  })
}

/** A valid request, as far as the document tells. */
function sampleRequest (reader: SchemaReader, { method, path, body }: Operation, caller: Caller): Request {
  const made = { method, path: pathOf(path, caller), principal: caller.principal }
  if (body === undefined) return made
  const headers = { 'content-type': body.contentType }
  if (isLines(body)) return { ...made, headers, body: `${HEADER}{"text":"a"}\n` }
  return { ...made, headers, body: JSON.stringify(wholeSample(reader, body.schema, knownOf(caller))) }
}

/** The document, in which a sample of a text that may be any is not one of the examples. */
function withoutExamplesOfTexts (document: unknown): unknown {
  return JSON.parse(JSON.stringify(document, function (this: unknown, key, value: unknown) {
    return key === 'examples' && isObject(this) && isFreeText(this) ? undefined : value
  })) as unknown
}

/** A body of lines has no schema of a line: the lines are what grows. */
function isLines ({ contentType }: { contentType: string }): boolean {
  return !contentType.includes('json') || contentType.includes('ndjson')
}

/** @param elements samples elements of lists, whose free texts are changed */
function bodyCases (
  reader: SchemaReader, elements: SchemaReader, operation: Operation, caller: Caller, seed: number,
): { within: Case[], beyond: Case[] } {
  const { method, path, body } = operation
  if (body === undefined) return { within: [], beyond: [] }
  type Sides = readonly [before: string, after: string]
  const make = (where: string, { name, make: text }: ValueGenerator, [before, after]: Sides): Case => ({
    name: `${method} ${path} ${where}: ${name}, as ${caller.principal}`,
    request: () => ({
      ...sampleRequest(reader, operation, caller),
      body: `${before}${text(ROOM - Buffer.byteLength(before) - Buffer.byteLength(after))}${after}`,
    }),
  })
  const known = knownOf(caller)
  if (isLines(body)) return { within: [], beyond: LINES.map((growth) => make('a line', growth, ['', ''])) }
  const { schema } = body
  const places = reader.places(schema).map((place) => {
    const own = reader.at(schema, place) ?? {}
    const [variant = {}] = reader.variants(own)
    const [elementSchema = {}] = variant.items === undefined ? [] : reader.variants(variant.items)
    const element = variant.items === undefined ? undefined : reader.sample(variant.items, known)
    const isWhole = place.length === 0
    const sample = isWhole ? wholeSample(reader, own, known) : reader.sample(own, known)
    const inPlace = (values: ValueGenerator[]) => values.map((value) => make(
      isWhole ? 'whole' : place.join('.'), value, around(reader, schema, place, known),
    ))
    const free = variant.items === undefined ? undefined : elements.sample(variant.items, known)
    const filled = { schema: variant, sample, element: free, elementSchema, isWhole }
    return {
      within: caller.principal === OWNER ? inPlace(valuesWithinBounds(filled, seed)) : [],
      beyond: inPlace(growthsOf(variant, sample, element)),
    }
  })
  return { within: places.flatMap(({ within }) => within), beyond: places.flatMap(({ beyond }) => beyond) }
}

/** The document's own example, with what the caller may use put in. */
function wholeSample (
  reader: SchemaReader, schema: Operation['query'][number]['schema'], known: Record<string, Json>,
): Json {
  const example = schema.example ?? reader.sample(schema, known)
  if (!isObject(example)) return example
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, known[name] ?? value]))
}

const HEADER = '{"format":"memory-gateway-export","version":1}\n'
const lines = (line: string) => (bytes: number) => (
  HEADER + `${line}\n`.repeat(Math.max(1, Math.floor((bytes - HEADER.length) / (line.length + 1))))
)

/** Of a body that is read line by line. */
const LINES: readonly ValueGenerator[] = [
  { name: 'no header', make: (bytes) => '{}\n'.repeat(bytes / 3) },
  { name: 'empty lines', make: lines('') },
  { name: 'the same line again', make: lines('{"text":"a"}') },
  { name: 'lines that are wrong', make: lines('{}') },
  { name: 'lines that are not JSON', make: lines('{') },
  { name: 'one long line', make: (bytes) => `${HEADER}{"text":"${'a'.repeat(bytes - 100)}"}` },
  { name: 'one deep line', make: (bytes) => HEADER + '['.repeat(bytes - 100) },
  {
    name: 'many members',
    make: (bytes) => (
      `${HEADER}{"text":"a","metadata":{${Array.from({ length: bytes / 14 }, (_, index) => `"${index.toString(36)}":1`)
        .join(',')}}}`
    ),
  },
  { name: 'many tags', make: (bytes) => `${HEADER}{"text":"a","tags":[${'"t",'.repeat(bytes / 4 - 50)}"t"]}` },
  {
    name: 'a header with a long member',
    make: (bytes) => `{"format":"memory-gateway-export","version":1,"x":"${'a'.repeat(bytes - 100)}"}\n`,
  },
  {
    name: 'a header with a configuration',
    make: (bytes) => (
      `{"format":"memory-gateway-export","version":1,"config":{"access":[${'{},'.repeat(bytes / 3 - 50)}{}]}}\n`
    ),
  },
]

/** Fisher and Yates. */
function shuffle<T> (items: readonly T[], random: Random): T[] {
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    ;[shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!]
  }
  return shuffled
}
