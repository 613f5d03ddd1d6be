import { once } from 'node:events'
import t from 'tap'
import { MemoryGatewayClient, type ReflectEvent } from '../src/index.js'
import { linesOf } from '../src/streams.js'
import { collect, gateway } from './gateway.js'
import { answering, beginning, hangUp, HostileServer, refusing, type Behaviour } from './hostile-server.js'

const QUESTION = { bank_id: 'bank', query: 'What does Alice drink?' }
const EVENTS = 'text/event-stream'
const LINES = 'application/x-ndjson'
const DONE = 'event: done\ndata: {"answer":"Tea.","abstained":false,"sources":[]}\n\n'

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** Sends the bytes one at a time. */
function byteByByte (type: string, text: string): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': type })
    for (const byte of Buffer.from(text)) {
      await new Promise<void>((resolve) => { response.write(Buffer.from([byte]), () => { resolve() }) })
    }
    response.end()
  }
}

t.test('the events of a reflect are those of its answer', async (t) => {
  const client = (await gateway(t)).client()
  await client.retain({ bank_id: 'bank', content: 'Alice drinks tea.' })
  const answer = await client.reflect(QUESTION)
  const events = await collect(client.reflectStream(QUESTION))
  const kinds = [...new Set(events.map(({ event: kind }) => kind))]
  t.same(kinds, ['evidence', 'delta', 'usage', 'done'])
  const deltas = events.flatMap((told) => told.event === 'delta' ? [told.data.text] : [])
  t.equal(deltas.join(''), answer.answer)
  const [evidence] = events
  t.same(evidence?.event === 'evidence' && evidence.data.sources.map(({ text }) => text), ['Alice drinks tea.'])
  const last = events.at(-1)
  t.match(last, { event: 'done', data: { answer: answer.answer, abstained: false } })
})

t.test('an error before the first event is thrown with its status, and is retried', async (t) => {
  const real = (await gateway(t)).client()
  const wrong = { bank_id: 'a b', query: 'x' }
  await t.rejects(collect(real.reflectStream(wrong)), { code: 'invalid_request', status: 400 })

  const server = await HostileServer.start(t)
  server.meets(hangUp, refusing(429, 'too_many_streams'), byteByByte(EVENTS, DONE))
  t.equal((await collect(server.client().client.reflectStream(QUESTION))).length, 1)
  t.match(server.requests.map(({ headers }) => headers.accept), [EVENTS, EVENTS, EVENTS])
})

t.test('events are read correctly, however they are split and written', async (t) => {
  const written = `: heartbeat\n\n${event('delta', { text: 'Tée ☕' })}${event('later', {})}event:delta\r\ndata: ` +
    `{"text":\r\ndata:"b"}\r\n\r\n${DONE}`
  const expected: ReflectEvent[] = [
    { event: 'delta', data: { text: 'Tée ☕' } }, { event: 'delta', data: { text: 'b' } },
    { event: 'done', data: { answer: 'Tea.', abstained: false, sources: [] } },
  ]
  for (const behaviour of [
    answering(200, written, { 'content-type': `${EVENTS}; charset=utf-8` }), byteByByte(EVENTS, written),
  ]) {
    const server = await HostileServer.start(t)
    server.meets(behaviour)
    t.same(await collect(server.client().client.reflectStream(QUESTION)), expected)
  }
})

t.test('an error in the middle of a stream is thrown after the events before it', async (t) => {
  const error = {
    detail: 'The model failed', code: 'dependency_unavailable', request_id: 'r-2', retry_after_seconds: 4,
  }
  const server = await HostileServer.start(t)
  server.meets(answering(200, event('delta', { text: 'Te' }) + event('error', error), { 'content-type': EVENTS }))
  const events = server.client().client.reflectStream(QUESTION)
  t.match(await events.next(), { value: { event: 'delta' } })
  const expected = { code: 'dependency_unavailable', message: 'The model failed', requestId: 'r-2', retryAfter: 4 }
  await t.rejects(events.next(), expected)
  t.equal(server.requests.length, 1, 'a stream that has begun is not retried')
})

