import type { CommandConfig } from '../lib/config/load.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import type { Distribution } from '../lib/stores/sql/distribution.js'
import type { Executor } from '../lib/stores/sql/executor.js'
import { quoteSchema } from '../lib/stores/sql/migrations.js'
import {
  checkDatabaseUrl, databaseUrl, makeIndexes, pgliteExecutor, pgliteSettings, postgresExecutor, postgresSettings,
} from '../lib/stores/sql/providers.js'
import type { VectorIndexes } from '../lib/stores/sql/vectors.js'

/** The keys of the configuration file that choose the database. */
export const DATABASE_KEYS = ['vector_store', 'vector_store_config'] as const

export interface Database {
  executor: Executor
  /** Quoted. */
  schema: string
  distribution?: Distribution
  indexes?: VectorIndexes
  /** For messages. */
  name: string
}

/**
 * The database that the configuration names, for a command beside the server. The store must be postgres or pglite;
 * without a configuration file it is postgres. MIGRATE_DATABASE_URL takes precedence in the command that uses it.
 * @throws ProviderError
 */
export async function openDatabase ({ file, baseDirectory, database }: CommandConfig): Promise<Database> {
  const store = file.vector_store ?? 'postgres'
  const config = file.vector_store_config ?? {}
  // Otherwise the schema or folder of these settings would be ignored, and another database would be changed.
  if (file.vector_store === undefined && Object.keys(config).length > 0) {
    throw new ProviderError('vector_store_config: vector_store is not set; set vector_store')
  }
  if (store === 'pglite') {
    const settings = pgliteSettings(config, { baseDirectory })
    return {
      executor: await pgliteExecutor(settings),
      schema: quoteSchema(settings.schema),
      name: `the database in ${settings.data_dir}`,
    }
  }
  if (store !== 'postgres') {
    throw new ProviderError(`vector_store: ${store} has no database; this command is for postgres and pglite`)
  }
  const settings = postgresSettings(config)
  const url = database.migrateUrl !== undefined
    ? checkDatabaseUrl(database.migrateUrl, 'MIGRATE_DATABASE_URL')
    : databaseUrl(settings, database)
  const executor = postgresExecutor(settings, url)
  const schema = quoteSchema(settings.schema)
  return {
    executor,
    schema,
    distribution: settings.distribution,
    indexes: makeIndexes(settings, executor, schema, true),
    name: `the database (schema ${schema})`,
  }
}
