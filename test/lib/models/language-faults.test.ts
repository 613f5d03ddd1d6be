import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import type { GenerateRequest } from '../../../lib/models/language-model.js'
import { ModelCallError, type ModelCallKind } from '../../../lib/models/remote/model-call-error.js'
import {
  after, answering, cutInTheMiddle, endless, endsEarly, failsInTheMiddle, garbage, hangUp, says, silent,
  stallInTheMiddle, startLanguageServer, UNUSED_URL,
  type Behaviour, type LanguageServer,
} from '../../helpers/language-server.js'
import { ask, everything, openBounded, PROVIDERS, QUESTION, read, SYSTEM } from './language-support.js'

const KEY = 'sk-very-secret-key'
const HEADER = 'header-secret-value'
const PARAMETER = 'parameter-secret-value'
const ANSWER = 'Under the third stone. [1]'
const SECRETS = [KEY, HEADER, PARAMETER, QUESTION, SYSTEM, ANSWER, 'third']

interface Fault {
  name: string
  /** What the server does with the requests; after them it answers right. */
  script: Behaviour[]
  /** How it ends: right, or with an error. */
  outcome: 'right' | [kind: ModelCallKind, message: RegExp]
  /** How often the server is asked. */
  asked: number
  /** The text that came before a stream ended. Default: none, or the whole answer. */
  text?: string
  timeoutMs?: number
}

const twice = (behaviour: Behaviour) => [behaviour, behaviour]
const HUNG = { timeoutMs: 2000 }

/** What goes wrong before the first text: the same, however the answer is wanted. */
const BEFORE: Fault[] = [
  { name: 'a slow answer', script: [after(30, says(ANSWER))], outcome: 'right', asked: 1 },
  { name: 'no answer once', script: [silent], outcome: 'right', asked: 2, ...HUNG },
  {
    name: 'never an answer',
    script: twice(silent),
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 2,
    ...HUNG,
  },
  {
    name: 'a beginning and no more',
    script: twice(stallInTheMiddle()),
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 2,
    ...HUNG,
  },
  {
    name: 'a connection that is always closed',
    script: twice(hangUp),
    outcome: ['unreachable', /cannot be reached \(UND_ERR_SOCKET\)/],
    asked: 2,
  },
  { name: 'an answer that is cut once', script: [cutInTheMiddle()], outcome: 'right', asked: 2 },
  {
    name: 'an answer that is always cut',
    script: twice(cutInTheMiddle()),
    outcome: ['unreachable', /broke off its answer \(UND_ERR_SOCKET\)/],
    asked: 2,
  },
  { name: '500 once', script: [answering(500, '')], outcome: 'right', asked: 2 },
  {
    name: '529',
    script: twice(answering(529, '{"type":"error","error":{"type":"overloaded_error"}}')),
    outcome: ['unreachable', /answered 529 \(overloaded_error\)$/],
    asked: 2,
  },
  { name: '429 with seconds', script: [answering(429, '', { 'retry-after': '2' })], outcome: 'right', asked: 2 },
  {
    name: '429 for an hour',
    script: [answering(429, '', { 'retry-after': '3600' })],
    outcome: ['rate_limited', /answered 429$/],
    asked: 1,
  },
  {
    name: '400 that repeats the request',
    script: [
      answering(400, JSON.stringify({ error: { message: `wrong: ${QUESTION}`, code: 'context_length_exceeded' } })),
    ],
    outcome: ['rejected', /answered 400 \(context_length_exceeded\)$/],
    asked: 1,
  },
  {
    name: '401 that repeats the key',
    script: [answering(401, JSON.stringify({ error: { message: `Incorrect key ${KEY}`, type: KEY } }))],
    outcome: ['rejected', /answered 401$/],
    asked: 1,
  },
  {
    name: '404',
    script: [answering(404, '{"error":{"code":"model_not_found"}}')],
    outcome: ['rejected', /answered 404 \(model_not_found\)$/],
    asked: 1,
  },
  {
    name: 'a redirect',
    script: [answering(307, '', { location: 'http://127.0.0.1:9/' })],
    outcome: ['rejected', /a redirect, which is not followed/],
    asked: 1,
  },
  {
    name: 'a page of HTML', script: [garbage('html')], outcome: ['unusable', /something else than an answer/], asked: 1,
  },
  {
    name: 'JSON of another kind',
    script: [garbage('json')],
    outcome: ['unusable', /something else than an answer/],
    asked: 1,
  },
  {
    name: 'broken JSON', script: [garbage('broken')], outcome: ['unusable', /something else than an answer/], asked: 1,
  },
  { name: 'no body', script: [answering(200, '')], outcome: ['unusable', /something else than an answer/], asked: 1 },
  { name: 'an empty text', script: [says('')], outcome: ['unusable', /without a text$/], asked: 1 },
  {
    name: 'a text that the ceiling left no room for',
    script: [says('', { finish: 'length', reasoning: 'Long thoughts' })],
    outcome: ['unusable', /without a text: it used up its tokens before$/],
    asked: 1,
  },
]