t.test('a stream that ends early is an error, never a short answer', async (t) => {
  const delta = event('delta', { text: 'Te' })
  const early: Array<[what: string, behaviour: Behaviour, code: string]> = [
    ['cut', beginning(EVENTS, delta, 'cut'), 'connection_lost'],
    ['cut within an event', beginning(EVENTS, `${delta}event: done\ndata: {"ans`, 'cut'), 'connection_lost'],
    ['ended without done', answering(200, delta, { 'content-type': EVENTS }), 'connection_lost'],
    ['ended within done', answering(200, delta + DONE.slice(0, -9), { 'content-type': EVENTS }), 'connection_lost'],
    [
      'ended before the empty line of done', answering(200, delta + DONE.slice(0, -1), { 'content-type': EVENTS }),
      'connection_lost',
    ],
    ['silent', beginning(EVENTS, delta, 'silence'), 'timed_out'],
    ['no JSON', answering(200, `${delta}event: done\ndata: {\n\n`, { 'content-type': EVENTS }), 'unusable_answer'],
    [
      'no UTF-8',
      answering(200, Buffer.concat([Buffer.from(delta), Buffer.from([0xff, 0x0a])]), { 'content-type': EVENTS }),
      'unusable_answer',
    ],
  ]
  for (const [what, behaviour, code] of early) {
    const server = await HostileServer.start(t)
    server.meets(behaviour)
    const { client } = server.client(code === 'timed_out' ? { timeoutMs: 500 } : {})
    await t.rejects(collect(client.reflectStream(QUESTION)), { name: 'MemoryGatewayError', code }, what)
    t.equal(server.requests.length, 1)
  }
  const server = await HostileServer.start(t)
  server.meets(answering(200, '{"answer":"Tea."}'))
  await t.rejects(collect(server.client().client.reflectStream(QUESTION)), { code: 'unusable_answer', status: 200 })
})

t.test('an export that ends early is an error, never a short export', async (t) => {
  const early: Array<[behaviour: Behaviour, code: string]> = [
    [beginning(LINES, '{"a":1}\n{"b"', 'cut'), 'connection_lost'],
    [beginning(LINES, '{"a":1}\n', 'cut'), 'connection_lost'],
    [answering(200, '{"a":1}\n{"b":2}', { 'content-type': LINES }), 'connection_lost'],
    [answering(200, '{"memory_count":2}\n{"b":2}\n', { 'content-type': LINES }), 'connection_lost'],
    [beginning(LINES, '{"a":1}\n', 'silence'), 'timed_out'],
  ]
  for (const [behaviour, code] of early) {
    const server = await HostileServer.start(t)
    server.meets(behaviour)
    const { client } = server.client(code === 'timed_out' ? { timeoutMs: 500 } : {})
    await t.rejects(collect(client.exportBank({ bank_id: 'bank' })), { code })
  }
})

t.test('only the silence of the gateway counts towards the timeout, not the time of the reader', async (t) => {
  const calls: string[] = []
  const deadline = { restart: () => { calls.push('restart') }, pause: () => { calls.push('pause') } }
  const body = ReadableStream.from(['1\n2\n', '3\n'].map((text) => Buffer.from(text)))
  for await (const line of linesOf(new Response(body), deadline)) {
    calls.push(line)
  }
  t.same(calls, ['restart', 'pause', '1', '2', 'restart', 'pause', '3', 'restart', 'pause'])
})

t.test('leaving a stream closes its connection, and an abort signal ends it with its reason', async (t) => {
  const server = await HostileServer.start(t)
  const closed: Array<Promise<unknown>> = []
  server.meets(async (response) => {
    closed.push(once(response, 'close'))
    response.writeHead(200, { 'content-type': LINES })
    response.write('1\n2\n')
  })
  const { client } = server.client()
  const left = client.exportBank({ bank_id: 'bank' })
  t.same(await left.next(), { done: false, value: '1' })
  await left.return()
  await closed[0]

  const controller = new AbortController()
  const lines = client.exportBank({ bank_id: 'bank' }, { signal: controller.signal })
  await lines.next()
  const reason = new RangeError('enough')
  controller.abort(reason)
  await t.rejects(lines.next(), reason)
  await closed[1]
  t.equal(closed.length, 2)
})

