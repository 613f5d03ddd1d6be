import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { eventStream, wantsEvents, type EventStreamOptions, type ServerSentEvent } from '../../http/event-stream.js'
import { parseEvents } from '../helpers/events.js'
import { latch } from '../routes/reflecting.js'

const OPTIONS: EventStreamOptions = {
  heartbeatMs: 60_000, onError: (error) => ({ event: 'error', data: { message: (error as Error).message } }),
}

const accepted: Array<[accept: string | undefined, events: boolean]> = [
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['text/*', false],
  ['application/json', false],
  ['text/event-stream', true],
  ['Text/Event-Stream', true],
  ['text/event-stream; charset=utf-8', true],
  ['application/json, text/event-stream', true],
  ['text/event-stream, application/json', true],
  ['text/event-stream;q=0.5, application/json', false],
  ['text/event-stream; q=0.9, application/json; q=0.8', true],
  ['text/event-stream;q=0', false],
  ['text/event-stream;q=none', false],
  ['text/event-stream;Q=0.1,*/*', true],
  ['text/event-streams', false],
  [',,;=,text/event-stream,', true],
]
for (const [accept, events] of accepted) {
  t.test(`Accept ${JSON.stringify(accept) ?? 'that is absent'} means ${events ? 'events' : 'JSON'}`, async (t) => {
    t.equal(wantsEvents(accept), events)
  })
}

async function * given (...events: ServerSentEvent[]): AsyncGenerator<ServerSentEvent, void> { yield * events }

async function textOf (
  events: AsyncGenerator<ServerSentEvent, void>, options: Partial<EventStreamOptions> = {},
): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of eventStream(events, { ...OPTIONS, ...options })) chunks.push(Buffer.from(chunk as string))
  return Buffer.concat(chunks).toString()
}

t.test('an event is a line with its name and a line of JSON, and line breaks of the data are escaped', async (t) => {
  const data = { text: 'one\ntwo\r\nthree\u2028\n\nevent: done\ndata: {}\n\n' }
  const text = await textOf(given({ event: 'delta', data }, { event: 'done', data: null }))
  t.match(text, /^event: delta\ndata: [^\n\r]+\n\nevent: done\ndata: null\n\n$/)
  t.same(parseEvents(text), [{ event: 'delta', data }, { event: 'done', data: null }])
})

t.test('a source without events gives an empty stream', async (t) => {
  t.equal(await textOf(given()), '')
})

t.test('a comment is sent repeatedly during silence, and no event is lost', async (t) => {
  const { opened, open } = latch()
  const stream = eventStream((async function * () {
    yield { event: 'a', data: 1 }
    await opened
    yield { event: 'b', data: 2 }
  })(), { ...OPTIONS, heartbeatMs: 1 })
  let text = ''
  let beats = 0
  for await (const chunk of stream) {
    text += String(chunk)
    beats = text.split(': heartbeat\n\n').length - 1
    if (beats >= 3) open()
  }
  t.same(
    parseEvents(text).filter(({ event }) => event !== 'comment'), [{ event: 'a', data: 1 }, { event: 'b', data: 2 }],
  )
  t.ok(beats >= 3)
})

t.test('an error during a stream is sent as an event, and the stream ends properly', async (t) => {
  const text = await textOf((async function * () {
    yield { event: 'a', data: 1 }
    throw new Error('broken')
  })())
  t.same(parseEvents(text), [{ event: 'a', data: 1 }, { event: 'error', data: { message: 'broken' } }])
})

t.test('the source is read only as fast as the stream', async (t) => {
  let taken = 0
  const stream = eventStream((async function * () {
    for (;; taken++) yield { event: 'a', data: 'x'.repeat(1000) }
  })(), OPTIONS)
  await once(stream, 'readable')
  for (let index = 0; index < 50; index++) await setImmediate()
  t.ok(taken <= 3, `${taken}`)
  const before = taken
  for (let index = 0; index < 10; index++) {
    stream.read()
    await setImmediate()
  }
  t.ok(taken > before && taken <= 15, `${taken}`)
  stream.destroy()
})

t.test('a reader that disconnects ends the source', async (t) => {
  const { opened, open } = latch()
  const stream = eventStream((async function * () {
    try {
      for (;;) yield { event: 'a', data: 1 }
    } finally {
      open()
    }
  })(), OPTIONS)
  await once(stream, 'readable')
  stream.destroy()
  await opened
  t.equal(stream.destroyed, true)
})

t.test('a step that fails after the reader has disconnected causes no unhandled rejection', async (t) => {
  const { opened, open } = latch()
  const stream = eventStream((async function * (): AsyncGenerator<ServerSentEvent, void> {
    await opened
    throw new Error('late')
  })(), OPTIONS)
  let told = false
  stream.on('error', () => { told = true })
  stream.read()
  stream.destroy()
  open()
  for (let index = 0; index < 10; index++) await setImmediate()
  t.equal(told, false)
})
