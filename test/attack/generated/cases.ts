import { seededRandom, type Random } from '../../../bench/http/vocabulary.js'
import type { Request } from '../client.js'
import { FOREIGN_BANK, OWN_BANK, OWNER, SOURCE, OUTSIDER } from '../target.js'
import { BODY_LIMIT } from '../texts.js'
import { growthsOf, type ValueGenerator } from './long-values.js'
import { around, isObject, operationsOf, SchemaReader, type Json, type Operation } from './schema-walk.js'

/** One request that is made from the document. */
export interface Case {
  name: string
  request: () => Request
}

/** What fits into the limit of a body together with what surrounds it. */
const ROOM = BODY_LIMIT - 1024
/** Node.js takes 16 KiB of a head. */
const URL_ROOM = 12_000
const MEMORY_ID = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'

/** The owner on her bank, and one without rights on another's; what of a document only the gateway itself knows. */
const CALLERS = [{ principal: OWNER, bank: OWN_BANK }, { principal: OUTSIDER, bank: FOREIGN_BANK }] as const
type Caller = typeof CALLERS[number]

const knownOf = ({ bank }: Caller): Record<string, Json> => ({
  bank_id: bank, banks: [bank], source_id: SOURCE, memory_id: MEMORY_ID, memory_ids: [MEMORY_ID],
})

/**
 * Every way to grow every place of every operation, for both callers, in an order that follows from the seed. The
 * operations take turns: in whatever time there is, none is left out because another has a great schema.
 */
export function casesOf (document: unknown, seed: number): Case[] {
  const reader = new SchemaReader(document)
  const random = seededRandom(seed)
  const groups = operationsOf(document).flatMap((operation) => CALLERS.map(
    (caller) => shuffle([...bodyCases(reader, operation, caller), ...queryCases(operation, caller)], random),
  ))
  const rounds = Math.max(...groups.map(({ length }) => length))
  return Array.from({ length: rounds }, (_, round) => groups.flatMap((group) => group[round] ?? [])).flat()
}

const pathOf = (path: string, caller: Caller) => path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
  const known = knownOf(caller)[name]
  return typeof known === 'string' ? known : 'a'
})

function bodyCases (reader: SchemaReader, { method, path, body }: Operation, caller: Caller): Case[] {
  if (body === undefined) return []
  const { contentType, schema } = body
  type Sides = readonly [before: string, after: string]
  const make = (where: string, { name, make: text }: ValueGenerator, [before, after]: Sides): Case => ({
    name: `${method} ${path} ${where}: ${name}, as ${caller.principal}`,
    request: () => ({
      method,
      path: pathOf(path, caller),
      principal: caller.principal,
      headers: { 'content-type': contentType },
      body: `${before}${text(ROOM - Buffer.byteLength(before) - Buffer.byteLength(after))}${after}`,
    }),
  })
  const known = knownOf(caller)
  // A body of lines has no schema of a line: the lines are what grows.
  if (!contentType.includes('json') || contentType.includes('ndjson')) {
    return LINES.map((growth) => make('a line', growth, ['', '']))
  }
  return reader.places(schema).flatMap((place) => {
    const own = reader.at(schema, place) ?? {}
    const [variant = {}] = reader.variants(own)
    const element = variant.items === undefined ? undefined : reader.sample(variant.items, known)
    const sample = place.length === 0 ? wholeSample(reader, own, known) : reader.sample(own, known)
    return growthsOf(variant, sample, element).map((growth) => make(
      place.length === 0 ? 'whole' : place.join('.'), growth, around(reader, schema, place, known),
    ))
  })
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

function queryCases ({ method, path, query }: Operation, caller: Caller): Case[] {
  const grown = query.flatMap(({ name }) => [
    [`${name}: long`, `${name}=${'a'.repeat(URL_ROOM)}`],
    [`${name}: long number`, `${name}=${'9'.repeat(URL_ROOM)}`],
    [`${name}: escapes`, `${name}=${'%00'.repeat(URL_ROOM / 3)}`],
    [
      `${name}: again and again`,
      Array.from({ length: Math.floor(URL_ROOM / (name.length + 3)) }, () => `${name}=1`).join('&'),
    ],
    [`${name}: members`, Array.from({ length: 500 }, (_, index) => `${name}[${index}]=1`).join('&')],
    [`${name}: empty`, `${name}=`],
    [`${name}: 1e999`, `${name}=1e999`],
    [`${name}: unknown beside it`, `${name}=1&${Array.from({ length: 1500 }, (_, index) => `q${index}`).join('&')}`],
  ])
  return grown.map(([name, text]) => ({
    name: `${method} ${path} ?${name}, as ${caller.principal}`,
    request: () => ({ method, path: `${pathOf(path, caller)}?${text}`, principal: caller.principal }),
  }))
}

/** Fisher and Yates. */
function shuffle<T> (items: readonly T[], random: Random): T[] {
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    ;[shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!]
  }
  return shuffled
}
