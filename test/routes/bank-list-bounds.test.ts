import t, { type Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { answerOf, connectMcp } from '../helpers/mcp.js'
import { newMemory, NOW } from '../helpers/memories.js'
import { as } from './support.js'

const FILE: FileConfig = {
  access_control: { enabled: true, default_policy: 'owner_only', owner_patterns: ['user-{id}'] },
}
const OTHERS = 2500
/** Between the banks of others, after more than one call examines. */
const OWN = 'user-2300x'
const ADA = as('user:2300x')

interface Page {
  banks: Array<{ bank_id: string }>
  next_cursor: string | null
}

/** Counts the pages that the service reads from it. */
class CountingStore extends InMemoryVectorStore {
  pages = 0
  /** Called with each page. */
  listed = () => {}

  override async listBanks (
    ...request: Parameters<InMemoryVectorStore['listBanks']>
  ): ReturnType<InMemoryVectorStore['listBanks']> {
    this.pages++
    this.listed()
    return await super.listBanks(...request)
  }
}

async function setUp (t: Test): Promise<TestApp & { store: CountingStore }> {
  const store = new CountingStore()
  const home = await testApp(t, { file: FILE }, { store })
  const memory = await newMemory('x')
  const names = Array.from({ length: OTHERS }, (_, index) => `user-${String(index).padStart(4, '0')}`)
  for (const bankId of [...names, OWN]) await store.insert({ tenantId: null, bankId }, [memory], { now: NOW })
  return { ...home, store }
}

t.test('a call examines a bounded number of banks, and its cursor leads to the others', async (t) => {
  const { app, get, store } = await setUp(t)
  for (const path of ['/v1/banks', '/v1/access']) {
    store.pages = 0
    const first = (await get(path, ADA)).json<Page>()
    t.same(first.banks, [])
    t.equal(store.pages, 4)
    const second = (await get(`${path}?cursor=${first.next_cursor}`, ADA)).json<Page>()
    t.match(second, { banks: [{ bank_id: OWN }], next_cursor: null })
    t.equal(store.pages, 6)
  }
  const client = await connectMcp(t, app, { headers: ADA })
  const { next_cursor: cursor, ...rest } = answerOf(await client.callTool({ name: 'list_banks', arguments: {} }))
  t.strictSame(rest, { banks: [] })
  t.match(answerOf(await client.callTool({ name: 'list_banks', arguments: { cursor } })), { banks: [{ bank_id: OWN }] })
})

t.test('the cursor tells no name of a bank that the caller may not read, and none can be forged', async (t) => {
  const { app, get } = await setUp(t)
  const forged = (bankId: string) => Buffer.from(JSON.stringify([bankId])).toString('base64url')
  const client = await connectMcp(t, app, { headers: ADA })
  const cursors = [
    ...await Promise.all(['/v1/banks', '/v1/access'].map(async (path) => (
      (await get(path, ADA)).json<Page>().next_cursor!
    ))),
    answerOf(await client.callTool({ name: 'list_banks', arguments: {} }))['next_cursor'] as string,
  ]
  for (const cursor of cursors) {
    t.notMatch(Buffer.from(cursor, 'base64url').toString('latin1'), /user-/)
    t.equal(cursor.length, cursors[0]!.length, 'its length tells no length of a name')
    t.equal((await get(`/v1/banks?cursor=${cursor}`, as('user:other'))).statusCode, 200, 'it is of any caller')
    const changed = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`
    for (const wrong of [changed, cursor.slice(4), forged('user-1999')]) {
      for (const path of ['/v1/banks', '/v1/access']) {
        const answer = await get(`${path}?cursor=${wrong}`, ADA)
        t.match([answer.statusCode, answer.json()], [400, { errors: [{ field: 'cursor' }] }])
      }
    }
  }
})

t.test('a call ends when its client leaves', async (t) => {
  const { app, store } = await setUp(t)
  const leaving = new AbortController()
  store.pages = 0
  store.listed = () => { leaving.abort(new Error('left')) }
  await t.rejects(app.memory.listBanks({}, { tenantId: null, principal: 'user:2300x' }, { signal: leaving.signal }), {
    message: 'left',
  })
  t.equal(store.pages, 1)
})
