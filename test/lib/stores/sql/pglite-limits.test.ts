import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import t from 'tap'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { pgliteExecutor, pgliteSettings } from '../../../../lib/stores/sql/providers.js'
import { rejection } from '../../../helpers/rejection.js'
import { gate } from '../../../helpers/waiting.js'
import { open, rejectsWith, root, template, value } from './pglite-support.js'

/** A statement that takes longer than the time limit of the tests. */
const SLOW = 'select pg_sleep(1.5)'

t.test('limits', async (t) => {
  const { database } = await open(t, { timeoutMs: 750, bulkTimeoutMs: 20_000, maxWaiting: 2, waitMs: 50 })

  /** Occupies the database with a transaction until `end` is called. */
  async function occupy (): Promise<{ end: () => Promise<void> }> {
    const began = gate()
    const { opened, open } = gate()
    const transaction = database.transaction(async () => { began.open(); await opened })
    await began.opened
    return { end: async () => { open(); await transaction } }
  }

  /** Repeats a statement until the database is no longer busy. */
  async function untilFree (): Promise<void> {
    for (;;) {
      const found = await database.query('select 1').catch((error: unknown) => error)
      if (!(found instanceof SqlError)) return
      if (found.kind !== 'busy') throw found
    }
  }

  t.test('refuse a statement immediately when too many wait, and one that waits too long', async (t) => {
    const holder = await occupy()
    const waiting = [database.query('select 1'), database.query('select 1')].map(async (work) => (
      await rejection(SqlError, work)
    ))
    await rejectsWith(t, database.query('select 1'), 'busy')
    for (const error of await Promise.all(waiting)) t.equal(error.kind, 'busy')
    await rejectsWith(t, database.read('select 1'), 'busy')
    await rejectsWith(t, database.transaction(async () => {}), 'busy')
    await rejectsWith(t, database.maintain('select 1'), 'busy')
    await holder.end()
    t.equal(await value(database, 'select 1 as v'), 1)
  })

  t.test('end the wait for a slow statement, which blocks others until it has ended', async (t) => {
    await rejectsWith(t, database.query(SLOW), 'timeout', 'within 750 ms')
    await rejectsWith(t, database.query('select 1'), 'busy')
    await untilFree()
  })

  t.test('roll back a transaction with a statement that was too slow', async (t) => {
    const found = await rejection(SqlError, database.transaction(async (tx) => {
      await tx.query('insert into notes values (1, \'a\')')
      await tx.query(SLOW).catch(() => {})
      await tx.query('insert into notes values (2, \'b\')')
    }))
    t.equal(found.kind, 'timeout')
    await rejectsWith(t, database.query('select 1'), 'busy')
    await untilFree()
    t.equal(await value(database, 'select count(*)::int as v from notes'), 0)
  })

  t.test('are longer for bulk transactions, and maintenance has none', async (t) => {
    await database.transaction(async (tx) => { await tx.query(SLOW) }, { bulk: true })
    await database.maintain(SLOW)
    await database.maintain('vacuum notes')
    t.pass('they completed')
  })

  t.test('do not delay closing, which ends active statements', async (t) => {
    const slow = rejection(SqlError, database.maintain('select pg_sleep(60)'))
    const waiting = rejection(SqlError, database.query('select 1'))
    await database.close()
    t.equal((await slow).kind, 'connection')
    t.equal((await waiting).kind, 'connection')
  })
})

t.test('by default a request waits for an export or import of seconds', async (t) => {
  const dataDir = join(root, 'default-limits')
  await cp(template, dataDir, { recursive: true })
  const database = await pgliteExecutor(pgliteSettings({ data_dir: dataDir }, { baseDirectory: dataDir }))
  t.teardown(async () => { await database.close() })
  await database.query('select 1')
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => { mock.timers.reset() })
  let waiting: Promise<unknown> = Promise.resolve()
  await database.transaction(async () => {
    waiting = value(database, 'select 1 as v').catch((error: unknown) => error)
    await new Promise(setImmediate)
    mock.timers.tick(29_000)
    await new Promise(setImmediate)
  }, { bulk: true })
  t.equal(await waiting, 1)
})
