import { readdir } from 'node:fs/promises'
import t from 'tap'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { rejection } from '../../../helpers/rejection.js'
import { gate } from '../../../helpers/waiting.js'
import { open, rejectsWith, value } from './pglite-support.js'

t.test('transactions', async (t) => {
  const { database, dataDir, reopen } = await open(t)
  const count = async () => await value(database, 'select count(*)::int as v from notes')

  t.test('commit as a whole, and other statements wait', async (t) => {
    const { opened, open } = gate()
    const order: string[] = []
    const transaction = database.transaction(async (tx) => {
      await tx.query('insert into notes values (1, \'a\')')
      await opened
      await tx.query('insert into notes values (2, \'b\')')
      order.push('transaction')
      return 'done'
    })
    const other = count().then((found) => { order.push('other'); return found })
    open()
    t.equal(await transaction, 'done')
    t.equal(await other, 2)
    t.same(order, ['transaction', 'other'])
  })

  t.test('roll back when the callback rejects, with its error', async (t) => {
    const error = new Error('mine')
    await t.rejects(database.transaction(async (tx) => {
      await tx.query('insert into notes values (3, \'c\')')
      throw error
    }), error)
    t.equal(await count(), 2)
  })

  t.test('fail with a failed statement, even if the callback ignores it', async (t) => {
    const found = await rejection(SqlError, database.transaction(async (tx) => {
      await tx.query('insert into notes values (4, \'d\')')
      await tx.query('insert into notes values (4, \'d\')').catch(() => {})
      return 'done'
    }))
    t.match(found, { kind: 'statement', code: '23505' })
    t.equal(await count(), 2)
  })

  t.test('fail with an error of the commit', async (t) => {
    const found = await rejection(SqlError, database.transaction(
      async (tx) => { await tx.query('insert into pairs values (1), (1)') },
    ))
    t.match(found, { kind: 'statement', code: '23505', constraint: 'pairs_a_key' })
    t.equal(await value(database, 'select count(*)::int as v from pairs'), 0)
  })

  t.test('cannot be used after their end', async (t) => {
    const tx = await database.transaction(async (tx) => tx)
    await rejectsWith(t, tx.query('insert into notes values (5, \'e\')'), 'statement', 'The transaction is over')
    t.equal(await count(), 2)
  })

  t.test('run scripts', async (t) => {
    await t.rejects(database.transaction(async (tx) => {
      await tx.script('create table one (a int); insert into one values (1); create table two (a int);')
      t.equal(await value(tx, 'select a as v from one'), 1)
      throw new Error('no')
    }), { message: 'no' })
    t.equal(await value(database, 'select to_regclass(\'one\')::text as v'), null)
    await rejectsWith(
      t, database.transaction(async (tx) => { await tx.script('create table one (a int); selekt') }), 'statement',
      'selekt',
    )
    t.equal(await value(database, 'select to_regclass(\'one\')::text as v'), null)
  })

  t.test('with snapshot are read-only and repeatable', async (t) => {
    await database.transaction(async (tx) => {
      t.equal(await value(tx, 'select current_setting(\'transaction_isolation\') as v'), 'repeatable read')
    }, { snapshot: true })
    t.match(
      await rejection(SqlError, database.transaction(
        async (tx) => { await tx.query('delete from notes') }, { snapshot: true },
      )),
      { code: '25006' },
    )
    t.equal(await count(), 2)
  })

  t.test('are stored when the directory is opened again', async (t) => {
    await database.close()
    t.same((await readdir(dataDir)).sort(), ['db'])
    const again = await reopen()
    t.same(await again.read('select id, body from notes order by id'), [{ id: 1, body: 'a' }, { id: 2, body: 'b' }])
  })
})

t.test('closing waits for the active transaction and rejects everything else', async (t) => {
  const { database, reopen } = await open(t)
  const { opened, open: finish } = gate()
  const began = gate()
  const transaction = database.transaction(async (tx) => {
    began.open()
    await opened
    await tx.query('insert into notes values (1, \'a\')')
  })
  await began.opened
  const waiting = rejection(SqlError, database.query('select 1'))
  const closing = Promise.all([database.close(), database.close()])
  await rejectsWith(t, database.query('select 1'), 'connection', 'closed')
  t.equal((await waiting).kind, 'connection')
  finish()
  await transaction
  await closing
  await rejectsWith(t, database.read('select 1'), 'connection', 'closed')
  await rejectsWith(t, database.transaction(async () => {}), 'connection')
  await rejectsWith(t, database.maintain('select 1'), 'connection')
  await database.close()
  const again = await reopen()
  t.equal(await value(again, 'select count(*)::int as v from notes'), 1, 'the active transaction was committed')
})
