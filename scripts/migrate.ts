import { applyEnvFile } from '../lib/config/env-file.js'
import { ConfigurationError } from '../lib/config/problems.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import { SqlError } from '../lib/stores/sql/executor.js'
import { applyMigrations } from './apply-migrations.js'

const USAGE = `npm run migrate
  Applies the missing files of migrations/ to the database of MIGRATE_DATABASE_URL, else DATABASE_URL, else
  SERVICES_PG_DSN, or to that of the configuration file (SERVICES_CONFIG_PATH): vector_store_config.dsn of postgres,
  vector_store_config.data_dir of pglite.
  Then builds the vector indexes of big banks, if there are any. Servers and other runs of it may be active meanwhile.`

async function main (): Promise<void> {
  applyEnvFile(process.env, process.cwd())
  await applyMigrations(process.env, (line) => { console.log(line) })
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
