import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { UnusableInput } from '../checked.js'
import { parseJson } from './conversation.js'
import { PIPELINES } from './pipelines.js'
import { STORES, type Embedder, type StoreName } from './setting.js'

const OWN_DATA = fileURLToPath(new URL('own-conversation.json', import.meta.url))

export const USAGE = `npm run bench:recall -- [--data FILE] [--json FILE] [--url URL | --store STORE --pipeline NAME --embedder NAME]
  --data FILE             conversations or facts with questions; default: the project's own conversation
  --json FILE             also writes the figures and the outcome of each question there
  --url URL               measures the server that runs there (dev mode) instead of starting the built one
  --store STORE           in_memory (the default), pglite (in a temporary folder), or postgres (DATABASE_URL, schema bench_recall)
  --pipeline NAME         ${Object.keys(PIPELINES).join(', ')}, or a file that ends in .yaml, whose section retrieval is used
  --embedder NAME         none (the default: the gateway's own default), local, transformers, openai_compatible, auto, or module:Class
  --embedder-config JSON  its embedding_provider_config
npm run bench:recall -- --compare A.json B.json
npm run bench:recall -- --table A.json B.json … [--write-table docs/recall-quality.md]
npm run bench:recall -- --floor bench/recall/floors.json [--store STORE]
npm run bench:recall -- --library [--memories 1500,20000] [--data FILE] [--pipeline NAME] [--json FILE]`

interface Common {
  data: string
  json: string | undefined
}

/** What is to be done: each way of use has its own options. */
export type Options =
  | Common & { mode: 'run', url: string }
  | Common & { mode: 'run', url?: undefined, store: StoreName, pipeline: string, embedder: Embedder }
  | Common & { mode: 'library', memories: number[], pipeline: string }
  | { mode: 'compare', a: string, b: string }
  | { mode: 'table', reports: string[], writeTo: string | undefined }
  | { mode: 'floor', floors: string, store: StoreName }

/** Which options go with which way of use; `--floor` and the like choose it. */
const ALLOWED = {
  run: ['data', 'json', 'url', 'store', 'pipeline', 'embedder', 'embedder-config'],
  compare: ['compare'],
  table: ['table', 'write-table'],
  floor: ['floor', 'store'],
  library: ['library', 'memories', 'data', 'json', 'pipeline'],
} as const satisfies Record<Options['mode'], readonly string[]>
const WITH_SERVER_OF_ITS_OWN = ['store', 'pipeline', 'embedder', 'embedder-config'] as const

/** @throws UnusableInput for options that cannot be used together or as they are; parseArgs itself throws for an unknown one */
export function readOptions (args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      json: { type: 'string' },
      url: { type: 'string' },
      store: { type: 'string' },
      pipeline: { type: 'string' },
      embedder: { type: 'string' },
      'embedder-config': { type: 'string' },
      compare: { type: 'boolean' },
      table: { type: 'boolean' },
      'write-table': { type: 'string' },
      floor: { type: 'string' },
      library: { type: 'boolean' },
      memories: { type: 'string' },
    },
  })
  const mode = values.compare === true ? 'compare' : values.table === true ? 'table' : values.floor !== undefined ? 'floor' : values.library === true ? 'library' : 'run'
  const allowed: readonly string[] = ALLOWED[mode]
  const strangers = Object.keys(values).filter((name) => !allowed.includes(name))
  if (strangers.length > 0) throw new UnusableInput(`${mode === 'run' ? '' : `--${mode}: `}${strangers.map((name) => `--${name}`).join(', ')} cannot be used here`)
  if (mode !== 'compare' && mode !== 'table' && positionals.length > 0) throw new UnusableInput(`found ${positionals.join(' ')}, files are given only to --compare and --table`)

  const common = { data: values.data ?? OWN_DATA, json: values.json }
  switch (mode) {
    case 'compare': {
      const [a, b, ...more] = positionals
      if (a === undefined || b === undefined || more.length > 0) throw new UnusableInput('--compare takes two files')
      return { mode, a, b }
    }
    case 'table':
      if (positionals.length === 0) throw new UnusableInput('--table takes the files of the runs')
      return { mode, reports: positionals, writeTo: values['write-table'] }
    case 'floor':
      return { mode, floors: values.floor!, store: storeOf(values.store) }
    case 'library':
      return { mode, ...common, memories: sizesOf(values.memories ?? '1500,20000'), pipeline: values.pipeline ?? 'default' }
    case 'run': {
      if (values.url === undefined) return { mode, ...common, store: storeOf(values.store), pipeline: values.pipeline ?? 'default', embedder: embedderOf(values.embedder, values['embedder-config']) }
      const own = WITH_SERVER_OF_ITS_OWN.filter((name) => values[name] !== undefined)
      if (own.length > 0) throw new UnusableInput(`--url and ${own.map((name) => `--${name}`).join(', ')} exclude each other`)
      return { mode, ...common, url: values.url }
    }
  }
}

function storeOf (text: string = 'in_memory'): StoreName {
  const store = STORES.find((name) => name === text)
  if (store === undefined) throw new UnusableInput(`--store: found ${text}, allowed are ${STORES.join(', ')}`)
  return store
}

function embedderOf (name: string = 'none', json: string | undefined): Embedder {
  if (json === undefined) return { name }
  if (name === 'none') throw new UnusableInput('--embedder-config needs --embedder')
  const config = parseJson(json, '--embedder-config')
  if (!isMap(config)) throw new UnusableInput('--embedder-config must be a JSON object')
  return { name, config }
}

function isMap (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sizesOf (list: string): number[] {
  return list.split(',').map((text) => {
    if (!/^[1-9]\d{0,6}$/.test(text.trim())) throw new UnusableInput(`--memories: found ${JSON.stringify(text)}, allowed are whole numbers from 1 to 9999999`)
    return Number(text)
  })
}
