import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import type { Test } from 'tap'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { PostgresExecutor, type PostgresOptions } from '../../lib/stores/sql/postgres.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import type { EmbeddingSpace } from '../../lib/stores/vector-store.js'
import { NOW } from './memories.js'

/** A real PostgreSQL with pgvector whose role may create schemas; without it the tests of SQL run on PGlite alone. */
export const DATABASE_URL = process.env['TEST_DATABASE_URL']

export const CONTRACT_SPACE: EmbeddingSpace = { model: 'contract', dimensions: 4 }

export function postgresOptions (more: Partial<PostgresOptions> = {}): PostgresOptions {
  return {
    url: DATABASE_URL ?? '',
    poolSize: 4,
    poolMaxWaiting: 1000,
    poolWaitMs: 20_000,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 20_000,
    bulkTimeoutMs: 60_000,
    transactionPooler: false,
    ...more,
  }
}

/** Random instead of the process id, because ids recur and a killed process leaves its schemas. */
const PROCESS = randomBytes(6).toString('hex')
let schemas = 0

/** An executor on the database of the tests, closed when the test ends. */
export function openPostgres (t: Test, more: Partial<PostgresOptions> = {}): PostgresExecutor {
  const executor = new PostgresExecutor(postgresOptions(more))
  t.teardown(async () => { await executor.close() })
  return executor
}

/** The name of a schema that no other test has; it is dropped when the test ends. */
export function freshSchema (t: Test): string {
  const schema = `test_${PROCESS}_${++schemas}`
  t.teardown(async () => {
    const sql = postgres(DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
    await sql.unsafe(`drop schema if exists ${schema} cascade`)
    await sql.end()
  })
  return schema
}

/** An empty store on PostgreSQL, not started. */
export function startablePostgresStore (t: Test, more: Partial<PostgresOptions> = {}): SqlVectorStore {
  return new SqlVectorStore({
    executor: new PostgresExecutor(postgresOptions(more)),
    schema: quoteSchema(freshSchema(t)),
    bootstrapSchema: true,
    sweepIntervalMs: 0,
  })
}

/** An empty store on PostgreSQL. */
export async function postgresStore (t: Test, more: Partial<PostgresOptions> = {}): Promise<SqlVectorStore> {
  const store = startablePostgresStore(t, more)
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  return store
}

/** The URI of a database that no other test has and that has nothing in it; it is dropped when the test ends. */
export async function freshDatabase (t: Test, options = ''): Promise<string> {
  const name = `test_${PROCESS}_database_${++schemas}`
  const administer = async (statement: string) => {
    const sql = postgres(DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
    await sql.unsafe(statement)
    await sql.end()
  }
  await administer(`create database ${name} ${options}`)
  t.teardown(async () => { await administer(`drop database if exists ${name} with (force)`) })
  const url = new URL(DATABASE_URL ?? '')
  url.pathname = `/${name}`
  return url.href
}
