import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { ModelCallError, type ModelCallKind } from '../../../lib/models/remote/model-call-error.js'
import {
  answering, endless, silent, stallInTheMiddle, startModelServer, type Behaviour, type ModelServer,
} from '../../helpers/model-server.js'
import { rejection } from '../../helpers/rejection.js'

const NOW = Date.parse('2026-01-15T10:00:00Z')
export const KEY = 'sk-very-secret-key'
const HEADER = 'header-secret-value'
const PARAMETER = 'parameter-secret-value'
export const TEXT = 'Alice hides the spare key under the third stone.'
const SECRETS = [KEY, HEADER, PARAMETER, TEXT]

export interface Fault {
  name: string
  /** What the server does, one request after the other; after them it answers right. */
  script: Behaviour[]
  /** How the call ends: right, or with an error of a kind and a message. */
  outcome: 'right' | [kind: ModelCallKind, message: RegExp]
  /** How often the server is asked. */
  asked: number
  /** Milliseconds of the pauses between. Default: of no interest. */
  pauses?: number[]
  /** Milliseconds that an attempt may take. Default: so many that a busy machine does not matter. */
  timeoutMs?: number
}

/** Asks about TEXT. @returns whether the answer is right */
export type Ask = (signal?: AbortSignal) => Promise<boolean>

export interface Circumstances {
  timeoutMs?: number
  /** Where the pauses are written down; they take no time. */
  pauses?: number[]
}

export function config (server: ModelServer, { timeoutMs = 60_000 }: Circumstances): Record<string, unknown> {
  return {
    base_url: server.url,
    model: 'test',
    api_key: KEY,
    headers: { 'x-key': HEADER },
    query_params: { token: PARAMETER },
    timeout_ms: timeoutMs,
    max_retries: 1,
  }
}

/** The timer does not move, so that no attempt reduces the time of the next. */
export function tools ({ pauses }: Circumstances) {
  return {
    random: () => 0.5,
    clock: () => NOW,
    timer: () => 0,
    sleep: async (milliseconds: number) => { pauses?.push(milliseconds) },
  }
}

/** Everything that an error shows in any form of logging. */
function everything (error: unknown): string {
  return [
    String(error), error instanceof Error ? error.stack : '', JSON.stringify(error),
    inspect(error, { depth: Infinity, showHidden: true }),
  ].join('\n')
}

function checkFailure (t: Test, error: ModelCallError, [kind, message]: [ModelCallKind, RegExp]): void {
  t.equal(error.kind, kind)
  t.match(error.message, message)
  const shown = everything(error)
  for (const secret of SECRETS) t.notOk(shown.includes(secret), `${secret} is not shown`)
  t.equal(error.cause, undefined)
}

/** Tests what a provider makes of each fault of its endpoint. */
export function testFaults (
  name: string, faults: Fault[], open: (server: ModelServer, circumstances?: Circumstances) => Promise<Ask>,
): void {
  t.test(name, async (t) => {
    // What waits for its limit waits beside the others; the limit is long, because the server shares the process and
    // its busy times.
    t.jobs = 8
    for (const { name, script, outcome, asked, pauses, timeoutMs } of faults) {
      t.test(`${name}: ${outcome === 'right' ? outcome : outcome[0]} after ${asked} ` +
        `${asked === 1 ? 'request' : 'requests'}`, async (t) => {
        const server = await startModelServer(t)
        server.next(...script)
        const paused: number[] = []
        const ask = await open(server, { pauses: paused, ...(timeoutMs !== undefined && { timeoutMs }) })
        if (outcome === 'right') t.equal(await ask(), true)
        else checkFailure(t, await rejection(ModelCallError, ask()), outcome)
        t.equal(server.requests.length, asked)
        if (pauses !== undefined) t.strictSame(paused, pauses)
      })
    }

    t.test('a closed port: unreachable', async (t) => {
      const server = await startModelServer(t)
      const ask = await open(server)
      await server.close()
      checkFailure(t, await rejection(ModelCallError, ask()), ['unreachable', /cannot be reached \(ECONNREFUSED\)/])
    })

    t.test('a redirect: rejected, and the key is sent nowhere else', async (t) => {
      const [server, other] = [await startModelServer(t), await startModelServer(t)]
      server.always(answering(307, '', { location: `${other.url}/embeddings` }))
      checkFailure(t, await rejection(ModelCallError, (await open(server))()), [
        'rejected', /answered 307: a redirect, which is not followed/,
      ])
      t.equal(server.requests.length, 1)
      t.equal(other.requests.length, 0)
    })

    for (const [what, behaviour] of [
      ['before the answer', silent], ['in the middle of the answer', stallInTheMiddle],
    ] as const) {
      t.test(`a caller that leaves ${what} gets its reason, and the connection is closed`, async (t) => {
        const server = await startModelServer(t)
        server.always(behaviour)
        const leaving = new AbortController()
        const call = (await open(server))(leaving.signal)
        const request = await server.received(1)
        leaving.abort(new Error('gone'))
        await t.rejects(call, new Error('gone'))
        t.equal(await request.over, 'left')
        t.equal(server.requests.length, 1)
      })
    }

    t.test('an endless body is read only up to the limit', async (t) => {
      const server = await startModelServer(t)
      server.next(endless)
      await rejection(ModelCallError, (await open(server))())
      t.equal(await server.requests[0]!.over, 'left')
    })
  })
}
