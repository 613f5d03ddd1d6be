import t from 'tap'
import { ByteBudget, type RowBudget } from '../../../../lib/concurrency/byte-budget.js'
import { LongColumnReader, STATEMENT_BYTES, type CutRow } from '../../../../lib/stores/sql/bounded-rows.js'
import { SqlError, type Executor } from '../../../../lib/stores/sql/executor.js'
import type { MemoryRow } from '../../../../lib/stores/sql/rows.js'
import { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import type { ListRequest, SearchRequest, Unembedded } from '../../../../lib/stores/vector-store.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { CONTRACT_SPACE } from '../../../helpers/sql-stores.js'
import { rejection } from '../../../helpers/rejection.js'
import { gate } from '../../../helpers/waiting.js'

const home = { tenantId: null, bankId: 'home' }
const small = { tenantId: null, bankId: 'small' }
const away = { tenantId: null, bankId: 'away' }
const faulty = { tenantId: null, bankId: 'faulty' }
const LONG = 40_000
const MIB = 1024 * 1024

/** What was asked for, in order. */
function wide (): RowBudget & { asked: number[] } {
  const asked: number[] = []
  // Zero only asks whether the exchange goes on.
  return { asked, take: (bytes) => { if (bytes > 0) asked.push(bytes) } }
}

await t.test('rows in a budget', async (t) => {
  const database = await sqlDatabase(t)
  /** The characters of texts that each statement answered. */
  const answered: number[] = []
  /** Statements for pieces that are under way, and how many were at the most. */
  let pieces = 0
  let mostPieces = 0
  let before: (statement: number) => Promise<void> = async () => {}
  const watched: Executor = {
    query: async (text, params, options) => await database.query(text, params, options),
    read: async <R extends object>(...given: Parameters<Executor['read']>) => {
      if (/\btext\b/.test(given[0])) await before(answered.length)
      const isPiece = given[0].includes('g(memory_id, size, retained_at, trust)')
      if (isPiece) mostPieces = Math.max(mostPieces, ++pieces)
      const rows = await database.read<R>(...given).finally(() => { if (isPiece) pieces-- })
      const texts = rows.filter((row) => 'text' in row)
      if (texts.length > 0) {
        answered.push(texts.reduce((sum, row) => sum + ('text' in row ? String(row.text ?? '').length : 0), 0))
      }
      return rows
    },
    maintain: async (text) => { await database.maintain(text) },
    transaction: async (work, options) => await database.transaction(work, options),
    close: async () => {},
  }
  const store = new SqlVectorStore({
    executor: watched, schema: schemaIn(t, database), bootstrapSchema: true, sweepIntervalMs: 0,
  })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  t.beforeEach(() => {
    answered.length = 0
    before = async () => {}
  })

  const fill = async (bank: typeof home) => {
    for (let index = 0; index < 30; index++) {
      await store.insert(bank, [await newMemory(`ferry ${index} \u{1F375} ${'x'.repeat(index % 3 === 0 ? 20 : LONG)}`, {
        tags: index % 2 === 0 ? ['even', `tag-${'t'.repeat(100)}`] : [],
        metadata: { index, note: 'y'.repeat(3000) },
        retainedAt: NOW - Math.floor(index / 2),
        ...(index % 5 === 0 && { chunkMaxCharacters: LONG * 2, vectors: [[1, index, 0, 0]] }),
      })], { now: NOW })
    }
  }
  await fill(home)
  await store.insert(small, await newMemories(['ferry one', 'ferry two']), { now: NOW })

  const lists: Array<Partial<ListRequest>> = [
    { limit: 200 }, { limit: 7 }, { limit: 1 }, { limit: 20, filters: { tags: { values: ['even'], match: 'any' } } },
  ]
  await t.test('any list is the same with a budget, and the rest of a large page is fetched in pieces', async (t) => {
    for (const list of lists) {
      const request = { now: NOW, limit: 200, filters: {}, ...list }
      const expected = await store.list(home, request)
      answered.length = 0
      const budget = wide()
      t.strictSame(await store.list(home, { ...request, budget }), expected)
      const characters = expected.reduce((sum, { text }) => sum + text.length, 0)
      t.equal(budget.asked.length, 1)
      t.ok(budget.asked[0]! > 2 * characters, 'all bytes are counted before the rest is read')
      t.ok(Math.max(...answered) < STATEMENT_BYTES + LONG)
      t.ok(answered.length > characters / (STATEMENT_BYTES + LONG), `${characters} characters`)
    }
    const first = await store.list(home, { now: NOW, limit: 11, filters: {} })
    const after = { retainedAt: first[9]!.retainedAt, memoryId: first[9]!.memoryId }
    const rest = await store.list(home, { now: NOW, limit: 100, filters: {}, after })
    t.strictSame(await store.list(home, { now: NOW, limit: 100, filters: {}, after, budget: wide() }), rest)
  })

  const searches: Array<Partial<SearchRequest>> = [
    { lexical: { terms: ['ferri'], k1: 1.2, length: { b: 0.75 }, context: false } },
    { semantic: { vector: Float32Array.of(1, 0.5, 0, 0) } },
    {
      lexical: { terms: ['ferri'], k1: 1.2, length: { b: 0.75 }, context: true },
      semantic: { vector: Float32Array.of(1, 0.5, 0, 0) },
    },
    { banks: [home, small], lexical: { terms: ['ferri'], k1: 1.2, length: { b: 0.75 }, context: false }, limit: 3 },
  ]
  const search: SearchRequest = { banks: [home], now: NOW, filters: {}, limit: 100, ...searches[0] }
  await t.test('a search is the same with a budget, and long texts are returned when they are requested', async (t) => {
    for (const more of searches) {
      const request: SearchRequest = { ...search, lexical: undefined, ...more } as SearchRequest
      const expected = await store.search(request)
      t.ok(expected.total > 0)
      t.strictSame(await store.search({ ...request, budget: wide() }), expected)
    }
    answered.length = 0
    const budget = wide()
    await store.search({ ...search, budget })
    t.ok(answered.length > 2)
    t.ok(Math.max(...answered) < STATEMENT_BYTES + LONG, `${Math.max(...answered)}`)
    t.equal(budget.asked.length, 1)
    t.ok(budget.asked[0]! > 2 * answered.reduce((sum, characters) => sum + characters, 0))
  })

  await t.test('of many large reads at once, two pieces are read at a time', async (t) => {
    const expected = await store.search(search)
    const requests = Array.from({ length: 5 }, () => ({ ...search, budget: wide() }))
    const found = await Promise.all(requests.map(async (request) => await store.search(request)))
    for (const one of found) t.strictSame(one, expected)
    t.equal(mostPieces, 2)
    t.equal(pieces, 0)
  })

  await t.test('a small read is one statement', async (t) => {
    t.equal((await store.list(small, { now: NOW, limit: 200, filters: {}, budget: wide() })).length, 2)
    t.equal((await store.search({ ...search, banks: [small], budget: wide() })).lexical!.length, 2)
    t.equal(answered.length, 2)
  })

  await t.test('without free bytes only the beginning is read', async (t) => {
    const hold = new ByteBudget(MIB).reserve(0, 'user:ann')
    const budget: RowBudget = { take: (bytes) => { hold.grow(bytes) } }
    const reads: Array<() => Promise<unknown>> = [
      async () => await store.list(home, { now: NOW, limit: 200, filters: {}, budget }),
      async () => await store.search({ ...search, budget }),
    ]
    for (const read of reads) {
      answered.length = 0
      await t.rejects(read(), { code: 'server_busy' })
      t.equal(answered.length, 1)
      t.ok(answered[0]! < STATEMENT_BYTES + LONG, `${answered[0]}`)
    }
  })

  await t.test('memories that are removed or changed between the statements are left out of a search, and a list has ' +
    'those that remain', async (t) => {
    await fill(away)
    const { lexical } = await store.search({ ...search, banks: [away] })
    const gone = lexical!.at(-1)!.memory
    answered.length = 0
    before = async (statement) => {
      if (statement === 1) {
        await store.remove(away, { kind: 'ids', memoryIds: [gone.memoryId] }, { now: NOW, dryRun: false, idLimit: 0 })
      }
    }
    const all = lexical!.map(({ memory: { memoryId } }) => memoryId)
    const found = await store.search({ ...search, banks: [away], budget: wide() })
    t.strictSame(found.lexical!.map(({ memory: { memoryId } }) => memoryId), all.slice(0, -1))

    const suspect = lexical!.at(-2)!.memory
    before = async (statement) => {
      if (statement !== 1) return
      const other = await newMemory(suspect.text.replace('xxx', 'zzz'), { ...suspect, trust: 'suspect' })
      await store.import(away, [other], { now: NOW, onConflict: 'overwrite' })
    }
    answered.length = 0
    const remaining = await store.search({ ...search, banks: [away], budget: wide() })
    t.strictSame(
      remaining.lexical!.map(({ memory: { memoryId } }) => memoryId), all.slice(0, -2),
      'a text of the same length with another trust',
    )

    before = async () => {}
    const list = await store.list(away, { now: NOW, limit: 40, filters: {} })
    const [next, changed, last] = [list[20]!, list[22]!, list.at(-1)!]
    const { memoryId, retainedAt } = changed
    const rewritten = await newMemory(`ferry rewritten ${'w'.repeat(LONG + 7)}`, { memoryId, retainedAt })
    answered.length = 0
    before = async (statement) => {
      if (statement !== 1) return
      await store.remove(away, { kind: 'ids', memoryIds: [next.memoryId] }, { now: NOW, dryRun: false, idLimit: 0 })
      await store.import(away, [rewritten], { now: NOW, onConflict: 'overwrite' })
      await store.insert(
        away, await newMemories([`ferry later ${'z'.repeat(LONG)}`], { retainedAt: last.retainedAt - 1 }), { now: NOW },
      )
    }
    const budget = wide()
    const page = await store.list(away, { now: NOW, limit: 28, filters: {}, budget })
    const ids = list.map(({ memoryId }) => memoryId).filter((id) => id !== next.memoryId)
    t.strictSame(page.map(({ memoryId }) => memoryId).slice(0, 28), ids.slice(0, 28))
    t.equal(page.find((memory) => memory.memoryId === memoryId)?.text, rewritten.text)
  })

  await t.test('when a piece fails, no further piece is read', async (t) => {
    await fill(faulty)
    const request: SearchRequest = { ...search, banks: [faulty] }
    await store.search({ ...request, budget: wide() })
    const complete = answered.length
    answered.length = 0
    before = async (statement) => { if (statement === 1) throw new Error('no') }
    await t.rejects(store.search({ ...request, budget: wide() }), { message: 'no' })
    // The other of the two readers ends its piece.
    await database.read('select 1')
    t.ok(answered.length < complete - 1, `${answered.length} of ${complete}`)
    t.equal(pieces, 0)
  })

  await t.test('when the exchange has ended, no further piece is read', async (t) => {
    let taken = 0
    const budget: RowBudget = { take: () => { if (++taken > 2) throw new Error('over') } }
    await t.rejects(store.search({ ...search, budget }), { message: 'over' })
    t.ok(answered.length <= 2, `${answered.length}`)
  })

  await t.test('a page of memories without vectors ends with the one that reaches the bound', async (t) => {
    const other = await storeIn(database, { schema: schemaIn(t, database) })
    const texts = Array.from({ length: 20 }, (_, index) => `${index} `.padEnd(LONG, 'long '))
    await other.insert(home, await newMemories(texts, { chunkMaxCharacters: LONG }), { now: NOW })
    const found: string[] = []
    const sizes: number[] = []
    for (let last: Unembedded | undefined, isDone = false; !isDone;) {
      const page = await other.listUnembedded({
        now: NOW, limit: 100, ...(last !== undefined && { after: { ...last.bank, memoryId: last.memory.memoryId } }),
      })
      found.push(...page.map(({ memory }) => memory.text))
      sizes.push(page.reduce((sum, { memory }) => sum + memory.text.length, 0))
      last = page.at(-1)
      isDone = last === undefined
    }
    t.strictSame(found, texts)
    t.ok(Math.max(...sizes) < STATEMENT_BYTES + LONG, `${Math.max(...sizes)}`)
  })

  await t.test('a piece does not wait forever for those of others', async (t) => {
    const opened = gate()
    const reader = new LongColumnReader({
      read: async () => { await opened.opened; return [] },
    }, 'unused', 20)
    const rows = Array.from({ length: 2 }, (_, index) => ({
      memory_id: `${index}`, text: null, tags: null, metadata: null, size: STATEMENT_BYTES,
    })) as unknown as Array<CutRow<MemoryRow>>
    const first = reader.complete(rows, home, undefined)
    t.equal((await rejection(SqlError, reader.complete(rows, home, undefined))).kind, 'busy')
    opened.open()
    t.strictSame(await first, [])
  })
})