t.test('a listing can be left after any page, and requests no more pages than are read', async (t) => {
  const server = await HostileServer.start(t)
  const first = answering(200, { banks: [{ bank_id: 'a' }, { bank_id: 'b' }], next_cursor: 'c/1' })
  server.meets(first, first, answering(200, { banks: [{ bank_id: 'c' }], next_cursor: 'c/2' }))
  for await (const bank of server.client().client.listBanks()) if (bank.bank_id === 'b') break
  t.same(server.requests.map(({ url }) => url), ['/v1/banks'])
  const pages = server.client().client.listBanks().pages()
  await pages.next()
  await pages.next()
  t.same(server.requests.slice(1).map(({ url }) => url), ['/v1/banks', '/v1/banks?cursor=c%2F1'])
})

t.test('a listing whose server repeats a cursor ends with an error', async (t) => {
  const server = await HostileServer.start(t)
  server.meets(
    answering(200, { banks: [{ bank_id: 'a' }], next_cursor: 'first' }),
    answering(200, { banks: [], next_cursor: 'second' }),
    answering(200, { banks: [], next_cursor: 'second' }),
    // Without the check the listing ends here, so that this test fails and does not hang.
    answering(200, { banks: [], next_cursor: null }),
  )
  const banks: string[] = []
  await t.rejects(async () => {
    for await (const bank of server.client().client.listBanks()) banks.push(bank.bank_id)
  }, { name: 'MemoryGatewayError', code: 'unusable_answer', message: /cursor of an earlier one/ })
  t.same(banks, ['a'])
  t.same(server.requests.map(({ url }) => url), ['/v1/banks', '/v1/banks?cursor=first', '/v1/banks?cursor=second'])
})

t.test('a source of an import that fails or hangs sends nothing', async (t) => {
  const server = await HostileServer.start(t)
  const { client } = server.client()
  let left = 0
  async function * source (end: () => Promise<void>): AsyncGenerator<string> {
    try {
      yield 'a'
      await end()
    } finally {
      left++
    }
  }
  const failing = source(async () => { throw new RangeError('unreadable') })
  await t.rejects(client.importBank({ bank_id: 'bank', lines: failing }), RangeError)
  t.equal(left, 1)

  const controller = new AbortController()
  const reason = new RangeError('enough')
  const hanging = source(async () => {
    controller.abort(reason)
    await new Promise(() => {})
  })
  await t.rejects(client.importBank({ bank_id: 'bank', lines: hanging }, { signal: controller.signal }), reason)
  // @ts-expect-error -- no lines
  await t.rejects(client.importBank({ bank_id: 'bank' }), { name: 'TypeError', message: /^lines must be / })
  t.equal(server.requests.length, 0)
})

/** A client whose server has as many pages as cursors, and then those from `circle` on again; without, it ends. */
function circling (pages: number, circle?: number) {
  const asked: number[] = []
  const fetch = async (input: Parameters<typeof globalThis.fetch>[0]) => {
    const page = Number(new URL(String(input)).searchParams.get('cursor') ?? 0)
    asked.push(page)
    const next = page + 1 < pages ? page + 1 : circle
    // Without the check the listing ends here, so that a test fails and does not hang.
    const nextCursor = next === undefined || asked.length > 5 * pages ? null : String(next)
    return Response.json({ banks: [{ bank_id: `bank-${page}` }], next_cursor: nextCursor })
  }
  return { asked, banks: new MemoryGatewayClient({ baseUrl: 'http://localhost', fetch }).listBanks() }
}

t.test('a listing whose cursors go in a circle of any length ends with an error', async (t) => {
  for (let pages = 2; pages <= 20; pages++) {
    for (let circle = 1; circle < pages; circle++) {
      const { asked, banks } = circling(pages, circle)
      await t.rejects(collect(banks), { code: 'unusable_answer', message: /cursor of an earlier one/ })
      t.ok(asked.length <= 4 * pages, `${asked.length} pages are read of ${pages}, of which ${circle} are in no circle`)
    }
  }
})

t.test('a cursor that is repeated at once is noticed at once', async (t) => {
  for (let pages = 2; pages <= 10; pages++) {
    const { asked, banks } = circling(pages, pages - 1)
    await t.rejects(collect(banks), { code: 'unusable_answer' })
    t.equal(asked.length, pages)
  }
})

t.test('a long listing without a circle ends after its last page', async (t) => {
  const { asked, banks } = circling(300)
  t.equal((await collect(banks)).length, 300)
  t.equal(new Set(asked).size, 300)
})
