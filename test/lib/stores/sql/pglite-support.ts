import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SqlError, type Executor, type Param, type SqlErrorKind } from '../../../../lib/stores/sql/executor.js'
import { openPglite, type PgliteOptions } from '../../../../lib/stores/sql/pglite.js'
import { rejection } from '../../../helpers/rejection.js'
import { emptyCluster, rootOf } from '../../../helpers/sql-database.js'

/** The folder of the clusters, which is removed at the end of the process: the files that share it load this once. */
export const root = await mkdtemp(join(tmpdir(), 'pglite-test-'))
rootOf(t).teardown(async () => { await rm(root, { recursive: true, force: true }) })

export const LIMITS = { timeoutMs: 20_000, maxWaiting: 20, waitMs: 20_000 }

/** A cluster with two tables that was closed properly. */
export const template = join(root, 'template')
await cp(await emptyCluster(), template, { recursive: true })
const creator = await openPglite({ ...LIMITS, dataDir: template })
await creator.query('create table notes (id int primary key, body text not null)')
await creator.query('create table pairs (a int unique deferrable initially deferred)')
await creator.close()

let copies = 0

/** Opens a copy of the template, which is closed after the test. */
export async function open (
  t: Test, limits: Partial<PgliteOptions> = {},
): Promise<{ database: Executor, dataDir: string, reopen: () => Promise<Executor> }> {
  const dataDir = join(root, `copy-${++copies}`)
  await cp(template, dataDir, { recursive: true })
  const reopen = async () => {
    const database = await openPglite({ ...LIMITS, ...limits, dataDir })
    t.teardown(async () => { await database.close() })
    return database
  }
  t.teardown(async () => { await rm(dataDir, { recursive: true, force: true }) })
  return { database: await reopen(), dataDir, reopen }
}

/** Asserts that a promise rejects with an SqlError of this kind. */
export async function rejectsWith (
  t: Test, promise: Promise<unknown>, kind: SqlErrorKind, message = '',
): Promise<void> {
  const error = await rejection(SqlError, promise)
  t.equal(error.kind, kind)
  t.ok(error.message.includes(message), error.message)
}

/** The column `v` of the first row. */
export async function value (
  database: Pick<Executor, 'query'>, text: string, params: readonly Param[] = [],
): Promise<unknown> {
  const [row] = await database.query<{ v: unknown }>(text, params)
  return row?.v
}
