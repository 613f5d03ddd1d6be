import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Test } from 'tap'
import type { Executor } from '../../lib/stores/sql/executor.js'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { openPglite } from '../../lib/stores/sql/pglite.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import type { EmbeddingSpace } from '../../lib/stores/vector-store.js'
import { NOW } from './memories.js'
import { CONTRACT_SPACE, DATABASE_URL, postgresOptions } from './sql-stores.js'

const OPTIONS = { timeoutMs: 60_000, maxWaiting: 1000, waitMs: 60_000 }

/**
 * The folder of an empty cluster of this version of PGlite. It is created once and kept, because that takes seconds.
 * Several processes may do so at the same time, and the first one is used.
 */
export async function emptyCluster (): Promise<string> {
  const library = dirname(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')))
  const { version } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as { version: string }
  const cache = fileURLToPath(new URL('../../.cache/', import.meta.url))
  const cluster = join(cache, `pglite-${version}`)
  if (existsSync(cluster)) return cluster
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'pglite-'))
  await (await openPglite({ ...OPTIONS, dataDir: join(unfinished, 'data') })).close()
  try {
    renameSync(join(unfinished, 'data'), cluster)
  } catch (error) {
    if (!existsSync(cluster)) throw error
  }
  rmSync(unfinished, { recursive: true })
  return cluster
}

/** The test of the whole process, in which files may run one after the other. */
export function rootOf (t: Test): Test {
  return t.parent instanceof Test ? rootOf(t.parent) : t
}

let shared: Promise<Executor> | undefined

async function openShared (t: Test): Promise<Executor> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-gateway-'))
  const dataDir = join(folder, 'data')
  cpSync(await emptyCluster(), dataDir, { recursive: true })
  const executor = await openPglite({ ...OPTIONS, dataDir })
  rootOf(t).teardown(async () => {
    await executor.close()
    rmSync(folder, { recursive: true })
  })
  return executor
}

/**
 * The PGlite database of the process, which goes when the process ends: starting one takes a second or two. Each test
 * has a schema of its own in it (`schemaIn`).
 */
export async function pgliteDatabase (t: Test): Promise<Executor> {
  return await (shared ??= openShared(t))
}

/** The PostgreSQL of TEST_DATABASE_URL, otherwise a PGlite; the result says which one it is. */
export async function sqlDatabase (t: Test): Promise<Executor> {
  if (DATABASE_URL === undefined) {
    t.comment('TEST_DATABASE_URL is not set: PGlite takes the place of PostgreSQL')
    return await pgliteDatabase(t)
  }
  const executor = new PostgresExecutor(postgresOptions())
  t.teardown(async () => { await executor.close() })
  return executor
}

const PROCESS = randomBytes(6).toString('hex')
let schemas = 0

/** The name of a schema, quoted, that no other test has; it is dropped when the test ends. */
export function schemaIn (t: Test, executor: Executor): string {
  const schema = quoteSchema(`shared_${PROCESS}_${++schemas}`)
  t.teardown(async () => { await executor.maintain(`drop schema if exists ${schema} cascade`) })
  return schema
}

/** The database, which closing a store leaves open. */
export function leftOpen (executor: Executor): Executor {
  return {
    query: async (text, params, options) => await executor.query(text, params, options),
    read: async (text, params, options) => await executor.read(text, params, options),
    transaction: async (work, options) => await executor.transaction(work, options),
    maintain: async (text) => { await executor.maintain(text) },
    close: async () => {},
  }
}

export interface StoreOptions {
  schema: string
  space?: EmbeddingSpace
  warn?: (message: string) => void
}

/** A store on a database that others use too: closing it leaves the database open. */
export async function storeIn (
  executor: Executor, { schema, space = CONTRACT_SPACE, warn = () => {} }: StoreOptions,
): Promise<SqlVectorStore> {
  const store = new SqlVectorStore({
    executor: leftOpen(executor), schema, bootstrapSchema: true, sweepIntervalMs: 0,
  })
  await store.start({ space, clock: () => NOW, warn })
  return store
}
