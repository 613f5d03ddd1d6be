import t from 'tap'
import type { Executor, Transaction } from '../../../../lib/stores/sql/executor.js'
import type { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import type { NewMemory, Selector } from '../../../../lib/stores/vector-store.js'
import { bank, lexical } from '../../../contract/vector-store/setup.js'
import { newId, newMemories, newMemory, NOW, withTags } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { DATABASE_URL } from '../../../helpers/sql-stores.js'

const database = await sqlDatabase(t)
const home = bank('home')
const POSTGRES = { skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false }

/** The database, with something that happens once, before the first commit after `arm` was called. */
function beforeCommit (happen: (tx: Transaction) => Promise<void>): { executor: Executor, arm: () => void } {
  let armed = false
  const executor: Executor = {
    query: async (text, params) => await database.query(text, params),
    read: async (text, params) => await database.read(text, params),
    transaction: async (work, options) => await database.transaction(async (tx) => {
      const outcome = await work(tx)
      if (armed) {
        armed = false
        await happen(tx)
      }
      return outcome
    }, options),
    maintain: async (text) => { await database.maintain(text) },
    close: async () => {},
  }
  return { executor, arm: () => { armed = true } }
}

/** Waits until another session waits for the transaction. */
async function untilWaitedFor (tx: Transaction): Promise<void> {
  await tx.query(`do $$ begin
  while not exists (select from pg_stat_activity a where pg_backend_pid() = any(pg_blocking_pids(a.pid))) loop
    perform pg_stat_clear_snapshot();
    perform pg_sleep(0.01);
  end loop;
end $$`)
}

type Replace = (store: SqlVectorStore, memories: readonly NewMemory[]) => Promise<unknown>

const replacements: Array<[string, Replace]> = [
  ['an import', async (store, memories) => await store.import(home, memories, { now: NOW, onConflict: 'overwrite' })],
  ['a memory of higher trust', async (store, [first]) => (
    await store.insert(home, [{ ...first!, trust: 'trusted', memoryId: newId() }], { now: NOW })
  )],
]

const selectors: Array<[string, (memories: readonly NewMemory[]) => Selector]> = [
  ['by any tag', () => withTags(['red', 'blue'])],
  ['by all tags', () => withTags(['red'], 'all')],
  ['of all', () => ({ kind: 'all' })],
]

async function removeDuring (
  schema: string, replace: Replace, selector: (memories: readonly NewMemory[]) => Selector,
): Promise<{ removed: number, left: SqlVectorStore }> {
  const remover = await storeIn(database, { schema })
  const memories = await newMemories(['one', 'two', 'three'], { tags: ['red'], trust: 'suspect' })
  await remover.insert(home, memories, { now: NOW })
  let removal: Promise<{ count: number }> | undefined
  // Another process: the stores share nothing but the database.
  const { executor, arm } = beforeCommit(async (tx) => {
    removal = remover.remove(home, selector(memories), { now: NOW, dryRun: false, idLimit: 10 })
    await untilWaitedFor(tx)
  })
  const replacer = await storeIn(executor, { schema })
  arm()
  await replace(replacer, memories)
  return { removed: (await removal!).count, left: remover }
}

for (const [what, replace] of replacements) {
  for (const [how, selector] of selectors) {
    t.test(`a removal ${how} that waits for ${what} removes what has been replaced`, POSTGRES, async (t) => {
      const { removed, left } = await removeDuring(schemaIn(t, database), replace, selector)
      t.equal(removed, 3)
      t.equal((await left.statistics(home, NOW)).memoryCount, 0)
      t.strictSame(await lexical(left, [home], 'one two three'), [])
    })
  }
}

t.test('a removal by ids that waits for an import removes the memories that have the ids now', POSTGRES, async (t) => {
  const someIds = (memories: readonly NewMemory[]): Selector => (
    { kind: 'ids', memoryIds: memories.slice(0, 2).map(({ memoryId }) => memoryId) }
  )
  const { removed, left } = await removeDuring(schemaIn(t, database), async (store, memories) => {
    const others = [await newMemory('heron', { memoryId: memories[0]!.memoryId, tags: ['red'] })]
    await store.import(home, others, { now: NOW, onConflict: 'overwrite' })
  }, someIds)
  t.equal(removed, 2, 'the replaced memory and the other one')
  t.strictSame((await left.list(home, { now: NOW, limit: 10, filters: {} })).map(({ text }) => text), ['three'])
})

t.test('a removal of all memories waits for a sweep of expired ones, but is not repeated', POSTGRES, async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  await store.insert(home, [await newMemory('brief', { expiresAt: NOW + 1 }), await newMemory('lasting')], { now: NOW })
  let attempts = 0
  const remover = await storeIn({
    ...beforeCommit(async () => {}).executor,
    transaction: async (work, options) => await database.transaction(async (tx) => {
      attempts++
      return await work(tx)
    }, options),
  }, { schema })
  let removal: Promise<{ count: number }> | undefined
  const { executor, arm } = beforeCommit(async (tx) => {
    attempts = 0
    removal = remover.remove(home, { kind: 'all' }, { now: NOW + 1, dryRun: false, idLimit: 10 })
    await untilWaitedFor(tx)
  })
  arm()
  await new Sweeper({ executor, schema, intervalMs: 0, vacuum: false }).sweep(NOW + 1)
  t.equal((await removal!).count, 1)
  t.equal(attempts, 1, 'a sweep of many memories would otherwise make every attempt fail')
})

t.test('of two removals of the same memories one counts them', POSTGRES, async (t) => {
  const store = await storeIn(database, { schema: schemaIn(t, database) })
  await store.insert(home, await newMemories(['one', 'two', 'three'], { tags: ['red'] }), { now: NOW })
  const remove = async (selector: Selector) => (
    (await store.remove(home, selector, { now: NOW, dryRun: false, idLimit: 0 })).count
  )
  const counts = await Promise.all([
    remove({ kind: 'all' }), remove(withTags(['red'])), remove({ kind: 'all' }),
  ])
  t.strictSame(counts.sort(), [0, 0, 3])
})
