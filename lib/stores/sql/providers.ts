import type { ProviderConfig, ProviderContext } from '../../providers/registry.js'
import type { PgliteSettings, PostgresSettings } from '../../providers/schemas/stores.js'
import type { VectorStore } from '../vector-store.js'
import type { Executor } from './executor.js'
import { quoteSchema } from './migrations.js'
import { openPglite } from './pglite.js'
import { PostgresExecutor } from './postgres.js'
import { databaseUrl, pgliteSettings, postgresSettings } from './settings.js'
import { SqlVectorStore } from './store.js'
import { VectorIndexes } from './vector-indexes.js'

/** @throws ProviderError */
export function makePostgresStore (config: ProviderConfig, context: ProviderContext): VectorStore {
  const settings = postgresSettings(config)
  const schema = schemaOf(settings)
  const executor = postgresExecutor(settings, databaseUrl(settings, context.database))
  const indexes = makeIndexes(settings, executor, schema, settings.bootstrap_schema)
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
    poolSize: settings.pool_size,
    poolMaxWaiting: settings.pool_max_waiting,
    poolWaitMs: settings.pool_wait_ms,
    connectTimeoutMs: settings.connect_timeout_ms,
    statementTimeoutMs: settings.statement_timeout_ms,
    bulkTimeoutMs: settings.bulk_timeout_ms,
    transactionPooler: settings.transaction_pooler,
  })
}

export async function pgliteExecutor (settings: PgliteSettings): Promise<Executor> {
  return await openPglite({
    dataDir: settings.data_dir,
    timeoutMs: settings.statement_timeout_ms,
    bulkTimeoutMs: settings.bulk_timeout_ms,
    maxWaiting: settings.pool_max_waiting,
    waitMs: settings.pool_wait_ms,
  })
}

/** @param build whether indexes are built and dropped, or only used */
export function makeIndexes (
  settings: PostgresSettings, executor: Executor, schema: string, build: boolean,
): VectorIndexes {
  return new VectorIndexes({ executor, schema, from: settings.index_from, maxIndexes: settings.index_limit, build })
}

/** The quoted schema. */
export function schemaOf ({ schema }: { schema: string }): string {
  return quoteSchema(schema)
}

function behaviour (
  settings: Pick<PostgresSettings, 'bootstrap_schema' | 'sweep_interval_ms'>,
): { bootstrapSchema: boolean, sweepIntervalMs: number } {
  return { bootstrapSchema: settings.bootstrap_schema, sweepIntervalMs: settings.sweep_interval_ms }
}
