import t from 'tap'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import type { Executor, Param } from '../../../../lib/stores/sql/executor.js'
import { testApp } from '../../../helpers/app.js'
import { newMemories, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase } from '../../../helpers/sql-database.js'
import { collect } from '../../../contract/vector-store/setup.js'

const home = { tenantId: null, bankId: 'home' }
const MIB = 1024 * 1024

await t.test('scans', async (t) => {
  const database = await sqlDatabase(t)
  /** The rows that each page of a scan had, and their characters. */
  const pages: Array<{ rows: number, characters: number }> = []
  let afterPage: () => void = () => {}
  const watched: Executor = {
    query: async (text, params) => await database.query(text, params),
    read: async (text, params) => await database.read(text, params),
    maintain: async (text) => { await database.maintain(text) },
    transaction: async (work, options) => await database.transaction(async (tx) => await work({
      script: async (text) => { await tx.script(text) },
      query: async <R extends object>(text: string, params?: readonly Param[]) => {
        const rows = await tx.query<R>(text, params)
        if (text.includes('bytes_before')) {
          pages.push({
            rows: rows.length,
            characters: rows.reduce((sum, row) => sum + ('text' in row ? String(row.text).length : 0), 0),
          })
          afterPage()
        }
        return rows
      },
    }), options),
    close: async () => {},
  }
  const schema = schemaIn(t, database)
  const open = async (spoolBytes?: number) => {
    const store = new SqlVectorStore({ executor: watched, schema, bootstrapSchema: true, sweepIntervalMs: 0 })
    await store.start({ clock: () => NOW, warn: () => {}, ...(spoolBytes !== undefined && { spoolBytes }) })
    t.teardown(async () => { await store.close() })
    return store
  }
  const store = await open()
  // Small ones first, so that nothing is known of large ones when they come.
  const small = Array.from({ length: 700 }, (_, index) => `small ${index}`)
  const large = Array.from({ length: 250 }, (_, index) => `large ${index} ${'x'.repeat(49_000)}`)
  for (const texts of [small, large]) {
    for (let start = 0; start < texts.length; start += 100) {
      await store.insert(home, await newMemories(texts.slice(start, start + 100)), { now: NOW })
    }
  }

  await t.test('a page has about a megabyte, whatever the memories, and each memory is returned once', async (t) => {
    pages.length = 0
    const { count, memories } = await store.scan(home, NOW)
    const read = await collect(memories)
    t.equal(count, 950)
    t.strictSame(read.map(({ text }) => text), [...small, ...large])
    t.ok(pages.every(({ rows, characters }) => rows <= 1000 && characters < MIB + 50_000), JSON.stringify(pages))
    t.ok(pages.length < 25, 'small memories come in large pages')
  })

  await t.test('a client that disconnects ends the scan at the next page, and the connection is free', async (t) => {
    for (const at of [0, 1, 3]) {
      pages.length = 0
      const leaving = new AbortController()
      const gone = new Error('gone')
      afterPage = () => { if (pages.length === at) leaving.abort(gone) }
      if (at === 0) leaving.abort(gone)
      await t.rejects(store.scan(home, NOW, leaving.signal), gone)
      t.equal(pages.length, at)
    }
    afterPage = () => {}
    t.equal((await store.scan(home, NOW, new AbortController().signal)).count, 950)
  })

  await t.test('exports beyond the byte limit get 503 until others end', async (t) => {
    // Of the twelve megabytes eight are held in the process.
    const bounded = await open(7 * MIB)
    const { get } = await testApp(t, { file: { bounds: { spool_bytes: 7 * MIB } } }, { store: bounded })
    const first = await bounded.scan(home, NOW)
    const refused = await get('/v1/banks/home/export')
    t.equal(refused.statusCode, 503, refused.body)
    t.match(
      { code: refused.json<{ code: string }>().code, retryAfter: refused.headers['retry-after'] },
      { code: 'server_busy', retryAfter: '1' },
    )
    await first.memories.return?.()
    const answer = await get('/v1/banks/home/export')
    t.equal(answer.statusCode, 200)
    t.equal(answer.body.trim().split('\n').length, 951)
  })

  await t.test('the bound is that of the configuration', async (t) => {
    const unstarted = new SqlVectorStore({ executor: watched, schema, bootstrapSchema: true, sweepIntervalMs: 0 })
    const { get } = await testApp(t, { file: { bounds: { spool_bytes: MIB } } }, { store: unstarted })
    t.equal((await get('/v1/banks/home/export')).statusCode, 503)
  })
})
