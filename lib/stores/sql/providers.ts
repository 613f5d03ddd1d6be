import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isPercentEncoded, unbracketed } from '../../base/uri.js'
import { ProviderError, type ProviderConfig, type ProviderContext } from '../../config/providers/registry.js'
import { PgliteSettings, PostgresSettings } from '../../config/providers/schemas/stores.js'
import { settingsCheck } from '../../config/providers/settings.js'
import type { VectorStore } from '../vector-store.js'
import type { Executor } from './executor.js'
import { quoteSchema } from './migrations.js'
import { openPglite } from './pglite.js'
import { PostgresExecutor } from './postgres.js'
import { Standby } from './standby.js'
import { SqlVectorStore } from './store.js'
import { VectorIndexes } from './vectors.js'

/** Interval at which the lag of a standby is measured, in milliseconds. */
const MEASURE_MS = 200

/** @throws ProviderError */
export function makePostgresStore (config: ProviderConfig, context: ProviderContext): VectorStore {
  const settings = postgresSettings(config)
  const schema = quoteSchema(settings.schema)
  const executor = postgresExecutor(settings, databaseUrl(settings, context.database))
  const { read_dsn: readUrl } = settings
  if (readUrl !== undefined && settings.distribution === 'citus') {
    // The log of one node tells nothing of the others.
    throw new ProviderError('vector_store_config.read_dsn: cannot be used with distribution: citus, whose nodes have ' +
      'standbys of their own')
  }
  const standby = readUrl === undefined
    ? undefined
    : new Standby({
      primary: executor,
      standby: postgresExecutor(settings, checkDatabaseUrl(readUrl, 'vector_store_config.read_dsn')),
      maxStalenessMs: settings.max_staleness_ms,
      timer: () => performance.now(),
      intervalMs: Math.min(MEASURE_MS, settings.max_staleness_ms / 2),
    })
  return new SqlVectorStore({
    executor,
    schema,
    distribution: settings.distribution,
    standby,
    indexes: makeIndexes(settings, executor, schema, settings.bootstrap_schema),
    bootstrapSchema: settings.bootstrap_schema,
    sweepIntervalMs: settings.sweep_interval_ms,
  })
}

/** @throws ProviderError when the packages are missing, or the folder is in use or not a data directory */
export async function makePgliteStore (
  config: ProviderConfig, context: ProviderContext,
): Promise<VectorStore> {
  const settings = pgliteSettings(config, context)
  return new SqlVectorStore({
    executor: await pgliteExecutor(settings),
    schema: quoteSchema(settings.schema),
    bootstrapSchema: settings.bootstrap_schema,
    sweepIntervalMs: settings.sweep_interval_ms,
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
  const { distribution, index_from: from, index_limit: maxIndexes } = settings
  return new VectorIndexes({ executor, schema, distribution, from, maxIndexes, build })
}

/**
 * The values of `sslmode` with which the driver does what they mean for PostgreSQL's own clients. It would treat
 * `allow` as `require`, any other text, `verify-ca` included, as `verify-full`, and an empty one as `disable`.
 */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-full']

/** @throws ProviderError that names the fault and contains no value */
export const postgresSettings = settingsCheck('vector_store_config', PostgresSettings)
const checkPglite = settingsCheck('vector_store_config', PgliteSettings)

/** @returns with `data_dir` as an absolute path. @throws ProviderError */
export function pgliteSettings (config: ProviderConfig, { baseDirectory }: ProviderContext): PgliteSettings {
  const settings = checkPglite(config)
  return { ...settings, data_dir: resolve(baseDirectory, settings.data_dir) }
}

/**
 * The connection URI, which must contain host and database: nothing is taken from other variables or defaults.
 * @throws ProviderError without the URI's text, which contains a password
 */
export function databaseUrl (
  { dsn }: Pick<PostgresSettings, 'dsn'>,
  { url, variable = 'DATABASE_URL' }: NonNullable<ProviderContext['database']> = {},
): string {
  const found = dsn ?? url
  if (found === undefined) {
    throw new ProviderError('vector_store: postgres needs a connection URI: set DATABASE_URL, SERVICES_PG_DSN or ' +
      'vector_store_config.dsn')
  }
  return checkDatabaseUrl(found, dsn === undefined ? variable : 'vector_store_config.dsn')
}

/** @param name source of the URI, for the message. @throws ProviderError */
export function checkDatabaseUrl (url: string, name: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  // The driver reads the host only from here: without it, even with a parameter `host`, it would connect to localhost.
  const complete = parsed !== undefined && ['postgres:', 'postgresql:'].includes(parsed.protocol) &&
    parsed.pathname.length > 1 && parsed.hostname !== ''
  if (!complete) {
    throw new ProviderError(`${name}: must be a connection URI with a host and a database, like ` +
      'postgres://user:password@host:5432/database (the value is not shown)')
  }
  if (parsed.searchParams.getAll('sslmode').includes('verify-full') && listsAddress(parsed.hostname)) {
    throw new ProviderError(`${name}: with sslmode=verify-full, several hosts must all be names, because the driver ` +
      'cannot check the certificates of several addresses (the value is not shown)')
  }
  if (![parsed.username, parsed.password].every(isPercentEncoded)) {
    throw new ProviderError(`${name}: a % in the user or the password must be written as %25 (the value is not shown)`)
  }
  if (!parsed.searchParams.getAll('sslmode').every((mode) => TLS_MODES.includes(mode))) {
    throw new ProviderError(`${name}: sslmode must be disable, prefer, require or verify-full (the value is not shown)`)
  }
  return url
}

/** Whether an IP address is one of several hosts. */
function listsAddress (hostname: string): boolean {
  const hosts = hostname.split(',')
  return hosts.length > 1 && hosts.some((host) => isIP(unbracketed(host)) !== 0)
}
