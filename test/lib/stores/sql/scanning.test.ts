import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openScan } from '../../../../lib/stores/sql/reader.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import type { Executor, Param } from '../../../../lib/stores/sql/executor.js'
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
  const open = async () => {
    const store = new SqlVectorStore({ executor: watched, schema, bootstrapSchema: true, sweepIntervalMs: 0 })
    await store.start({ clock: () => NOW, warn: () => {} })
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

  const scan = async (idleMs?: number) => {
    let ends = 0
    const opened = await openScan({
      executor: watched,
      schema,
      bank: home,
      now: NOW,
      isWhole: false,
      signal: undefined,
      readAheadBytes: 2 * MIB,
      ...(idleMs !== undefined && { idleMs }),
      onEnd: () => { ends++ },
    })
    return { memories: opened.memories, reader: opened.memories[Symbol.asyncIterator](), ends: () => ends }
  }

  await t.test('a large bank is read as its reader takes it, and a snapshot is held no longer than that', async (t) => {
    pages.length = 0
    const { memories, ends } = await scan()
    const ahead = pages.length
    t.ok(ahead < 6, `${ahead} pages are read before the reader begins`)
    const texts: string[] = []
    for await (const { text } of memories) texts.push(text)
    t.strictSame(texts, [...small, ...large])
    t.ok(pages.length > ahead + 5)
    t.ok(ends() > 0)
  })

  await t.test('a reader that leaves, before the first memory or later, frees the snapshot', async (t) => {
    for (const taken of [0, 1, 900]) {
      const { reader, ends } = await scan()
      for (let count = 0; count < taken; count++) await reader.next()
      t.equal(ends(), 0)
      await reader.return?.()
      t.ok(ends() > 0)
    }
    t.equal((await store.list(home, { now: NOW, limit: 1, filters: {} })).length, 1)
  })

  await t.test('a reader that stops reading loses the rest, and the snapshot is freed', async (t) => {
    const { reader, ends } = await scan(50)
    await reader.next()
    for (let turn = 0; turn < 100 && ends() === 0; turn++) await setTimeout(20)
    t.equal(ends(), 1)
    await t.rejects(collect({ [Symbol.asyncIterator]: () => reader }), { name: 'SqlError', kind: 'timeout' })
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
    const { count, memories } = await store.scan(home, NOW, new AbortController().signal)
    t.equal(count, 950)
    await memories.return?.()
  })
})
