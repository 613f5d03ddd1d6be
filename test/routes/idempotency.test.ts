import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { VectorStore } from '../../lib/stores/vector-store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { MCP_HEADERS, toolCall } from '../helpers/mcp.js'
import { HEADER, importInto, ndjson } from './ndjson.js'
import { refused, refusedFields } from './support.js'

/** A store whose writes wait until the test releases them. */
class HeldStore extends InMemoryVectorStore {
  #open: () => void = () => undefined
  #gate: Promise<void> = Promise.resolve()
  #arrived: () => void = () => undefined
  /** Calls of writing methods so far. */
  writes = 0

  /** @returns what settles when the next write has come and waits */
  async hold (): Promise<void> {
    this.#gate = new Promise((resolve) => { this.#open = resolve })
    await new Promise<void>((resolve) => { this.#arrived = resolve })
  }

  letGo (): void {
    this.#open()
  }

  async #wait (): Promise<void> {
    this.writes++
    this.#arrived()
    await this.#gate
  }

  override async insert (...call: Parameters<VectorStore['insert']>): ReturnType<VectorStore['insert']> {
    await this.#wait()
    return await super.insert(...call)
  }

  override async remove (...call: Parameters<VectorStore['remove']>): ReturnType<VectorStore['remove']> {
    await this.#wait()
    return await super.remove(...call)
  }

  override async import (...call: Parameters<VectorStore['import']>): ReturnType<VectorStore['import']> {
    await this.#wait()
    return await super.import(...call)
  }
}

type Send = (app: TestApp, key: string, variant?: string) => ReturnType<TestApp['post']>

/** Each route that takes a key, with a body that differs by its variant. */
const routes: Record<string, Send> = {
  'POST /v1/retain': async ({ post }, key, variant = 'a') => (
    await post('/v1/retain', { bank_id: 'bank', content: `One ${variant}.` }, { 'idempotency-key': key })
  ),
  'POST /v1/retain/batch': async ({ post }, key, variant = 'a') => (
    await post(
      '/v1/retain/batch', { bank_id: 'bank', items: [{ content: `One ${variant}.` }, { content: `Two ${variant}.` }] },
      { 'idempotency-key': key },
    )
  ),
  'POST /v1/forget': async ({ post }, key, variant = 'a') => (
    await post('/v1/forget', { bank_id: 'bank', tags: [variant] }, { 'idempotency-key': key })
  ),
  'POST /v1/banks/{bank_id}/import': async (app, key, variant = 'a') => (
    await importInto(app, 'bank', ndjson(HEADER, { text: `One ${variant}.` }), { 'idempotency-key': key })
  ),
}

async function heldApp (t: Parameters<typeof testApp>[0]): Promise<{ app: TestApp, store: HeldStore }> {
  const store = new HeldStore()
  const app = await testApp(t, {}, { store })
  await app.retain('bank', 'To be forgotten.', { tags: ['a'] })
  store.writes = 0
  return { app, store }
}

for (const [route, send] of Object.entries(routes)) {
  await t.test(route, async (t) => {
    await t.test('returns the same answer without executing the request, with Idempotent-Replayed', async (t) => {
      const { app, store } = await heldApp(t)
      const first = await send(app, 'key')
      t.equal(first.statusCode, 200)
      t.equal(first.headers['idempotent-replayed'], undefined)
      const again = await send(app, 'key')
      t.equal(again.statusCode, 200)
      t.equal(again.headers['idempotent-replayed'], 'true')
      t.equal(again.body, first.body)
      t.not(again.headers['x-request-id'], first.headers['x-request-id'])
      t.equal(store.writes, 1)
    })

    await t.test('executes the request for another key and without a key', async (t) => {
      const { app, store } = await heldApp(t)
      for (const key of ['key', 'KEY', 'key2']) {
        t.equal((await send(app, key)).headers['idempotent-replayed'], undefined)
      }
      t.equal(store.writes, 3)
    })

    await t.test('refuses the key with another body, and keeps the first answer', async (t) => {
      const { app, store } = await heldApp(t)
      const first = await send(app, 'key')
      refused(t, await send(app, 'key', 'b'), 409, 'idempotency_key_reused')
      t.equal(store.writes, 1)
      t.equal((await send(app, 'key')).body, first.body)
    })

    await t.test('refuses a key whose request is in progress, and answers it afterwards', async (t) => {
      const { app, store } = await heldApp(t)
      const arrived = store.hold()
      const pending = send(app, 'key')
      await arrived
      refused(t, await send(app, 'key'), 409, 'idempotency_key_in_flight')
      refused(t, await send(app, 'key', 'b'), 409, 'idempotency_key_reused')
      store.letGo()
      const first = await pending
      t.equal(first.statusCode, 200)
      const again = await send(app, 'key')
      t.equal(again.headers['idempotent-replayed'], 'true')
      t.equal(again.body, first.body)
      t.equal(store.writes, 1)
    })

    await t.test('keeps an answer for 24 hours', async (t) => {
      const { app, store } = await heldApp(t)
      await send(app, 'key')
      app.clock.advance(86_400_000 - 1)
      t.equal((await send(app, 'key')).headers['idempotent-replayed'], 'true')
      app.clock.advance(1)
      const after = await send(app, 'key', 'b')
      t.equal(after.statusCode, 200)
      t.equal(after.headers['idempotent-replayed'], undefined)
      t.equal(store.writes, 2)
    })

    await t.test('accepts keys of 1 to 255 printable ASCII characters', async (t) => {
      const { app } = await heldApp(t)
      for (const key of ['k', 'k'.repeat(255), 'a b;c="~"']) {
        t.equal((await send(app, key)).statusCode, 200, key.slice(0, 10))
      }
      for (const key of ['', 'k'.repeat(256), 'k\u00e9y', 'a\tb']) {
        refusedFields(t, await send(app, key), 'Idempotency-Key')
      }
    })

    await t.test('keeps no answer of a fault, and the key is free again', async (t) => {
      const { app, store } = await heldApp(t)
      const healthy = { insert: store.insert, remove: store.remove, import: store.import }
      const down = async (): Promise<never> => { throw new Error('down') }
      Object.assign(store, { insert: down, remove: down, import: down })
      refused(t, await send(app, 'key'), 503, 'dependency_unavailable')
      Object.assign(store, healthy)
      const retried = await send(app, 'key')
      t.equal(retried.statusCode, 200)
      t.equal(retried.headers['idempotent-replayed'], undefined)
    })
  })
}

await t.test('a key that is sent twice is 400', async (t) => {
  const { app } = await testApp(t)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = async (path: string, body: object) => {
    const headers = { ...MCP_HEADERS, 'idempotency-key': ['a', 'b'] }
    const request = httpRequest(`${address}${path}`, { method: 'POST', headers }).end(JSON.stringify(body))
    const [response] = await once(request, 'response') as [IncomingMessage]
    return { status: response.statusCode, text: (await response.setEncoding('utf8').toArray()).join('') }
  }
  const memory = { bank_id: 'bank', content: 'One.' }
  for (const [path, body] of [['/v1/retain', memory], ['/mcp', toolCall('retain', memory)]] as const) {
    const { status, text } = await ask(path, body)
    t.equal(status, 400, path)
    t.match(text, 'Idempotency-Key: must be sent once')
  }
})

await t.test('a refusal is not stored', async (t) => {
  const app = await testApp(t, { file: { homeostasis: { rate_limits: { retain_per_minute: 1 } } } })
  const { post, clock } = app
  const key = { 'idempotency-key': 'key' }
  refusedFields(t, await post('/v1/retain', { bank_id: 'bank', content: ' ' }, key), 'content')
  t.equal(
    (await post('/v1/retain', { bank_id: 'bank', content: 'good' }, key)).headers['idempotent-replayed'], undefined,
  )
  const second = { 'idempotency-key': 'second' }
  refused(t, await post('/v1/retain', { bank_id: 'bank', content: 'more' }, second), 429, 'rate_limited')
  clock.advance(60_000)
  const retried = await post('/v1/retain', { bank_id: 'bank', content: 'more' }, second)
  t.match(
    { status: retried.statusCode, replayed: retried.headers['idempotent-replayed'] },
    { status: 200, replayed: undefined },
  )
})

await t.test('a replay does not count for limits and quotas', async (t) => {
  const { post } = await testApp(t, {
    file: { homeostasis: { rate_limits: { retain_per_minute: 2 }, quotas: { retain_per_day: 2 } } },
  })
  const retain = async (content: string, key: string) => (
    await post('/v1/retain', { bank_id: 'bank', content }, { 'idempotency-key': key })
  )
  for (let round = 0; round < 5; round++) t.equal((await retain('one', 'a')).statusCode, 200)
  t.equal((await retain('two', 'b')).statusCode, 200)
  refused(t, await retain('three', 'c'), 429, 'rate_limited')
  t.equal((await retain('one', 'a')).headers['idempotent-replayed'], 'true')
})

const BODY = '{"bank_id":"bank","content":"One.","tags":["a","b"],"metadata":{"x":1,"y":2}}'
const sameBodies: Record<string, string> = {
  'the order of keys': '{"metadata":{"y":2,"x":1},"tags":["a","b"],"content":"One.","bank_id":"bank"}',
  'white space': '{ "bank_id": "bank",\n "content": "One.", "tags": [ "a", "b" ], "metadata": { "x": 1, "y": 2 } }',
  'another spelling of the same text':
    '{"bank_id":"bank","content":"\\u004fne.","tags":["a","b"],"metadata":{"x":1.0,"y":2}}',
  'null for an absent field':
    '{"bank_id":"bank","content":"One.","tags":["a","b"],"metadata":{"x":1,"y":2},"source":null}',
}
const otherBodies: Record<string, string> = {
  'another order in a list': BODY.replace('["a","b"]', '["b","a"]'),
  'another value in metadata': BODY.replace('"y":2', '"y":3'),
  'another kind of value': BODY.replace('"y":2', '"y":"2"'),
}

async function pair (t: Parameters<typeof testApp>[0], second: string) {
  const { inject } = await testApp(t)
  const send = async (payload: string) => (
    await inject({
      method: 'POST',
      url: '/v1/retain',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'key' },
      payload,
    })
  )
  await send(BODY)
  return await send(second)
}

for (const [what, body] of Object.entries(sameBodies)) {
  await t.test(`${what} counts as the same body`, async (t) => {
    t.equal((await pair(t, body)).headers['idempotent-replayed'], 'true')
  })
}
for (const [what, body] of Object.entries(otherBodies)) {
  await t.test(`${what} counts as another body`, async (t) => {
    refused(t, await pair(t, body), 409, 'idempotency_key_reused')
  })
}
