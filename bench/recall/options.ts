import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { ATTRIBUTES, type Attribute } from './attributes.js'
import { parseJson } from './conversation.js'
import { PIPELINES } from './pipelines.js'
import { STORES, type Embedder, type StoreName } from './setting.js'
import { isJsonObject } from '../../lib/base/json-object.js'

const OWN_DATA = fileURLToPath(new URL('own-conversation.json', import.meta.url))
/** As the name of a pipeline: the default one with the embedder `local`. */
const LOCAL = 'local'

export const USAGE = `npm run bench:recall -- [--data FILE …] [--pipeline NAMES …] [--json FILE]
                          [--write-table PAGE] [--url URL | --in-process | --store STORE] [--embedder NAME]
  --data FILE             conversations or facts with questions, in any of the formats of docs/recall-quality.md;
                          may be given several times; default: the project's own conversation
  --limit N               measures N conversations of each, spread over the categories of their questions
  --speaker-field         retains the speaker as a field instead of a name before the text
  --without NAMES         of ${ATTRIBUTES.join(', ')}, separated by commas: retains the memories without these
  --pipeline NAMES        ${Object.keys(PIPELINES).join(', ')}, ${LOCAL} (the default with the embedder of that name),
                          or a file that ends in .yaml, whose section retrieval is used; several separated by
                          commas or given several times
  --json FILE             also writes the figures and the outcome of each question there: a report, or a list when
                          there are several
  --write-table PAGE      also puts the table between the markers of that page
  --url URL               measures the server that runs there (dev mode) instead of starting the built one
  --in-process            measures the built library in this process, without HTTP; each conversation is retained once
                          for all pipelines
  --vectors FILE          with --in-process: caches the vectors of ${LOCAL} in that file
  --store STORE           in_memory (the default), pglite (in a temporary folder), or postgres
                          (DATABASE_URL, schema bench_recall)
  --embedder NAME         none (the default: words only), local, transformers, openai_compatible, auto, or module:Class
  --embedder-config JSON  its embedding_provider_config
npm run bench:recall -- --compare A.json[#PIPELINE] B.json[#PIPELINE]
npm run bench:recall -- --table A.json[#PIPELINE] B.json … [--write-table docs/recall-quality.md]
npm run bench:recall -- --floor bench/recall/floors.json [--store STORE]
npm run bench:recall -- --library [--memories 1500,20000] [--data FILE] [--pipeline NAME] [--json FILE]`

/** A way of ranking that is measured. */
export interface Run {
  /** For reports. */
  name: string
  pipeline: string
  embedder: Embedder
}

interface Common {
  data: string[]
  limit: number | undefined
  omitted: Attribute[]
  speakerField: boolean
  json: string | undefined
  writeTo: string | undefined
}

/** The task: each mode has its own options. */
export type Options =
  | Common & { mode: 'run', at: 'url', url: string }
  | Common & { mode: 'run', at: 'server', store: StoreName, runs: Run[] }
  | Common & { mode: 'run', at: 'process', runs: Run[] }
  | { mode: 'library', data: string, json: string | undefined, memories: number[], pipeline: string }
  | { mode: 'compare', a: string, b: string }
  | { mode: 'table', reports: string[], writeTo: string | undefined }
  | { mode: 'floor', floors: string, store: StoreName }

/** The options allowed in each mode; `--floor` and the like choose it. */
const ALLOWED = {
  run: [
    'data', 'limit', 'without', 'speaker-field', 'json', 'write-table', 'url', 'in-process', 'store', 'pipeline',
    'embedder', 'embedder-config', 'vectors',
  ],
  compare: ['compare'],
  table: ['table', 'write-table'],
  floor: ['floor', 'store'],
  library: ['library', 'memories', 'data', 'json', 'pipeline'],
} as const satisfies Record<Options['mode'], readonly string[]>
const OWN_SERVER_OPTIONS = ['in-process', 'store', 'pipeline', 'embedder', 'embedder-config', 'vectors'] as const

/**
 * @throws UnusableInput for options that cannot be used together or as they are; parseArgs itself throws for an unknown
 * one
 */
