import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { applyEnvFile } from '../lib/config/env-file.js'
import { ConfigurationError, loadCommandConfig } from '../lib/config/load.js'
import { settingsOf } from '../lib/config/settings.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { embeddingSpace } from '../lib/memory/open-providers.js'
import { embeddingProviders } from '../lib/models/registry.js'
import { makeProvider, ProviderError } from '../lib/providers/registry.js'
import { embed } from '../lib/retrieval/passages.js'
import { SqlError } from '../lib/stores/sql/executor.js'
import { HOW_TO_MIGRATE, pendingMigrations, readMigrations } from '../lib/stores/sql/migrations.js'
import { Reembedding } from '../lib/stores/sql/reembedding.js'
import { DATABASE_KEYS, openDatabase } from './database.js'
import { ProgressBar } from './progress-bar.js'

const USAGE = `npm run reembed -- [--bank BANK] [--tenant TENANT] [--batch N]
  Gives every memory a vector of the embedding provider of the configuration file (SERVICES_CONFIG_PATH), and moves banks
  with vectors of another provider to it. The database is that of vector_store_config.dsn, else DATABASE_URL, else
  SERVICES_PG_DSN, or vector_store_config.data_dir of pglite. The role has to own the tables, because vector indexes are
  built and dropped at the end. Banks stay in use meanwhile; start servers with the new provider when it is done. The
  command may be interrupted and run again.
  --bank BANK      only this bank
  --tenant TENANT  only banks of this tenant
  --batch N        memories that are embedded at a time; default 64`

async function main (args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { bank: { type: 'string' }, tenant: { type: 'string' }, batch: { type: 'string', default: '64' }, help: { type: 'boolean' } } })
  if (values.help === true) {
    console.log(USAGE)
    return
  }
  const batch = Number(values.batch)
  if (!Number.isInteger(batch) || batch < 1 || batch > 10_000) throw new ProviderError('--batch must be an integer from 1 to 10000')
  applyEnvFile(process.env, process.cwd())
  const config = loadCommandConfig(process.env, { keys: [...DATABASE_KEYS, 'embedding_provider', 'embedding_provider_config'] })
  const settings = settingsOf(config.file)
  const { name: providerName, config: providerConfig } = settings.embeddings
  const provider = await makeProvider(embeddingProviders, providerName, providerConfig, config.baseDirectory, {
    environment: config.environment,
    info: (message) => { console.log(message) },
    warn: (message) => { console.error(message) },
  })
  const space = embeddingSpace(settings, provider)
  const { executor, schema, indexes, name } = await openDatabase(config).catch(async (error: unknown) => {
    // Its threads would keep the process alive.
    await provider.close?.()
    throw error
  })
  try {
    const pending = await pendingMigrations(executor, schema, readMigrations())
    if (pending.length > 0) throw new ProviderError(`${name} lacks the migrations ${pending.join(', ')}: ${HOW_TO_MIGRATE}`)
    const reembedding = new Reembedding({ executor, schema, space, batch, embed: async (texts) => await embed(provider, texts, { purpose: 'document' }), pause: async (ms) => { await delay(ms) } })
    const banks = (await reembedding.banks()).filter(({ bank: { bankId, tenantId } }) => (
      (values.bank ?? bankId) === bankId && (values.tenant ?? tenantId) === tenantId
    ))
    if (banks.length === 0) throw new ProviderError(`${name} has no such bank with memories`)
    let unsettled = 0
    for (const { bank } of banks) {
      const label = bank.tenantId === null ? bank.bankId : `${bank.tenantId}/${bank.bankId}`
      const bar = new ProgressBar(process.stderr, label)
      const { embedded, moved, settled } = await reembedding.reembed(bank, ({ done, total }) => {
        bar.update(done, total)
      })
      bar.end()
      if (!settled) unsettled++
      if (moved || embedded > 0) console.log(`${label}: ${embedded} memories embedded${moved ? `, moved to ${space.model}` : ''}`)
    }
    await indexes?.maintain((message) => { console.log(message) })
    console.log(`${banks.length} ${banks.length === 1 ? 'bank is' : 'banks are'} of ${space.model} (${space.dimensions} dimensions)`)
    if (unsettled > 0) console.log('Transactions from before a move are still open; run this once more when they have ended')
  } finally {
    await executor.close()
    await provider.close?.()
  }
}

/** Whether an error is for the operator to read as it stands, without a stack. */
function isExpected (error: unknown): error is Error {
  return error instanceof ConfigurationError || error instanceof ProviderError || error instanceof SqlError
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = 1
  const wrongOption = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  if (wrongOption) console.error(`${error.message}\n\n${USAGE}`)
  else if (error instanceof ServiceError) console.error(`embedding_provider: ${error.detail}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`)
  else console.error(isExpected(error) ? error.message : error)
})
