import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'

export const PARTS = ['load', 'overhead', 'pairs'] as const
export type Part = typeof PARTS[number]

export const USAGE = `npm run bench:reflect -- [options]
  --only LIST            of ${PARTS.join(', ')}; default: all
  --concurrent N         reflects that are sent at the same time; default 500
  --model-ms MS          time that the model takes for an answer; default 2000
  --max-concurrency N    concurrent calls of the gateway to the model; default 64, as in the gateway
  --timeout-ms MS        timeout of a reflect in the load that is too large for it; default 10000
  --waves N              of each kind of load; default 3
  --calls N              reflects one after the other, for the gateway's overhead; default 1000
  --quality              only measures how good the answers without a model are, on --data; the options above do not
                         apply
  --data FILE            with --quality: conversations as for bench:recall; may be given several times; default: the
                         project's own conversations
  --embedder NAME        with --quality: mock or local; default: both
  --floor FILE           with --quality: the data, and exit code 1 when a figure is below its floor there
  --check                exit code 1 when a target is missed
  --json FILE            also writes the figures there`

export interface Options {
  parts: Part[]
  concurrent: number
  modelMs: number
  maxConcurrency: number
  timeoutMs: number
  waves: number
  calls: number
  check: boolean
  json: string | undefined
  /** Present: only the quality of answers is measured. */
  quality?: { data: string[], embedders: Array<'mock' | 'local'>, floor: string | undefined }
}

const OWN_DATA = ['own-conversation.json', 'own-conversation-2.json'].map((name) => `bench/recall/${name}`)
const EMBEDDERS = ['mock', 'local'] as const

/** @throws UnusableInput for a value that cannot be used; parseArgs itself throws for an unknown option */
export function readOptions (args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: PARTS.join(',') },
      concurrent: { type: 'string', default: '500' },
      'model-ms': { type: 'string', default: '2000' },
      'max-concurrency': { type: 'string', default: '64' },
      'timeout-ms': { type: 'string', default: '10000' },
      waves: { type: 'string', default: '3' },
      calls: { type: 'string', default: '1000' },
      check: { type: 'boolean', default: false },
      json: { type: 'string' },
      quality: { type: 'boolean', default: false },
      data: { type: 'string', multiple: true },
      embedder: { type: 'string' },
      floor: { type: 'string' },
    },
  })
  const { data, embedder, floor } = values
  if (!values.quality && (data ?? embedder ?? floor) !== undefined) {
    throw new UnusableInput('--data, --embedder and --floor need --quality')
  }
  const embedders = EMBEDDERS.filter((name) => embedder === undefined || embedder === name)
  if (embedders.length === 0) {
    throw new UnusableInput(`--embedder: found ${embedder}, allowed are ${EMBEDDERS.join(', ')}`)
  }
  const only = new Set(values.only.split(',').map((name) => name.trim()))
  const parts = PARTS.filter((part) => only.delete(part))
  if (only.size > 0) {
    throw new UnusableInput(`--only: ${[...only].join(', ')} is not known; known are ${PARTS.join(' and ')}`)
  }
  return {
    parts,
    concurrent: wholeNumber('--concurrent', values.concurrent, 1, 10_000),
    modelMs: wholeNumber('--model-ms', values['model-ms'], 0, 60_000),
    maxConcurrency: wholeNumber('--max-concurrency', values['max-concurrency'], 1, 256),
    timeoutMs: wholeNumber('--timeout-ms', values['timeout-ms'], 100, 600_000),
    // Growth is measured from the first wave to the last.
    waves: wholeNumber('--waves', values.waves, 2, 100),
    calls: wholeNumber('--calls', values.calls, 1, 100_000),
    ...(values.quality && { quality: { data: data ?? OWN_DATA, embedders, floor } }),
    check: values.check,
    json: values.json,
  }
}

function wholeNumber (option: string, text: string, min: number, max: number): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : NaN
  if (!(number >= min && number <= max)) {
    throw new UnusableInput(`${option}: found ${JSON.stringify(text)}, allowed are whole numbers from ${min} to ${max}`)
  }
  return number
}
