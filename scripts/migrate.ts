import { parseArgs } from 'node:util'
import { applyEnvFile } from '../lib/config/env-file.js'
import { ConfigurationError } from '../lib/config/problems.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import { SqlError } from '../lib/stores/sql/executor.js'
import { applyMigrations, MAX_PARTS } from './apply-migrations.js'

const USAGE = `npm run migrate -- [--distribute [--shards N] | --partitions N]
  Applies the missing files of migrations/ to the database of MIGRATE_DATABASE_URL, else DATABASE_URL, else
  SERVICES_PG_DSN, or to that of the configuration file (SERVICES_CONFIG_PATH): vector_store_config.dsn of postgres,
  vector_store_config.data_dir of pglite.
  Then builds the vector indexes of big banks, if there are any. Servers and other runs of it may be active meanwhile.
  --distribute    distributes the tables over a cluster of Citus; the URI is that of the coordinator
  --shards N      shards of each distributed table; default: citus.shard_count
  --partitions N  divides the tables of banks into N partitions; they are locked meanwhile`

/** @throws ProviderError unless the value is absent or a number of parts */
function parts (name: string, value: string | undefined): number | undefined {
  const number = Number(value)
  if (value === undefined || (Number.isInteger(number) && number >= 1 && number <= MAX_PARTS)) {
    return value === undefined ? undefined : number
  }
  throw new ProviderError(`${name} must be an integer from 1 to ${MAX_PARTS}`)
}

async function main (args: string[]): Promise<void> {
  const { values: { help = false, distribute = false, shards, partitions } } = parseArgs({
    args,
    options: {
      distribute: { type: 'boolean' },
      shards: { type: 'string' },
      partitions: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (help) {
    console.log(USAGE)
    return
  }
  const options = { distribute, shards: parts('--shards', shards), partitions: parts('--partitions', partitions) }
  applyEnvFile(process.env, process.cwd())
  await applyMigrations(process.env, (line) => { console.log(line) }, options)
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = 1
  const wrongOption = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  const known = error instanceof ConfigurationError || error instanceof ProviderError || error instanceof SqlError
  if (wrongOption) console.error(`${error.message}\n\n${USAGE}`)
  else console.error(known ? error.message : error)
})
