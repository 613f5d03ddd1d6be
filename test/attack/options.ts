import { parseArgs } from 'node:util'
import { UnusableInput } from '../../bench/checker.js'
import { INPUTS } from './inputs/all.js'
import { STORES, type Store } from './target.js'

export const USAGE = `npm run attack -- [options]
  --only LIST        inputs by name or prefix of the name; "generated" are those from the OpenAPI document
  --store LIST       any of ${STORES.join(', ')}; default: all, postgres only with TEST_DATABASE_URL
  --heap MB          megabytes of the server's old generation; default 512
  --seconds N        time for the bodies from the OpenAPI document, on each store; default 60
  --seed N           seed of the order of those bodies; default 1
  --cases TEXT       of those only the ones whose names contain the text
  --list             only prints the names of the inputs
  --impact           instead measures p50 and p99 of 500 legitimate clients, without each input and with it
  --soak MINUTES     instead runs the inputs in turn on one server, and watches memory, files and descriptors
  --json FILE        also writes the results there`

export interface Options {
  /** Names of inputs. */
  inputs: string[]
  generated: boolean
  stores: Store[]
  heap: number
  seconds: number
  seed: number
  cases: string | undefined
  list: boolean
  impact: boolean
  soakMinutes: number | undefined
  json: string | undefined
  databaseUrl: string | undefined
}

const GENERATED = 'generated'

/** @throws UnusableInput for a value that cannot be used; parseArgs itself throws for an unknown option */
export function readOptions (args: string[], env: Readonly<Record<string, string | undefined>>): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      store: { type: 'string' },
      heap: { type: 'string', default: '512' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      cases: { type: 'string' },
      list: { type: 'boolean', default: false },
      impact: { type: 'boolean', default: false },
      soak: { type: 'string' },
      json: { type: 'string' },
    },
  })
  if (values.impact && values.soak !== undefined) throw new UnusableInput('--impact and --soak exclude each other')
  const databaseUrl = env['TEST_DATABASE_URL']
  return {
    ...selectInputs(values.only),
    stores: selectStores(values.store, databaseUrl),
    heap: wholeNumber('--heap', values.heap, 64, 65_536),
    seconds: wholeNumber('--seconds', values.seconds, 1, 86_400),
    seed: wholeNumber('--seed', values.seed, 0, 999_999_999),
    cases: values.cases,
    list: values.list,
    impact: values.impact,
    soakMinutes: values.soak === undefined ? undefined : wholeNumber('--soak', values.soak, 1, 10_000),
    json: values.json,
    databaseUrl,
  }
}

function selectInputs (only: string | undefined): Pick<Options, 'inputs' | 'generated'> {
  const names = INPUTS.map(({ name }) => name)
  if (only === undefined) return { inputs: names, generated: true }
  const wanted = words(only)
  // A whole name means that input alone, also where others begin with it.
  const matches = (word: string) => names.includes(word) ? [word] : names.filter((name) => name.startsWith(word))
  const unknown = wanted.filter((word) => word !== GENERATED && matches(word).length === 0)
  if (unknown.length > 0) throw new UnusableInput(`--only: ${unknown.join(', ')} is not known; --list prints the names`)
  const chosen = new Set(wanted.flatMap(matches))
  return { inputs: names.filter((name) => chosen.has(name)), generated: wanted.includes(GENERATED) }
}

function selectStores (given: string | undefined, databaseUrl: string | undefined): Store[] {
  if (given === undefined) return STORES.filter((store) => store !== 'postgres' || databaseUrl !== undefined)
  const wanted = words(given)
  const unknown = wanted.filter((word) => !STORES.some((store) => store === word))
  if (unknown.length > 0) {
    throw new UnusableInput(`--store: ${unknown.join(', ')} is not known; known are ${STORES.join(', ')}`)
  }
  if (wanted.includes('postgres') && databaseUrl === undefined) {
    throw new UnusableInput('--store postgres needs TEST_DATABASE_URL')
  }
  return STORES.filter((store) => wanted.includes(store))
}

const words = (list: string) => list.split(',').map((word) => word.trim()).filter((word) => word !== '')

function wholeNumber (option: string, text: string, min: number, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  if (!(number >= min && number <= max)) {
    throw new UnusableInput(`${option}: found ${JSON.stringify(text)}, allowed are whole numbers from ${min} to ${max}`)
  }
  return number
}
