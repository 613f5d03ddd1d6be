import { once } from 'node:events'
import t, { type Test } from 'tap'
import { startServer } from '../helpers/server.js'
import { post, RawConnection } from './raw.js'

interface Retained {
  stored: boolean
  memory_id: string
}

/** Connections that have sent all of a request but its last byte. */
async function poised (t: Test, url: string, count: number, text: string): Promise<RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: count }, async () => await RawConnection.open(t, url)))
  for (const connection of connections) connection.write(text.slice(0, -1))
  return connections
}

t.test('twenty simultaneous identical retains store one memory', async (t) => {
  const { url } = await startServer(t)
  for (const bank of ['first', 'second', 'third']) {
    const text = post('/v1/retain', { bank_id: bank, content: 'The otter sleeps.', tags: ['a'] })
    const connections = await poised(t, url, 20, text)
    for (const connection of connections) connection.write(text.slice(-1))
    const answers = await Promise.all(connections.map(async (connection) => await connection.response()))
    t.same(answers.map(({ status }) => status), Array.from({ length: 20 }, () => 200))
    const retained = answers.map(({ body }) => JSON.parse(body) as Retained)
    t.equal(retained.filter(({ stored }) => stored).length, 1)
    t.equal(new Set(retained.map(({ memory_id: id }) => id)).size, 1)
    t.equal((await views(url, bank)).count, 1)
  }
})

t.test('of twenty simultaneous requests with one idempotency key one does the work', async (t) => {
  const { url } = await startServer(t)
  const text = post(
    '/v1/retain/batch', { bank_id: 'team', items: [{ content: 'One.' }, { content: 'Two.' }] },
    { 'idempotency-key': 'k' },
  )
  const connections = await poised(t, url, 20, text)
  for (const connection of connections) connection.write(text.slice(-1))
  const answers = await Promise.all(connections.map(async (connection) => await connection.response()))
  const done = answers.filter(({ status }) => status === 200)
  t.equal(done.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
  t.equal(new Set(done.map(({ body }) => body)).size, 1, 'all answers of successful requests are equal')
  t.ok(answers.every(({ status, body }) => (
    status === 200 || (status === 409 && JSON.parse(body).code === 'idempotency_key_in_flight')
  )))
  t.equal((await views(url, 'team')).count, 2)
})

/** Every way to look at a bank, as the ids that each shows. */
async function views (url: string, bank: string): Promise<{ count: number, ids: string[][] }> {
  const json = async (path: string, body?: unknown) => {
    const response = await fetch(
      `${url}/v1/${path}`,
      body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    )
    return await response.json() as { memory_count: number, memories: Retained[], hits: Retained[] }
  }
  const ids = (records: Retained[]) => records.map(({ memory_id: id }) => id).sort()
  const { memory_count: count } = await json(`banks/${bank}/stats`)
  const listed = ids((await json(`banks/${bank}/memories?limit=200`)).memories)
  const found = ids((await json('recall', { bank_id: bank, query: 'otter one two', max_results: 100 })).hits)
  const [, ...lines] = (await (await fetch(`${url}/v1/banks/${bank}/export`)).text()).trim().split('\n')
  const exported = ids(lines.map((line) => JSON.parse(line) as Retained))
  const got = await Promise.all(listed.map(async (id) => (
    (await fetch(`${url}/v1/banks/${bank}/memories/${id}`)).status === 200 ? id : 'missing'
  )))
  return { count, ids: [listed, found, exported, got.sort()] }
}

/**
 * The views of a bank once they agree. What a client sent before it hung up may be worked on between two of the
 * requests that look, so views that differ are looked at again; a memory that is half there would differ for ever.
 */
async function settled (url: string, bank: string): ReturnType<typeof views> {
  let seen = await views(url, bank)
  for (let tries = 0; tries < 50 && seen.ids.some((view) => view.length !== seen.count); tries++) {
    seen = await views(url, bank)
  }
  return seen
}

t.test('a retain whose client disconnects is stored completely or not at all', async (t) => {
  const { url } = await startServer(t)
  const content = `The otter sleeps. ${'It is a long text of many passages. '.repeat(500)}`
  let stored = 0
  let turn = 0
  for (const reset of [false, true]) {
    for (const [part, isAnswered] of [[0.1], [0.5], [0.9], [0.9999], [1], [1], [1, true]] as const) {
      const bank = `bank-${turn++}`
      const bytes = post('/v1/retain', { bank_id: bank, content }, { 'idempotency-key': bank })
      const connection = await RawConnection.open(t, url)
      await new Promise<void>((resolve) => {
        connection.socket.write(bytes.slice(0, Math.floor(bytes.length * part)), () => { resolve() })
      })
      if (isAnswered === true) await once(connection.socket, 'data')
      if (reset) connection.socket.resetAndDestroy()
      else connection.socket.destroy()
      await connection.closed
      // Answered after whatever the server had read before.
      await (await fetch(`${url}/live`)).text()

      const { count, ids } = await settled(url, bank)
      t.ok(count === 0 || (count === 1 && part === 1), `${part} of the request: ${count} stored`)
      for (const view of ids) t.equal(view.length, count)
      t.equal(new Set(ids.map((view) => view.join())).size, 1, 'all views agree')
      stored += count

      // The key of a request that broke off is free, or has the answer of one that did not.
      const retain = async () => (
        await fetch(`${url}/v1/retain`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': bank },
          body: JSON.stringify({ bank_id: bank, content }),
        })
      )
      let again = await retain()
      for (let tries = 0; tries < 50 && again.status === 409; tries++) again = await retain()
      t.equal(again.status, 200)
      t.equal((await views(url, bank)).count, 1)
    }
  }
  t.ok(stored >= 2, `${stored} of the whole requests were stored, with those whose answers had begun`)
})

t.test('the server still works after clients disconnect in the middle of a request', async (t) => {
  const server = await startServer(t)
  const requests = [
    post('/v1/retain/batch', {
      bank_id: 'team', items: Array.from({ length: 100 }, (_, index) => ({ content: `Otter ${index}` })),
    }),
    post('/v1/recall', { bank_id: 'team', query: 'otter', max_results: 1000 }),
    post('/v1/reflect', { bank_id: 'team', query: 'otter' }),
    post('/v1/forget', { bank_id: 'team', tags: ['x'] }),
  ]
  for (let turn = 0; turn < 60; turn++) {
    const bytes = requests[turn % requests.length]!
    const connection = await RawConnection.open(t, server.url)
    connection.write(bytes.slice(0, 1 + (turn * 7919) % bytes.length))
    connection.socket.resetAndDestroy()
  }
  const { count, ids } = await views(server.url, 'after')
  t.same({ count, ids }, { count: 0, ids: [[], [], [], []] })
  t.notMatch(server.output(), /"level":[56]0/)
})
