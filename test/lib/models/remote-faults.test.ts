import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { rejection } from '../../helpers/rejection.js'
import { makeRemoteEmbeddingProvider } from '../../../lib/models/remote/embedding-provider.js'
import { ModelCallError, type ModelCallKind } from '../../../lib/models/remote/model-call-error.js'
import { makeRemoteReranker } from '../../../lib/models/remote/reranker.js'
import {
  answering, cutInTheMiddle, DIMENSIONS, embeddings, endless, hangUp, silent, slow, stallInTheMiddle, startModelServer,
  vectorOf,
  type Behaviour, type ModelServer,
} from '../../helpers/model-server.js'

const NOW = Date.parse('2026-01-15T10:00:00Z')
const KEY = 'sk-very-secret-key'
const HEADER = 'header-secret-value'
const PARAMETER = 'parameter-secret-value'
const TEXT = 'Alice hides the spare key under the third stone.'
const SECRETS = [KEY, HEADER, PARAMETER, TEXT]

interface Fault {
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

const json = (vectors: unknown[]) => answering(200, JSON.stringify(embeddings(vectors)))
const vector = vectorOf(TEXT)
const twice = (behaviour: Behaviour) => [behaviour, behaviour]

/** What may go wrong with any endpoint. */
const SHARED: Fault[] = [
  { name: 'a slow answer', script: [slow(30)], outcome: 'right', asked: 1 },
  { name: 'no answer once', script: [silent], outcome: 'right', asked: 2, timeoutMs: 2000 },
  {
    name: 'never an answer',
    script: twice(silent),
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 2,
    timeoutMs: 2000,
  },
  {
    name: 'an answer that stops',
    script: twice(stallInTheMiddle),
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 2,
    timeoutMs: 2000,
  },
  { name: 'a connection that is closed once', script: [hangUp], outcome: 'right', asked: 2 },
  {
    name: 'a connection that is always closed',
    script: twice(hangUp),
    outcome: ['unreachable', /cannot be reached \(UND_ERR_SOCKET\)/],
    asked: 2,
  },
  { name: 'an answer that is cut once', script: [cutInTheMiddle], outcome: 'right', asked: 2 },
  {
    name: 'an answer that is always cut',
    script: twice(cutInTheMiddle),
    outcome: ['unreachable', /broke off its answer \(UND_ERR_SOCKET\)/],
    asked: 2,
  },
  { name: '500 once', script: [answering(500, '')], outcome: 'right', asked: 2, pauses: [125] },
  {
    name: '500 and 503',
    script: [answering(500, ''), answering(503, 'down')],
    outcome: ['unreachable', /answered 503$/],
    asked: 2,
  },
  { name: '408', script: twice(answering(408, '')), outcome: ['unreachable', /answered 408$/], asked: 2 },
  { name: '409', script: twice(answering(409, '')), outcome: ['unreachable', /answered 409$/], asked: 2 },
  {
    name: '429 with seconds',
    script: [answering(429, '', { 'retry-after': '2' })],
    outcome: 'right',
    asked: 2,
    pauses: [2125],
  },
  {
    name: '429 with half a second',
    script: [answering(429, '', { 'retry-after': '0.5' })],
    outcome: 'right',
    asked: 2,
    pauses: [625],
  },
  {
    name: '429 with a date',
    script: [answering(429, '', { 'retry-after': 'Thu, 15 Jan 2026 10:00:07 GMT' })],
    outcome: 'right',
    asked: 2,
    pauses: [7125],
  },
  {
    name: '429 with a date that is past',
    script: [answering(429, '', { 'retry-after': 'Thu, 15 Jan 2026 09:00:00 GMT' })],
    outcome: 'right',
    asked: 2,
    pauses: [125],
  },
  {
    name: '429 with nonsense',
    script: [answering(429, '', { 'retry-after': 'soon' })],
    outcome: 'right',
    asked: 2,
    pauses: [125],
  },
  {
    name: '429 for an hour',
    script: [answering(429, '{"error":{"code":"insufficient_quota"}}', { 'retry-after': '3600' })],
    outcome: ['rate_limited', /answered 429 \(insufficient_quota\)$/],
    asked: 1,
  },
  {
    name: '503 with seconds',
    script: [answering(503, '', { 'retry-after': '2' })],
    outcome: 'right',
    asked: 2,
    pauses: [2125],
  },
  {
    name: '400',
    script: [
      answering(400, JSON.stringify({
        error: { message: `wrong: ${TEXT}`, type: 'invalid_request_error', code: null },
      })),
    ],
    outcome: ['rejected', /answered 400 \(invalid_request_error\)$/],
    asked: 1,
  },
  {
    name: '401',
    script: [answering(401, JSON.stringify({ error: { message: `Incorrect key ${KEY}`, code: 'invalid_api_key' } }))],
    outcome: ['rejected', /answered 401 \(invalid_api_key\)$/],
    asked: 1,
  },
  {
    name: '401 with the key as its code',
    script: [answering(401, JSON.stringify({ code: KEY, type: KEY.slice(3) }))],
    outcome: ['rejected', /answered 401$/],
    asked: 1,
  },
  { name: '403', script: [answering(403, '<html>Forbidden</html>')], outcome: ['rejected', /answered 403$/], asked: 1 },
  {
    name: '404',
    script: [answering(404, '{"type":"model_not_found"}')],
    outcome: ['rejected', /answered 404 \(model_not_found\)$/],
    asked: 1,
  },
  {
    name: '422',
    script: [answering(422, JSON.stringify({ detail: [{ input: TEXT }] }))],
    outcome: ['rejected', /answered 422$/],
    asked: 1,
  },
  {
    name: '400 with an endless page',
    script: [answering(400, 'x'.repeat(1024 * 1024))],
    outcome: ['rejected', /answered 400$/],
    asked: 1,
  },
  {
    name: 'a page of HTML',
    script: [answering(200, '<html>Welcome</html>')],
    outcome: ['unusable', /answered with something else/],
    asked: 1,
  },
  {
    name: 'JSON of another kind',
    script: [answering(200, '{"ok":true}')],
    outcome: ['unusable', /answered with something else/],
    asked: 1,
  },
  { name: 'null', script: [answering(200, 'null')], outcome: ['unusable', /answered with something else/], asked: 1 },
  { name: 'no body', script: [answering(200, '')], outcome: ['unusable', /answered with something else/], asked: 1 },
  {
    name: 'a body that is big when it is decompressed',
    script: [answering(200, gzipSync(Buffer.alloc(8 * 1024 * 1024, ' ')), { 'content-encoding': 'gzip' })],
    outcome: ['unusable', /answered with more than \d+ bytes/],
    asked: 1,
  },
  {
    name: 'a body without end', script: [endless], outcome: ['unusable', /answered with more than \d+ bytes/], asked: 1,
  },
]

const EMBEDDING: Fault[] = [
  { name: 'no vector', script: [json([])], outcome: ['unusable', /0 vectors for 1 texts/], asked: 1 },
  {
    name: 'a vector too many',
    script: [json([vector, vector])],
    outcome: ['unusable', /2 vectors for 1 texts/],
    asked: 1,
  },
  {
    name: 'a shorter vector',
    script: [json([[1, 2, 3]])],
    outcome: ['unusable', /a vector of 3 dimensions instead of 8/],
    asked: 1,
  },
  {
    name: 'an empty vector',
    script: [json([[]])],
    outcome: ['unusable', /a vector of 0 dimensions instead of 8/],
    asked: 1,
  },
  {
    name: 'null in a vector',
    script: [json([[null, ...vector.slice(1)]])],
    outcome: ['unusable', /something else than embeddings/],
    asked: 1,
  },
  {
    name: 'NaN in a vector',
    script: [answering(200, `{"data":[{"embedding":[NaN,${vector.slice(1).join()}]}]}`)],
    outcome: ['unusable', /something else than embeddings/],
    asked: 1,
  },
  {
    name: 'an infinite number',
    script: [answering(200, `{"data":[{"embedding":[1e999,${vector.slice(1).join()}]}]}`)],
    outcome: ['unusable', /something else than embeddings/],
    asked: 1,
  },
  {
    name: 'a number beyond single precision',
    script: [json([[1e39, ...vector.slice(1)]])],
    outcome: ['unusable', /a number that is too big/],
    asked: 1,
  },
  {
    name: 'base64', script: [json(['AACAPwAAAEA='])], outcome: ['unusable', /something else than embeddings/], asked: 1,
  },
  {
    name: 'usage without the member that the SDK wants',
    script: [answering(200, JSON.stringify({ data: [{ embedding: vector }], usage: { total_tokens: 3 } }))],
    outcome: 'right',
    asked: 1,
  },
  {
    name: 'an index that starts at 1',
    script: [answering(200, JSON.stringify({ data: [{ index: 1, embedding: vector }] }))],
    outcome: 'right',
    asked: 1,
  },
]

const scores = (value: unknown) => answering(200, JSON.stringify(value))

const RERANKING: Fault[] = [
  {
    name: 'no result',
    script: [scores({ results: [] })],
    outcome: ['unusable', /something else than one score for each text/],
    asked: 1,
  },
  {
    name: 'an index that there is not',
    script: [scores({ results: [{ index: 1, relevance_score: 1 }] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'a result too many',
    script: [scores({ results: [{ index: 0, relevance_score: 1 }, { index: 0, relevance_score: 1 }] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'a score that is null',
    script: [scores({ results: [{ index: 0, relevance_score: null }] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'an infinite score',
    script: [answering(200, '{"results":[{"index":0,"relevance_score":1e999}]}')],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'a score as text',
    script: [scores([{ index: 0, score: '1' }])],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'results that are null',
    script: [scores({ results: [null] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
]

/** Asks about TEXT. @returns whether the answer is right */
type Ask = (signal?: AbortSignal) => Promise<boolean>

interface Circumstances {
  timeoutMs?: number
  /** Where the pauses are written down; they take no time. */
  pauses?: number[]
}

function config (server: ModelServer, { timeoutMs = 60_000 }: Circumstances): Record<string, unknown> {
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
function tools ({ pauses }: Circumstances) {
  return {
    random: () => 0.5,
    clock: () => NOW,
    timer: () => 0,
    sleep: async (milliseconds: number) => { pauses?.push(milliseconds) },
  }
}

const PROVIDERS: Array<{
  name: string
  faults: Fault[]
  open: (server: ModelServer, circumstances?: Circumstances) => Promise<Ask>
}> = [
  {
    name: 'embeddings',
    faults: [...SHARED, ...EMBEDDING],
    open: async (server, circumstances = {}) => {
      const provider = await makeRemoteEmbeddingProvider(
        { ...config(server, circumstances), dimensions: DIMENSIONS }, { baseDirectory: '/' }, tools(circumstances),
      )
      return async (signal) => {
        const [found] = await provider.embed([TEXT], signal === undefined ? {} : { signal })
        return found !== undefined && found.every((value, index) => value === vector[index])
      }
    },
  },
  {
    name: 'reranking',
    faults: [...SHARED, ...RERANKING],
    open: async (server, circumstances = {}) => {
      const reranker = makeRemoteReranker(config(server, circumstances), { baseDirectory: '/' }, tools(circumstances))
      return async (signal) => {
        const [found] = await reranker.rerank('spare key', [TEXT], signal === undefined ? {} : { signal })
        return found === 2
      }
    },
  },
]

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

for (const { name, faults, open } of PROVIDERS) {
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
