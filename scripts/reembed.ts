import { parseArgs } from 'node:util'
import { applyEnvFile } from '../lib/config/env-file.js'
import { ConfigurationError } from '../lib/config/problems.js'
import { ServiceError } from '../lib/base/service-error.js'
import { ProviderError } from '../lib/config/providers/registry.js'
import { SqlError } from '../lib/stores/sql/executor.js'
import { reembedBanks } from './reembed-banks.js'

const USAGE = `npm run reembed -- [--bank BANK] [--tenant TENANT] [--batch N]
  Gives every memory a vector of the embedding provider of the configuration file (SERVICES_CONFIG_PATH), and
  moves banks with vectors of another provider to it. The database is that of vector_store_config.dsn, else
  DATABASE_URL, else SERVICES_PG_DSN, or vector_store_config.data_dir of pglite. The role has to own the tables, because
  vector indexes are built and dropped at the end. Banks stay in use meanwhile; start servers with the new provider when
  it is done. The command may be interrupted and run again.
  --bank BANK      only this bank
  --tenant TENANT  only banks of this tenant
  --batch N        memories that are embedded at a time; default 64`

async function main (args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      bank: { type: 'string' },
      tenant: { type: 'string' },
      batch: { type: 'string', default: '64' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) {
    console.log(USAGE)
    return
  }
  const batch = Number(values.batch)
  if (!Number.isInteger(batch) || batch < 1 || batch > 10_000) {
    throw new ProviderError('--batch must be an integer from 1 to 10000')
  }
  applyEnvFile(process.env, process.cwd())
  const log = { info: (line: string) => { console.log(line) }, warn: (line: string) => { console.error(line) } }
  await reembedBanks(process.env, { ...values, batch }, log)
}

/** Whether only the message of an error is shown to the operator, without a stack. */
function isExpected (error: unknown): error is Error {
  return error instanceof ConfigurationError || error instanceof ProviderError || error instanceof SqlError
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = 1
  const wrongOption = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  if (wrongOption) console.error(`${error.message}\n\n${USAGE}`)
  else if (error instanceof ServiceError) {
    console.error('embedding_provider: ' +
    `${error.detail}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`)
  } else console.error(isExpected(error) ? error.message : error)
})
