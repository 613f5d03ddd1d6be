import { Type } from 'typebox'
import { checker } from '../checker.js'
import { RetainAnswer, RetainBatchAnswer } from '../../lib/operations/schemas.js'
import type { Exchange, HttpClient } from './http-client.js'

export const BANK = 'durability'
export const BATCH = 5
export const KINDS = ['single', 'batch', 'keyed', 'repeated', 'changing'] as const
/** The key of the memories of the kind `changing`, each of which supersedes the one before it. */
export const SLOT = 'slot'
export type Kind = typeof KINDS[number]

/**
 * The outcome of a request: answered with 2xx (acknowledged), with another status (refused), or not at all (broken).
 * Memories that were not acknowledged may exist or not.
 */
export type Outcome =
  | { state: 'acknowledged', text: string, memoryIds: string[], replayed: boolean }
  | { state: 'refused', status: number, text: string }
  | { state: 'broken' }

/** One retain, of one memory or of a batch, or the change of a memory. */
export interface Write extends Planned {
  round: number
  outcome: Outcome
  durationMs: number
  /** By the monotonic clock. */
  answeredAt: number
}

export interface Planned {
  kind: Kind
  contents: readonly string[]
  /** For idempotency. */
  key?: string | undefined
  /** The id of the memory whose first version the content takes the place of. */
  changes?: string | undefined
}

const readSingle = checker(RetainAnswer, 'the answer of a retain')
const readBatch = checker(RetainBatchAnswer, 'the answer of a batch')
const readChanged = checker(Type.Object({ memory_id: Type.String() }), 'the answer of a change')
const readProblem = checker(Type.Object({ code: Type.String() }), 'an error')

export async function send (client: HttpClient, round: number, planned: Planned): Promise<Write> {
  const { contents, changes } = planned
  const started = performance.now()
  const outcome = await exchange(client, planned).then(({ status, text, headers }): Outcome => {
    if (status < 200 || status > 299) return { state: 'refused', status, text }
    const parsed: unknown = JSON.parse(text)
    const results = changes !== undefined
      ? [readChanged(parsed)]
      : contents.length === 1 ? [readSingle(parsed)] : readBatch(parsed).results
    return {
      state: 'acknowledged',
      text,
      memoryIds: results.map(({ memory_id: id }) => id),
      replayed: headers['idempotent-replayed'] === 'true',
    }
  }, (): Outcome => ({ state: 'broken' }))
  return { ...planned, round, outcome, durationMs: performance.now() - started, answeredAt: performance.now() }
}

async function exchange (client: HttpClient, { kind, contents, key, changes }: Planned): Promise<Exchange> {
  if (changes !== undefined) {
    return await client.patch(`/v1/banks/${BANK}/memories/${changes}`, { content: contents[0] }, {
      'content-type': 'application/merge-patch+json', 'if-match': '"1"',
    })
  }
  const items = contents.map((content) => ({ content, tags: [kind], ...kind === 'changing' ? { key: SLOT } : {} }))
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return items.length === 1
    ? await client.post('/v1/retain', { bank_id: BANK, ...items[0] }, headers)
    : await client.post('/v1/retain/batch', { bank_id: BANK, items }, headers)
}

/**
 * Whether a server that is overloaded, or without its database, may answer like this: 503, or 409 while the first of
 * two requests with one key is being executed. 412 answers the change of a memory that another one has superseded.
 */
export function isExpectedRefusal (status: number, text: string): boolean {
  if (status === 503 || status === 412) return true
  return status === 409 && readProblem(JSON.parse(text)).code === 'idempotency_key_in_flight'
}

const LETTERS = 'bcdfghjkmnpqrtvw'
const WORD_LENGTH = 7

/** A word that is different for each number, and that the stemmer does not shorten. */
export function wordOf (number: number): string {
  let word = ''
  for (let rest = number; word.length < WORD_LENGTH; rest = Math.floor(rest / LETTERS.length)) {
    word += LETTERS[rest % LETTERS.length]!
  }
  return `z${word}k`
}

/** The contents that the clients of a run write; each has a word of its own. */
export class Contents {
  #made = 0

  next (round: number, kind: Kind): string {
    return `The ${kind} client of round ${round} wrote down ${wordOf(this.#made++)} after the meeting, and what was ` +
      'agreed there.'
  }

  several (count: number, round: number, kind: Kind): string[] {
    return Array.from({ length: count }, () => this.next(round, kind))
  }
}

export function uniqueWord (content: string): string {
  return / wrote down (\w+) /.exec(content)?.[1] ?? content
}
