import { Type, type Static } from 'typebox'
import { resolve } from 'node:path'
import { ProviderError, type ProviderConfig, type ProviderContext } from '../../providers/registry.js'
import { settingsCheck } from '../../providers/settings.js'

const milliseconds = (minimum: number, maximum: number, description: string) => (
  Type.Optional(Type.Integer({ minimum, maximum, description }))
)

const shared = {
  bootstrap_schema: Type.Optional(Type.Boolean({
    description: 'Whether the server applies missing migrations at start and, in PostgreSQL, builds the vector ' +
      'indexes of large banks. false: only `npm run migrate` changes the schema. Default true.',
  })),
  schema: Type.Optional(Type.String({
    pattern: '^[a-z_][a-z0-9_]{0,62}$',
    'x-allowed': 'of lower-case letters, digits and _, at most 63 characters, the first not a digit',
    description: 'Schema of the database that contains the tables. Default memory_gateway.',
  })),
  pool_max_waiting: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: 'Maximum number of requests that wait for a connection; further ones are answered 503 with ' +
      'Retry-After. Default 100.',
  })),
  pool_wait_ms: milliseconds(1, 60_000, 'Maximum milliseconds that a request waits for a connection. Default 2000.'),
  statement_timeout_ms: milliseconds(10, 600_000, 'Maximum milliseconds of a statement. Default 10000.'),
  bulk_timeout_ms: milliseconds(
    1000, 86_400_000,
    'Maximum milliseconds of a statement over a whole bank (export, import, forgetting everything) or of a ' +
      'migration. Default 300000.',
  ),
  sweep_interval_ms: milliseconds(
    0, 86_400_000,
    'Milliseconds between two sweeps, which delete expired memories; until then they are only hidden. 0: no sweeps. ' +
      'Default 60000.',
  ),
}

/** `vector_store_config` of `vector_store: postgres`. */
export const PostgresSettings = Type.Object({
  dsn: Type.Optional(Type.String({
    minLength: 1, description: 'Connection URI. Default: DATABASE_URL, else SERVICES_PG_DSN.',
  })),
  ...shared,
  pool_size: Type.Optional(Type.Integer({
    minimum: 1, maximum: 500, description: 'Maximum number of connections. Default 10.',
  })),
  connect_timeout_ms: milliseconds(
    100, 60_000, 'Maximum milliseconds for opening a connection, rounded up to whole seconds. Default 5000.',
  ),
  transaction_pooler: Type.Optional(Type.Boolean({
    description: 'Whether the URI is that of a pooler in transaction mode, such as PgBouncer; the gateway then ' +
      'uses no prepared statements and no session settings. Default false.',
  })),
  index_from: Type.Optional(Type.Integer({
    minimum: 0,
    description: 'Number of vectors from which a bank gets its own HNSW index; smaller banks are searched exactly. ' +
      '0: no indexes. Default 20000.',
  })),
  index_limit: Type.Optional(Type.Integer({
    minimum: 0, maximum: 1000, description: 'Maximum number of such indexes; the largest banks have them. Default 32.',
  })),
}, { additionalProperties: false })

/** `vector_store_config` of `vector_store: pglite`. */
export const PgliteSettings = Type.Object({
  data_dir: Type.String({
    minLength: 1,
    description: 'Folder of the database, which is created if it is missing; a relative path is relative to the ' +
      'configuration file. Only one process may use it.',
  }),
  ...shared,
}, { additionalProperties: false })

export type PostgresSettings = Static<typeof PostgresSettings>
export type PgliteSettings = Static<typeof PgliteSettings>

/**
 * The values of `sslmode` with which the driver does what they mean for PostgreSQL's own clients. It would treat
 * `allow` as `require`, any other text, `verify-ca` included, as `verify-full`, and an empty one as `disable`.
 */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-full']

const checkPostgres = settingsCheck('vector_store_config', PostgresSettings)
const checkPglite = settingsCheck('vector_store_config', PgliteSettings)

/** @throws ProviderError that names the fault and contains no value */
export function postgresSettings (config: ProviderConfig): PostgresSettings {
  return checkPostgres(config)
}

/** @returns with `data_dir` as an absolute path. @throws ProviderError */
export function pgliteSettings (config: ProviderConfig, { baseDirectory }: ProviderContext): PgliteSettings {
  const settings = checkPglite(config)
  return { ...settings, data_dir: resolve(baseDirectory, settings.data_dir) }
}

/**
 * The connection URI, which must contain host and database: nothing is taken from other variables or defaults.
 * @throws ProviderError without the URI's text, which contains a password
 */
export function databaseUrl ({ dsn }: PostgresSettings, environmentUrl: string | undefined): string {
  const found = dsn ?? environmentUrl
  if (found === undefined) {
    throw new ProviderError('vector_store: postgres needs a connection URI: set DATABASE_URL, SERVICES_PG_DSN or ' +
      'vector_store_config.dsn')
  }
  return checkDatabaseUrl(found, dsn === undefined ? 'DATABASE_URL' : 'vector_store_config.dsn')
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
  if (![parsed.username, parsed.password].every(isDecodable)) {
    throw new ProviderError(`${name}: a % in the user or the password must be written as %25 (the value is not shown)`)
  }
  if (!parsed.searchParams.getAll('sslmode').every((mode) => TLS_MODES.includes(mode))) {
    throw new ProviderError(`${name}: sslmode must be disable, prefer, require or verify-full (the value is not shown)`)
  }
  return url
}

function isDecodable (part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}
