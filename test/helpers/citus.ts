import type { Test } from 'tap'
import { distributeTables } from '../../lib/stores/sql/distribution.js'
import type { Executor } from '../../lib/stores/sql/executor.js'
import { migrate, readMigrations } from '../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import { NOW } from './memories.js'
import { schemaIn } from './sql-database.js'
import { CONTRACT_SPACE, postgresOptions } from './sql-stores.js'

/** The coordinator of a cluster of Citus with pgvector on every node; without it what needs one is skipped. */
export const CITUS_URL = process.env['TEST_CITUS_URL']

/** Options of a test that needs the cluster. */
export const NEEDS_CITUS = CITUS_URL === undefined ? { skip: 'TEST_CITUS_URL is not set' } : {}

export function openCitus (t: Test, url = CITUS_URL ?? ''): PostgresExecutor {
  const executor = new PostgresExecutor(postgresOptions({ url }))
  t.teardown(async () => { await executor.close() })
  return executor
}

/** An own schema in the cluster with distributed tables. */
export async function distributedSchema (t: Test, coordinator: Executor, shards = 4): Promise<string> {
  const schema = schemaIn(t, coordinator)
  await migrate(coordinator, schema, readMigrations())
  await distributeTables({ executor: coordinator, schema, info: () => {} }, shards)
  return schema
}

/** A store on the tables that leaves the executor open. */
export async function citusStore (executor: Executor, schema: string): Promise<SqlVectorStore> {
  const store = new SqlVectorStore({
    executor: {
      query: async (text, params, options) => await executor.query(text, params, options),
      read: async (text, params, options) => await executor.read(text, params, options),
      transaction: async (work, options) => await executor.transaction(work, options),
      maintain: async (text) => { await executor.maintain(text) },
      close: async () => {},
    },
    schema,
    distribution: 'citus',
    bootstrapSchema: false,
    sweepIntervalMs: 0,
  })
  await store.start({ space: CONTRACT_SPACE, clock: () => NOW, warn: () => {} })
  return store
}
