import { loadCommandConfig } from '../lib/config/load.js'
import { migrate, readMigrations } from '../lib/stores/sql/migrations.js'
import { DATABASE_KEYS, openDatabase } from './database.js'

/**
 * Applies the migrations that the configured database lacks, and builds the vector indexes of big banks.
 * @param info receives a line for each action
 * @returns the names of the applied files
 * @throws ConfigurationError, ProviderError, SqlError
 */
export async function applyMigrations (
  environment: NodeJS.ProcessEnv, info: (line: string) => void,
): Promise<string[]> {
  const { executor, schema, indexes, name } = await openDatabase(
    loadCommandConfig(environment, { keys: DATABASE_KEYS, migrates: true }))
  try {
    const migrations = readMigrations()
    const applied: string[] = []
    await migrate(executor, schema, migrations, (file) => {
      applied.push(file)
      info(`applied ${file}`)
    })
    info(applied.length === 0 ? `${name} has all ${migrations.length} migrations` : `${name} is up to date`)
    await indexes?.maintain(info)
    return applied
  } finally {
    await executor.close()
  }
}