export function readOptions (args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      data: { type: 'string', multiple: true },
      limit: { type: 'string' },
      without: { type: 'string' },
      'speaker-field': { type: 'boolean' },
      json: { type: 'string' },
      url: { type: 'string' },
      'in-process': { type: 'boolean' },
      store: { type: 'string' },
      pipeline: { type: 'string', multiple: true },
      embedder: { type: 'string' },
      'embedder-config': { type: 'string' },
      vectors: { type: 'string' },
      compare: { type: 'boolean' },
      table: { type: 'boolean' },
      'write-table': { type: 'string' },
      floor: { type: 'string' },
      library: { type: 'boolean' },
      memories: { type: 'string' },
    },
  })
  const mode = values.compare === true
    ? 'compare'
    : values.table === true
      ? 'table'
      : values.floor !== undefined ? 'floor' : values.library === true ? 'library' : 'run'
  const allowed: readonly string[] = ALLOWED[mode]
  const disallowed = Object.keys(values).filter((name) => !allowed.includes(name))
  if (disallowed.length > 0) {
    throw new UnusableInput(
      `${mode === 'run' ? '' : `--${mode}: `}${disallowed.map((name) => `--${name}`).join(', ')} cannot be used here`,
    )
  }
  if (mode !== 'compare' && mode !== 'table' && positionals.length > 0) {
    throw new UnusableInput(`found ${positionals.join(' ')}, files are given only to --compare and --table`)
  }

  const data = values.data ?? [OWN_DATA]
  const pipelines = (values.pipeline ?? ['default']).flatMap((list) => list.split(',')).map((name) => name.trim())
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
      return {
        mode,
        data: only(data, '--data'),
        json: values.json,
        memories: sizesOf(values.memories ?? '1500,20000'),
        pipeline: only(pipelines, '--pipeline'),
      }
    case 'run': {
      const common: Common & { mode: 'run' } = {
        mode,
        data,
        limit: values.limit === undefined ? undefined : only(sizesOf(values.limit, '--limit'), '--limit'),
        speakerField: values['speaker-field'] === true,
        omitted: values.without === undefined ? [] : attributesOf(values.without),
        json: values.json,
        writeTo: values['write-table'],
      }
      if (values.url !== undefined) {
        const own = OWN_SERVER_OPTIONS.filter((name) => values[name] !== undefined)
        if (own.length > 0) {
          throw new UnusableInput(`--url and ${own.map((name) => `--${name}`).join(', ')} exclude each other`)
        }
        return { ...common, at: 'url', url: values.url }
      }
      const embedder = embedderOf(values.embedder, values['embedder-config'])
      const runs = pipelines.map((name) => runOf(name, embedder)).map((run) => withVectors(run, values.vectors))
      if (values['in-process'] !== true) {
        if (values.vectors !== undefined) throw new UnusableInput('--vectors needs --in-process')
        return { ...common, at: 'server', store: storeOf(values.store), runs }
      }
      if (values.store !== undefined) throw new UnusableInput('--in-process and --store exclude each other')
      return { ...common, at: 'process', runs }
    }
  }
}

function runOf (name: string, embedder: Embedder): Run {
  if (name !== LOCAL) return { name, pipeline: name, embedder }
  if (embedder.name !== 'none' && embedder.name !== LOCAL) {
    throw new UnusableInput(`--pipeline ${LOCAL} and --embedder ${embedder.name} exclude each other`)
  }
  return { name, pipeline: 'default', embedder: { ...embedder, name: LOCAL } }
}

function withVectors (run: Run, file: string | undefined): Run {
  return file === undefined || run.embedder.name !== LOCAL
    ? run
    : { ...run, embedder: { ...run.embedder, vectors: resolve(file) } }
}

function only<T> (values: readonly T[], option: string): T {
  const [first, ...more] = values
  if (first === undefined || more.length > 0) throw new UnusableInput(`${option} can be given only once here`)
  return first
}

function attributesOf (list: string): Attribute[] {
  return list.split(',').map((text) => {
    const attribute = ATTRIBUTES.find((name) => name === text.trim())
    if (attribute === undefined) {
      throw new UnusableInput(`--without: found ${text.trim()}, allowed are ${ATTRIBUTES.join(', ')}`)
    }
    return attribute
  })
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
  if (!isJsonObject(config)) throw new UnusableInput('--embedder-config must be a JSON object')
  return { name, config }
}

function sizesOf (list: string, option = '--memories'): number[] {
  return list.split(',').map((text) => {
    if (!/^[1-9]\d{0,6}$/.test(text.trim())) {
      throw new UnusableInput(`${option}: found ${JSON.stringify(text)}, allowed are whole numbers from 1 to 9999999`)
    }
    return Number(text)
  })
}
