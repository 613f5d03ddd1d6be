import type { ProviderConfig, ProviderContext } from '../../providers/registry.js'
import type { PgliteSettings, PostgresSettings } from '../../providers/schemas/stores.js'
import type { VectorStore } from '../vector-store.js'
import type { Executor } from './executor.js'
import { DEFAULT_SCHEMA, quoteSchema } from './migrations.js'
import { openPglite } from './pglite.js'
import { PostgresExecutor } from './postgres.js'
import { databaseUrl, pgliteSettings, postgresSettings } from './settings.js'
import { SqlVectorStore } from './store.js'
import { VectorIndexes } from './vector-indexes.js'

const BULK_TIMEOUT_MS = 300_000
const MAX_WAITING = 100
const WAIT_MS = 2000
/** PGlite has one connection, which an export or import of a large bank keeps for seconds. */
const PGLITE_WAIT_MS = 30_000

/** @throws ProviderError */
export function makePostgresStore (config: ProviderConfig, context: ProviderContext): VectorStore {
  const settings = postgresSettings(config)
  const schema = schemaOf(settings)
  const executor = postgresExecutor(settings, databaseUrl(settings, context.database))
  const indexes = makeIndexes(settings, executor, schema, settings.bootstrap_schema ?? true)
  return new SqlVectorStore({ executor, schema, ...behaviour(settings), indexes })
}

/** @throws ProviderError when the packages are missing, or the folder is in use or not a data directory */
export async function makePgliteStore (
  config: ProviderConfig, context: ProviderContext,
): Promise<VectorStore> {
  const settings = pgliteSettings(config, context)
  return new SqlVectorStore({
    executor: await pgliteExecutor(settings),
    schema: schemaOf(settings),
    ...behaviour(settings),
    vacuum: true,
    shared: false,
  })
}

export function postgresExecutor (settings: PostgresSettings, url: string): Executor {
  return new PostgresExecutor({
    url,
    poolSize: settings.pool_size ?? 10,
    poolMaxWaiting: settings.pool_max_waiting ?? MAX_WAITING,
    poolWaitMs: settings.pool_wait_ms ?? WAIT_MS,
    connectTimeoutMs: settings.connect_timeout_ms ?? 5000,
    statementTimeoutMs: settings.statement_timeout_ms ?? 10_000,
    bulkTimeoutMs: settings.bulk_timeout_ms ?? BULK_TIMEOUT_MS,
    transactionPooler: settings.transaction_pooler ?? false,
  })
}

export async function pgliteExecutor (settings: PgliteSettings): Promise<Executor> {
  return await openPglite({
    dataDir: settings.data_dir,
    timeoutMs: settings.statement_timeout_ms ?? 10_000,
    bulkTimeoutMs: settings.bulk_timeout_ms ?? BULK_TIMEOUT_MS,
    maxWaiting: settings.pool_max_waiting ?? MAX_WAITING,
    waitMs: settings.pool_wait_ms ?? PGLITE_WAIT_MS,
  })
}

/** @param build whether indexes are built and dropped, or only used */
export function makeIndexes (
  settings: PostgresSettings, executor: Executor, schema: string, build: boolean,
): VectorIndexes {
  return new VectorIndexes({
    executor, schema, from: settings.index_from ?? 20_000, maxIndexes: settings.index_limit ?? 32, build,
  })
}

/** The quoted schema. */
export function schemaOf ({ schema = DEFAULT_SCHEMA }: { schema?: string }): string {
  return quoteSchema(schema)
}

function behaviour (
  settings: { bootstrap_schema?: boolean, sweep_interval_ms?: number },
): { bootstrapSchema: boolean, sweepIntervalMs: number } {
  return { bootstrapSchema: settings.bootstrap_schema ?? true, sweepIntervalMs: settings.sweep_interval_ms ?? 60_000 }
}
