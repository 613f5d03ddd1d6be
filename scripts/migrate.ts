import { applyEnvFile } from '../lib/config/env-file.js'
import { ConfigurationError, loadCommandConfig } from '../lib/config/load.js'
import { ProviderError } from '../lib/providers/registry.js'
import { SqlError } from '../lib/stores/sql/executor.js'
import { migrate, readMigrations } from '../lib/stores/sql/migrations.js'
import { DATABASE_KEYS, openDatabase } from './database.js'

const USAGE = `npm run migrate
  Applies the missing files of migrations/ to the database of MIGRATE_DATABASE_URL, else DATABASE_URL, else SERVICES_PG_DSN, or to that
  of the configuration file (SERVICES_CONFIG_PATH): vector_store_config.dsn of postgres, vector_store_config.data_dir of pglite.
  Then builds the vector indexes of big banks, where there are any. May run beside servers and beside itself.`

async function main (): Promise<void> {
  applyEnvFile(process.env, process.cwd())
  const config = loadCommandConfig(process.env, { keys: DATABASE_KEYS, migrates: true })
  const { executor, schema, indexes, name } = await openDatabase(config)
  try {
    const migrations = readMigrations()
    let applied = 0
    await migrate(executor, schema, migrations, (file) => {
      applied++
      console.log(`applied ${file}`)
    })
    console.log(applied === 0 ? `${name} has all ${migrations.length} migrations` : `${name} is up to date`)
    await indexes?.maintain((message) => { console.log(message) })
  } finally {
    await executor.close()
  }
}

if (process.argv.length > 2) {
  console.error(USAGE)
  process.exitCode = process.argv.includes('--help') ? 0 : 1
} else {
  await main().catch((error: unknown) => {
    const known = error instanceof ConfigurationError || error instanceof ProviderError || error instanceof SqlError
    console.error(known ? error.message : error)
    process.exitCode = 1
  })
}
