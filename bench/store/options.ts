import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { checkUrl } from '../database-url.js'

export const PARTS = ['small', 'big', 'many'] as const
export type Part = typeof PARTS[number]

export const USAGE = `npm run bench:store -- --url URI [options]
  --url URI          URI of a PostgreSQL database with pgvector, whose role may create schemas
  --memories N       half of them in one bank, half in banks of 100; default 100000
  --banks-only LIST  any of small (the banks of 100), big (the one bank), many (10,000 small banks are added);
                     default: all
  --full             the 10,000 banks have 100 memories each instead of 10
  --baseline         also measures plain full text search with ts_rank on the big bank
  --keep             keeps the schema in the database, so that plans can be examined
  --json FILE        also writes the figures there`

export interface Options {
  /** Connection URI. */
  url: string
  memories: number
  parts: ReadonlySet<Part>
  full: boolean
  baseline: boolean
  keep: boolean
  json: string | undefined
}

const MIN_MEMORIES = 2000
const MAX_MEMORIES = 10_000_000

/** @throws UnusableInput for a value that cannot be used; parseArgs itself throws for an unknown option */
export function readOptions (args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      url: { type: 'string' },
      memories: { type: 'string', default: '100000' },
      'banks-only': { type: 'string', default: PARTS.join(',') },
      full: { type: 'boolean', default: false },
      baseline: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  if (values.url === undefined) throw new UnusableInput(`--url is missing\n\n${USAGE}`)
  const memories = Number(values.memories)
  if (!Number.isInteger(memories) || memories < MIN_MEMORIES || memories > MAX_MEMORIES || memories % 200 !== 0) {
    throw new UnusableInput(`--memories: found ${JSON.stringify(values.memories)}, allowed are multiples of 200 from ` +
      `${MIN_MEMORIES} to ${MAX_MEMORIES}`)
  }
  const parts = readParts(values['banks-only'])
  if (values.baseline && !parts.has('big')) {
    throw new UnusableInput('--baseline is measured on the big bank, which --banks-only leaves out')
  }
  return {
    url: checkUrl(values.url),
    memories,
    parts,
    full: values.full,
    baseline: values.baseline,
    keep: values.keep,
    json: values.json,
  }
}

function readParts (text: string): Set<Part> {
  const names = new Set(text.split(',').map((name) => name.trim()))
  const parts = new Set(PARTS.filter((part) => names.delete(part)))
  if (names.size > 0) {
    throw new UnusableInput(`--banks-only: ${[...names].join(', ')} is not known; known are ${PARTS.join(', ')}`)
  }
  if (parts.has('many') && !parts.has('small')) {
    throw new UnusableInput('--banks-only: many is compared with small, so it needs it')
  }
  return parts
}