const PLAIN: Fault[] = [
  ...BEFORE,
  {
    name: 'an error of the protocol',
    script: twice(failsInTheMiddle('api_error')),
    outcome: ['unreachable', /answered 500 \(api_error\)$/],
    asked: 2,
  },
  {
    name: 'a body that ends too early',
    script: [endsEarly(ANSWER)],
    outcome: ['unusable', /something else than an answer/],
    asked: 1,
  },
  { name: 'a body without end', script: [endless], outcome: ['unusable', /more than \d+ bytes/], asked: 1 },
]

const STREAMED: Fault[] = [
  ...BEFORE,
  {
    name: 'an error of the protocol before a text, once',
    script: [failsInTheMiddle('overloaded_error')],
    outcome: 'right',
    asked: 2,
  },
  {
    name: 'an error of the protocol before a text, always',
    script: twice(failsInTheMiddle('overloaded_error')),
    outcome: ['unreachable', /ended its answer with an error \(overloaded_error\)$/],
    asked: 2,
  },
  {
    name: 'a limit that is told in the stream',
    script: twice(failsInTheMiddle('rate_limit_error')),
    outcome: ['rate_limited', /with an error \(rate_limit_error\)$/],
    asked: 2,
  },
  {
    name: 'an error of the protocol after a text',
    script: [failsInTheMiddle('api_error', 'Under ')],
    outcome: ['unreachable', /with an error \(api_error\)$/],
    asked: 1,
    text: 'Under ',
  },
  {
    name: 'an error that repeats the key',
    script: [failsInTheMiddle(KEY, 'Under ')],
    outcome: ['unreachable', /with an error$/],
    asked: 1,
    text: 'Under ',
  },
  {
    name: 'a stream that is cut',
    script: [cutInTheMiddle('Under ', 'the ')],
    outcome: ['unreachable', /broke off its answer \(UND_ERR_SOCKET\)/],
    asked: 1,
    text: 'Under the ',
  },
  {
    name: 'a stream that stops',
    script: [stallInTheMiddle('Under ')],
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 1,
    text: 'Under ',
    ...HUNG,
  },
  {
    name: 'a stream that ends without its end',
    script: [endsEarly('Under ')],
    outcome: ['unreachable', /broke off its answer$/],
    asked: 1,
    text: 'Under ',
  },
  {
    name: 'a stream of blanks',
    script: [says('  \n')],
    outcome: ['unusable', /without a text$/],
    asked: 1,
    text: '  \n',
  },
]

/** @returns the text that came, and the error */
type Ask = (request: GenerateRequest) => Promise<{ text: string, error?: unknown }>

async function open (
  server: LanguageServer, provider: (typeof PROVIDERS)[number], isStream: boolean, timeoutMs = 60_000,
): Promise<Ask> {
  const model = await openBounded(server, provider, {
    api_key: KEY, headers: { 'x-other': HEADER }, query_params: { token: PARAMETER }, timeout_ms: timeoutMs,
  })
  return async (request) => isStream
    ? await read(model.stream!(request))
    : await model.generate(request).then(({ text }) => ({ text }), (error: unknown) => ({ text: '', error }))
}

