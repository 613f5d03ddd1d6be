import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { BankKey } from '../../lib/access/context.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { Memory } from '../../lib/stores/vector-store.js'
import { RawConnection, request } from '../blackbox/raw.js'
import { testApp } from '../helpers/app.js'
import type { TestConfig } from '../helpers/config.js'
import { generation, latch, ScriptedModel } from './reflecting.js'
import { as, refused } from './support.js'

/**
 * Counts the exports that are not ended. Each waits where the test says: before its scan is there, or after so many
 * memories.
 */
class SlowStore extends InMemoryVectorStore {
  readonly signals: AbortSignal[] = []
  begun = 0
  ended = 0
  scanning: Promise<void> = Promise.resolve()
  haltAfter = Infinity
  halted: Promise<void> = Promise.resolve()

  override async scan (
    bank: BankKey, now: number, signal?: AbortSignal,
  ): Promise<{ count: number, memories: AsyncIterable<Memory> }> {
    if (signal !== undefined) this.signals.push(signal)
    this.begun++
    await this.scanning
    const { count, memories } = await super.scan(bank, now)
    const source = memories[Symbol.asyncIterator]()
    let read = 0
    let isOpen = true
    const iterator: AsyncIterator<Memory> = {
      next: async () => {
        if (read++ === this.haltAfter) await this.halted
        return await source.next()
      },
      return: async () => {
        if (isOpen) this.ended++
        isOpen = false
        return { done: true, value: undefined }
      },
    }
    return { count, memories: { [Symbol.asyncIterator]: () => iterator } }
  }
}

const QUESTION = { bank_id: 'bank', query: 'What does Alice drink?' }

async function served (t: Test, file: TestConfig['file'] = {}) {
  const store = new SlowStore()
  const app = await testApp(t, { file }, { store })
  for (let index = 0; index < 3; index++) await app.retain('bank', `Memory ${index}`)
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const until = async (condition: () => boolean) => { while (!condition()) await setImmediate() }
  return { ...app, store, url, until }
}

const EXPORT = request('GET', '/v1/banks/bank/export', { headers: { 'x-service-principal': 'user:alice' } })

await t.test('an export that is read to its end is ended, and so is one that HEAD requests', async (t) => {
  const { store, inject, until } = await served(t)
  t.equal((await inject({ method: 'GET', url: '/v1/banks/bank/export' })).body.trim().split('\n').length, 4)
  await until(() => store.ended === 1)
  t.equal((await inject({ method: 'HEAD', url: '/v1/banks/bank/export' })).statusCode, 200)
  await until(() => store.ended === 2)
})

await t.test('a client that disconnects while the store still scans ends its export', async (t) => {
  const { store, url, until, app } = await served(t)
  const { opened, open } = latch()
  store.scanning = opened
  const connection = await RawConnection.open(t, url)
  connection.write(EXPORT)
  await until(() => store.begun === 1)
  connection.socket.destroy()
  await until(() => store.signals[0]!.aborted)
  open()
  await until(() => store.ended === 1 && app.activeRequests.size === 0)
})

await t.test('a client that disconnects in the middle ends its export, also before the first memory', async (t) => {
  for (const haltAfter of [0, 2]) {
    const { store, url, until, app } = await served(t)
    store.haltAfter = haltAfter
    store.halted = latch().opened
    const connection = await RawConnection.open(t, url)
    connection.write(EXPORT)
    await until(() => store.begun === 1 && app.activeRequests.size === 1)
    connection.socket.destroy()
    await until(() => store.ended === 1 && app.activeRequests.size === 0)
  }
})

await t.test('a client that disconnects before its export begins ends it', async (t) => {
  const { store, app, url, until } = await served(t)
  const { opened, open } = latch()
  const { memory } = app
  const begin = memory.exportBank
  let asked = false
  memory.exportBank = async (...given) => {
    asked = true
    await opened
    return await begin(...given)
  }
  const connection = await RawConnection.open(t, url)
  connection.write(EXPORT)
  await until(() => asked)
  connection.socket.destroy()
  await until(() => app.activeRequests.size === 0)
  open()
  await until(() => store.ended === 1)
  t.equal(store.signals[0]!.aborted, true)
})

await t.test('a caller may have bounds.streams_per_caller open streams, and then gets 429', async (t) => {
  const { store, url, inject, until, app } = await served(t, { bounds: { streams_per_caller: 2 } })
  const get = async (principal: string) => (
    await inject({ method: 'GET', url: '/v1/banks/bank/export', headers: as(principal) })
  )
  const { opened, open } = latch()
  store.haltAfter = 1
  store.halted = opened
  const connections = [await RawConnection.open(t, url), await RawConnection.open(t, url)]
  for (const connection of connections) {
    connection.write(EXPORT)
    await once(connection.socket, 'data')
  }
  const tooMany = await get('user:alice')
  refused(t, tooMany, 429, 'too_many_streams', { detail: /bounds\.streams_per_caller/, retry_after_seconds: 1 })
  t.equal(tooMany.headers['retry-after'], '1')
  const events = await inject({
    method: 'POST',
    url: '/v1/reflect',
    headers: { ...as('user:alice'), accept: 'text/event-stream' },
    payload: { bank_id: 'bank', query: 'Which memory?' },
  })
  refused(t, events, 429, 'too_many_streams')
  store.haltAfter = Infinity
  t.equal((await get('user:bob')).statusCode, 200, 'another caller has its own streams')
  connections[0]!.socket.destroy()
  await until(() => app.activeRequests.size === 1)
  t.equal((await get('user:alice')).statusCode, 200)
  open()
  await connections[1]!.response()
  await until(() => app.activeRequests.size === 0)
})

await t.test('streams that are refused or complete no longer count', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => generation('Tea [1].')
  const { inject, retain } = await testApp(t, { file: { bounds: { streams_per_caller: 1 } } }, { languageModel })
  await retain('bank', 'Alice drinks green tea.')
  const ask = async (body: object) => (
    await inject({ method: 'POST', url: '/v1/reflect', headers: { accept: 'text/event-stream' }, payload: body })
  )
  for (let index = 0; index < 3; index++) {
    t.equal((await inject({ method: 'GET', url: '/v1/banks/bank/export' })).statusCode, 200)
    t.equal((await inject({ method: 'GET', url: '/v1/banks/@/export' })).statusCode, 400)
    t.equal((await ask({ ...QUESTION, min_trust: 'trusted' })).statusCode, 200)
    t.equal((await ask({ ...QUESTION, occurred_after: 'never' })).statusCode, 400)
  }
})

await t.test('each memory has one complete line in an export, however long it is', async (t) => {
  const { inject, retain } = await testApp(t)
  const content = 'caf\u00e9 \ud83c\udf75 "tea"\n'.repeat(3500).trim()
  for (let index = 0; index < 3; index++) await retain('bank', `${index} ${content}`)
  const lines = (await inject({ method: 'GET', url: '/v1/banks/bank/export' })).body.trim().split('\n')
    .map((line) => JSON.parse(line) as { text?: string })
  t.same(lines.slice(1).map(({ text }) => text), [0, 1, 2].map((index) => `${index} ${content}`))
})
