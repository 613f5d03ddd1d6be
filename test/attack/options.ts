import { parseArgs } from 'node:util'
import { UnusableInput } from '../../bench/checker.js'
import { INPUTS } from './inputs/all.js'
import { STORES, type Store } from './target.js'

export const USAGE = `npm run attack -- [options]
  --only LIST        inputs by name, or by how their names begin; "found" is those made from the OpenAPI document
  --store LIST       of ${STORES.join(', ')}; default: all, postgres when TEST_DATABASE_URL is set
  --heap MB          of the server's old generation; default 512
  --seconds N        for the bodies made from the OpenAPI document, on each store; default 60
  --seed N           of the order of those bodies; default 1
  --list             prints the names of the inputs and ends
  --beside           500 honest clients beside each input instead: their p50 and p99 without it and with it
  --soak MINUTES     the inputs in turns on one server instead: memory, files and descriptors
  --json FILE        also writes the results there`

export interface Options {
  /** Names of inputs. */
  inputs: string[]
  found: boolean
  stores: Store[]
  heap: number
  seconds: number
  seed: number
  list: boolean
  beside: boolean
  soakMinutes: number | undefined
  json: string | undefined
  databaseUrl: string | undefined
}

const FOUND = 'found'

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
      list: { type: 'boolean', default: false },
      beside: { type: 'boolean', default: false },
      soak: { type: 'string' },
      json: { type: 'string' },
    },
  })
  if (values.beside && values.soak !== undefined) throw new UnusableInput('--beside and --soak are two runs: give one of them')
  const databaseUrl = env['TEST_DATABASE_URL']
  return {
    ...selectInputs(values.only),
    stores: selectStores(values.store, databaseUrl),
    heap: wholeNumber('--heap', values.heap, 64, 65_536),
    seconds: wholeNumber('--seconds', values.seconds, 1, 86_400),
    seed: wholeNumber('--seed', values.seed, 0, 999_999_999),
    list: values.list,
    beside: values.beside,
    soakMinutes: values.soak === undefined ? undefined : wholeNumber('--soak', values.soak, 1, 10_000),
    json: values.json,
    databaseUrl,
  }
}

function selectInputs (only: string | undefined): Pick<Options, 'inputs' | 'found'> {
  const names = INPUTS.map(({ name }) => name)
  if (only === undefined) return { inputs: names, found: true }
  const wanted = words(only)
  // A whole name means that input alone, also where others begin with it.
  const matches = (word: string) => names.includes(word) ? [word] : names.filter((name) => name.startsWith(word))
  const unknown = wanted.filter((word) => word !== FOUND && matches(word).length === 0)
  if (unknown.length > 0) throw new UnusableInput(`--only: ${unknown.join(', ')} is not known; --list prints the names`)
  const chosen = new Set(wanted.flatMap(matches))
  return { inputs: names.filter((name) => chosen.has(name)), found: wanted.includes(FOUND) }
}

function selectStores (given: string | undefined, databaseUrl: string | undefined): Store[] {
  if (given === undefined) return STORES.filter((store) => store !== 'postgres' || databaseUrl !== undefined)
  const wanted = words(given)
  const unknown = wanted.filter((word) => !STORES.some((store) => store === word))
  if (unknown.length > 0) throw new UnusableInput(`--store: ${unknown.join(', ')} is not known; known are ${STORES.join(', ')}`)
  if (wanted.includes('postgres') && databaseUrl === undefined) throw new UnusableInput('--store postgres needs TEST_DATABASE_URL')
  return STORES.filter((store) => wanted.includes(store))
}

const words = (list: string) => list.split(',').map((word) => word.trim()).filter((word) => word !== '')

function wholeNumber (option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  if (!(number >= least && number <= most)) throw new UnusableInput(`${option}: found ${JSON.stringify(text)}, allowed are whole numbers from ${least} to ${most}`)
  return number
}