function checkFailure (t: Test, error: unknown, [kind, message]: [ModelCallKind, RegExp]): void {
  if (!(error instanceof ModelCallError)) throw new Error('It did not fail as a call does', { cause: error })
  t.equal(error.kind, kind)
  t.match(error.message, message)
  t.equal(error.cause, undefined)
  const shown = everything(error)
  for (const secret of SECRETS) t.notOk(shown.includes(secret), `${secret} is not shown`)
}

for (const provider of PROVIDERS) {
  for (const [how, isStream, faults] of [['at once', false, PLAIN], ['bit by bit', true, STREAMED]] as const) {
    t.test(`${provider.name}, ${how}`, async (t) => {
      // What waits for its limit waits beside the others; the limit is long, because the server shares the process and
      // its busy times.
      t.jobs = 8
      for (const { name, script, outcome, asked, timeoutMs, text } of faults) {
        t.test(`${name}: ${outcome === 'right' ? outcome : outcome[0]} after ${asked} ` +
          `${asked === 1 ? 'request' : 'requests'}`, async (t) => {
          const server = await startLanguageServer(t)
          server.always(says(ANSWER))
          server.next(...script)
          const { text: got, error } = await (await open(server, provider, isStream, timeoutMs))(ask())
          if (outcome === 'right') {
            t.equal(error, undefined)
            t.equal(got, ANSWER)
          } else {
            checkFailure(t, error, outcome)
            t.equal(got, text ?? '')
          }
          t.equal(server.requests.length, asked)
        })
      }

      t.test('a refused connection: unreachable', async (t) => {
        const server = await startLanguageServer(t)
        const model = await openBounded(server, provider, { base_url: UNUSED_URL, api_key: KEY })
        const { error } = isStream
          ? await read(model.stream!(ask()))
          : { error: await model.generate(ask()).catch((reason: unknown) => reason) }
        checkFailure(t, error, ['unreachable', /cannot be reached \(ECONNREFUSED\)/])
      })

      for (const [what, behaviour] of [
        ['before the answer', silent], ['in the middle of the answer', stallInTheMiddle('Under ')],
      ] as const) {
        t.test(`a caller that leaves ${what} gets its reason, and the connection is closed`, async (t) => {
          const server = await startLanguageServer(t)
          server.always(behaviour)
          const leaving = new AbortController()
          const answer = (await open(server, provider, isStream))(ask({ signal: leaving.signal }))
          const request = await server.received(1)
          leaving.abort(new Error('gone'))
          t.match((await answer).error, new Error('gone'))
          t.equal(await request.over, 'left')
          t.equal(server.requests.length, 1)
        })
      }

      t.test('an endless answer is read only up to the limit', async (t) => {
        const server = await startLanguageServer(t)
        server.always(endless)
        const { error } = await (await open(server, provider, isStream))(ask())
        checkFailure(t, error, ['unusable', /more than \d+ bytes/])
        t.equal(await server.requests[0]!.over, 'left')
        t.equal(server.requests.length, 1)
      })
    })
  }

  t.test(`${provider.name}: a reader that stops reading closes the connection`, async (t) => {
    const server = await startLanguageServer(t)
    server.always(endless)
    const model = await openBounded(server, provider)
    for await (const part of model.stream!(ask())) if (part.type === 'text') break
    t.equal(await server.requests[0]!.over, 'left')
    t.strictSame([model.status?.().running, model.status?.().breaker], [0, { state: 'closed', tenantsOpen: 0 }])
  })

  t.test(`${provider.name}: an answer is read only as fast as its reader`, async (t) => {
    const server = await startLanguageServer(t)
    let sending: ServerResponse | undefined
    server.always(async (request, response) => {
      sending = response
      await endless(request, response)
    })
    const model = await openBounded(server, provider)
    const parts = model.stream!(ask())[Symbol.asyncIterator]()
    await parts.next()
    // One who read ahead would meet the limit of bytes in these turns and close the connection.
    for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => { setImmediate(resolve) })
    t.strictSame([sending?.destroyed, sending?.writableNeedDrain], [false, true])
    await parts.return?.()
  })
}
