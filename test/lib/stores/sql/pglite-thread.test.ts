import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { SqlError } from '../../../../lib/stores/sql/executor.js'
import { openPglite } from '../../../../lib/stores/sql/pglite.js'

// Outside of the project, where no package is found.
const root = await mkdtemp(join(tmpdir(), 'pglite-thread-test-'))
t.teardown(async () => { await rm(root, { recursive: true, force: true }) })

const LIMITS = { timeoutMs: 20_000, maxWaiting: 20, waitMs: 20_000 }

async function loses (t: Test, promise: Promise<unknown>, message = ''): Promise<void> {
  const error: unknown = await promise.then(() => undefined, (error: unknown) => error)
  if (!(error instanceof SqlError)) throw new Error(`no SqlError but ${inspect(error)}`)
  t.equal(error.kind, 'connection')
  t.ok(error.message.includes(message), error.message)
  t.notMatch(inspect(error), 'sesame')
}

t.test('a new thread is started when one has ended', async (t) => {
  const directory = join(root, 'fake')
  const program = join(root, 'fake.mjs')
  // Answers everything with the number of times it was started, and is lost where the test says so.
  await writeFile(program, `
    import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
    import { parentPort, workerData } from 'node:worker_threads'
    const file = workerData.directory + '.starts'
    appendFileSync(file, '.')
    const starts = readFileSync(file, 'utf8').length
    parentPort.on('message', ({ id, text }) => {
      if (text === 'exit' || (text === 'exit once' && starts === 1)) process.exit(3)
      if (text === 'throw') throw new TypeError('sesame')
      if (text === 'abort') parentPort.postMessage({ id, fatal: 'Aborted()' })
      else if (text !== 'hang') parentPort.postMessage({ id, rows: [{ starts }] })
    })
    parentPort.postMessage(starts > 6 ? { id: 0, fatal: 'broken' } : { id: 0, rows: [] })
  `)
  const database = await openPglite({ ...LIMITS, dataDir: directory }, pathToFileURL(program))
  t.teardown(async () => { await database.close() })
  t.same(await database.read('exit once'), [{ starts: 2 }], 'a reading statement is executed once more')
  await loses(t, database.query('exit'), 'ended with 3')
  t.same(await database.query('any'), [{ starts: 3 }])
  await loses(t, database.query('throw'), 'TypeError')
  t.same(await database.query('any'), [{ starts: 4 }])
  await loses(t, database.query('abort'), 'Aborted()')
  await loses(t, database.read('exit'))
  t.equal((await readFile(join(directory, 'db.starts'), 'utf8')).length, 6, 'it is not executed twice more')
  await loses(t, database.query('any'), 'broken')
  await loses(t, database.read('any'), 'broken')
  await database.close()
  t.notOk((await readdir(directory)).includes('lock'))
})

t.test('a database that answers its opening with an error ends its thread', async (t) => {
  const program = join(root, 'refusing.mjs')
  // The first and the third start fail.
  await writeFile(program, `
    import { appendFileSync, readFileSync } from 'node:fs'
    import { join } from 'node:path'
    import { parentPort, workerData } from 'node:worker_threads'
    const file = join(workerData.directory, '../../refusing.starts')
    appendFileSync(file, '.')
    const starts = readFileSync(file, 'utf8').length
    parentPort.on('message', ({ id, text }) => {
      if (text === 'exit') process.exit(3)
      parentPort.postMessage({ id, rows: [{ starts }] })
    })
    const error = { code: '42501', message: 'permission denied', constraint: undefined }
    parentPort.postMessage(starts % 2 === 1 ? { id: 0, error } : { id: 0, rows: [] })
  `)
  const options = { ...LIMITS, dataDir: join(root, 'refusing') }
  await t.rejects(openPglite(options, pathToFileURL(program)), {
    constructor: ProviderError, message: /cannot be opened: .*42501.*permission denied/,
  })
  t.notOk((await readdir(options.dataDir)).includes('lock'))
  const database = await openPglite(options, pathToFileURL(program))
  t.teardown(async () => { await database.close() })
  await loses(t, database.query('exit'))
  await t.rejects(database.query('any'), { constructor: SqlError, kind: 'statement', code: '42501' })
  t.same(await database.query('any'), [{ starts: 4 }])
})

t.test('a thread that does not answer at all is ended and replaced', async (t) => {
  const program = join(root, 'hanging.mjs')
  await writeFile(program, `
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ id, text }) => { if (text !== 'hang') parentPort.postMessage({ id,
      rows: [{ text }] }) })
    parentPort.postMessage({ id: 0, rows: [] })
  `)
  const database = await openPglite(
    { ...LIMITS, timeoutMs: 1000, graceMs: 1, dataDir: join(root, 'hanging') }, pathToFileURL(program),
  )
  t.teardown(async () => { await database.close() })
  await t.rejects(database.query('hang'), new SqlError('timeout', 'The database did not answer within 1000 ms'))
  t.same(await database.query('after'), [{ text: 'after' }])
  await t.rejects(
    database.transaction(async (tx) => await tx.query('hang')),
    new SqlError('timeout', 'The database did not answer within 1000 ms'),
  )
  t.same(await database.query('after that'), [{ text: 'after that' }])
  t.same(await database.query('and the one that answered is not ended'), [
    { text: 'and the one that answered is not ended' },
  ])
})

t.test('a missing PGlite is reported with what to install', async (t) => {
  const program = join(root, 'pglite-worker.mjs')
  await cp(new URL('../../../../lib/stores/sql/pglite-worker.mjs', import.meta.url), program)
  const dataDir = join(root, 'without')
  await t.rejects(openPglite({ ...LIMITS, dataDir }, pathToFileURL(program)), {
    constructor: ProviderError,
    message: 'vector_store: pglite needs the packages @electric-sql/pglite and @electric-sql/pglite-pgvector; npm ' +
      'install them',
  })
  t.same(await readdir(dataDir), [])
})
