import { loadCommandConfig } from '../lib/config/load.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import {
  checkCoordinator, checkDistribution, distributeTables, partitionTables,
} from '../lib/stores/sql/distribution.js'
import { migrate, readMigrations } from '../lib/stores/sql/migrations.js'
import { DATABASE_KEYS, openDatabase } from './database.js'

export interface MigrateOptions {
  /** Distributes the tables over a cluster of Citus, whose coordinator the URI names. */
  distribute?: boolean | undefined
  /** Number of shards of each distributed table. */
  shards?: number | undefined
  /** Divides the tables of banks into so many partitions. */
  partitions?: number | undefined
}

/** The most parts into which a table is divided. */
export const MAX_PARTS = 1024

/**
 * Applies the migrations that the configured database lacks, distributes or partitions its tables, and builds the
 * vector indexes of big banks.
 * @param info receives a line for each action
 * @returns the names of the applied files
 * @throws ConfigurationError, ProviderError, SqlError
 */
export async function applyMigrations (
  environment: NodeJS.ProcessEnv, info: (line: string) => void,
  { distribute = false, shards, partitions }: MigrateOptions = {},
): Promise<string[]> {
  if (distribute && partitions !== undefined) {
    throw new ProviderError('--distribute and --partitions exclude each other: Citus divides the tables itself')
  }
  if (!distribute && shards !== undefined) throw new ProviderError('--shards needs --distribute')
  const { executor, schema, distribution = 'none', indexes, name } = await openDatabase(
    loadCommandConfig(environment, { keys: DATABASE_KEYS, migrates: true }))
  try {
    if (distribute) await checkCoordinator(executor)
    const migrations = readMigrations()
    const applied: string[] = []
    await migrate(executor, schema, migrations, (file) => {
      applied.push(file)
      info(`applied ${file}`)
    })
    info(applied.length === 0 ? `${name} has all ${migrations.length} migrations` : `${name} is up to date`)
    if (distribute) await distributeTables({ executor, schema, info }, shards)
    if (partitions !== undefined) await partitionTables({ executor, schema, info }, partitions)
    if (distribute && distribution === 'none') info('now set vector_store_config.distribution to citus')
    else {
      await checkDistribution(executor, schema, distribution)
      await indexes?.maintain(info)
    }
    return applied
  } finally {
    await executor.close()
  }
}
