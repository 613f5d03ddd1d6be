import { once } from 'node:events'
import { request, type ClientRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import type { ImportOutcome, IdempotencyRecord } from '../../lib/stores/vector-store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { exportOf, HEADER, ndjson } from './ndjson.js'

/** Delays each write by `import`, as those that replace a near-duplicate, until the test releases it. */
class GatedStore extends InMemoryVectorStore {
  readonly held: Array<() => void> = []
  /** Requests that have asked for the answer of an earlier one with their key, and wait for their turn next. */
  asked = 0

  async findIdempotencyRecord (): Promise<IdempotencyRecord | undefined> {
    this.asked += 1
    return undefined
  }

  override async import (...given: Parameters<InMemoryVectorStore['import']>): Promise<ImportOutcome> {
    await new Promise<void>((resolve) => { this.held.push(resolve) })
    return await super.import(...given)
  }

  async letGo (): Promise<void> {
    while (this.held.length === 0) await setImmediate()
    this.held.shift()!()
  }
}

interface Write {
  path: string
  headers: Record<string, string>
  body: string
}

const LEFT = 'the client disconnected before the response'
const KEY = { 'idempotency-key': 'again' }

function send (
  t: Test, { app }: TestApp,
  { method = 'POST', path, headers, body }: Partial<Write> & { method?: string, path: string },
): ClientRequest {
  const { port } = app.server.address() as AddressInfo
  const sent = request({ host: '127.0.0.1', port, path, method, agent: false, headers })
  sent.on('error', () => {})
  t.teardown(() => { sent.destroy() })
  return sent.end(body)
}

/** The first write is held in the store. The client of the second, which waits for its turn, leaves. */
async function leaveTheQueue (
  t: Test, app: TestApp, store: GatedStore, [first, second]: [Write, Write],
): Promise<void> {
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const inject = async ({ path, headers, body }: Write) => (
    await app.inject({ method: 'POST', url: path, headers, payload: body })
  )
  const earlier = inject(first)
  while (store.held.length === 0) await setImmediate()
  const marked = { ...second, headers: { ...second.headers, ...KEY } }
  const leaving = send(t, app, marked)
  while (store.asked === 0) await setImmediate()
  t.equal((await inject(marked)).json().code, 'idempotency_key_in_flight')
  leaving.destroy()
  while (!app.log.some(({ msg }) => msg === LEFT)) await setImmediate()
  await store.letGo()
  t.equal((await earlier).statusCode, 200, 'the first is not affected')
  const again = inject(marked)
  await store.letGo()
  const answer = await again
  t.equal(answer.statusCode, 200, 'the key of the second is free')
  t.equal(answer.headers['idempotent-replayed'], undefined, 'no work was done under it')
  t.strictSame(app.log.filter(({ level, err }) => Number(level) > 30 || err !== undefined), [], 'it is no fault')
}

t.test('an import that waits for another is cancelled when its client disconnects', async (t) => {
  const store = new GatedStore()
  const app = await testApp(t, { file: { homeostasis: { quotas: { import_per_day: 2 } } } }, { store })
  const write = (text: string): Write => ({
    path: '/v1/banks/home/import', headers: { 'content-type': 'application/x-ndjson' }, body: ndjson(HEADER, { text }),
  })
  await leaveTheQueue(t, app, store, [write('copper kettle'), write('silver bucket')])
  const [, ...memories] = await exportOf(app, 'home')
  t.strictSame(memories.map(({ text }) => text), ['copper kettle', 'silver bucket'])
})

t.test('a retain that waits for a comparison is cancelled too, and its quota is refunded', async (t) => {
  const store = new GatedStore()
  const file = {
    signal_quality: { dedup: { action: 'update' as const, threshold: 0.7 } },
    homeostasis: { quotas: { retain_per_day: 3 } },
  }
  const app = await testApp(t, { file }, { store })
  const similar = 'stands behind wooden garden shed near old stone'
  const write = (start: string): Write => ({
    path: '/v1/retain',
    headers: {
      'content-type': 'application/json',
    },
    body: JSON.stringify({ bank_id: 'home', content: `${start} ${similar}` }),
  })
  await app.retain('home', `iron ladder ${similar}`)
  await leaveTheQueue(t, app, store, [write('copper kettle'), write('silver bucket')])
  const [, ...memories] = await exportOf(app, 'home')
  t.strictSame(memories.map(({ text }) => text), [`silver bucket ${similar}`])
})

/** Its removal of a bank waits until its signal aborts. */
class WaitingStore extends InMemoryVectorStore {
  removals = 0

  override async removeBank (...[, , signal]: Parameters<InMemoryVectorStore['removeBank']>): Promise<never> {
    this.removals += 1
    await once(signal!, 'abort')
    throw signal!.reason
  }
}

t.test('a deletion of a bank that waits is cancelled when its client disconnects', async (t) => {
  const store = new WaitingStore()
  const app = await testApp(t, {}, { store })
  await app.retain('home', 'copper kettle')
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const leaving = send(t, app, { method: 'DELETE', path: '/v1/banks/home' })
  while (store.removals === 0) await setImmediate()
  leaving.destroy()
  while (!app.log.some(({ msg }) => msg === LEFT)) await setImmediate()
  t.strictSame(app.log.filter(({ level }) => Number(level) > 30), [], 'it is not logged as a fault')
  t.equal((await exportOf(app, 'home')).length, 2)
})

t.test('a fault of work whose client has left is in the log with its cause', async (t) => {
  const store = new InMemoryVectorStore()
  let fail: (error: Error) => void = () => {}
  const asked = new Promise<void>((resolve) => {
    store.search = async () => await new Promise((_resolve, reject) => {
      fail = reject
      resolve()
    })
  })
  const app = await testApp(t, {}, { store })
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const leaving = send(t, app, {
    path: '/v1/recall', headers: { 'content-type': 'application/json' }, body: '{"bank_id":"home","query":"kettle"}',
  })
  await asked
  leaving.destroy()
  while (app.app.activeRequests.size > 0) await setImmediate()
  fail(new RangeError('the index is broken'))
  const left = () => app.log.find(({ msg }) => msg === LEFT)
  while (left() === undefined) await setImmediate()
  t.match(left(), { err: { type: 'RangeError', stack: /writes-given-up/ }, code: 'dependency_unavailable' })
})
