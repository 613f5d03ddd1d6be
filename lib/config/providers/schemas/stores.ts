import { Type } from 'typebox'
import { setting, type Resolved } from '../../../base/defaults.js'
import { integer } from './parts.js'

/** `vector_store_config` of `vector_store: in_memory`. */
export const InMemorySettings = Type.Object({
  max_bytes: integer(
    1_048_576, 2 ** 40,
    'Maximum bytes of memories, their vectors and the configurations of banks, as estimated by the ' +
      'process; a write that does not fit is answered 503 and changes nothing. Default: two fifths of the heap ' +
      'limit of Node.js (`--max-old-space-size`).',
  ),
}, { additionalProperties: false })

const POOL_WAIT = 'Maximum milliseconds that a request waits for a connection.'

const shared = {
  bootstrap_schema: setting(Type.Boolean({
    description: 'Whether the server applies missing migrations at start and, in PostgreSQL, builds the vector ' +
      'indexes of large banks. false: only `npm run migrate` changes the schema.',
  }), true),
  schema: setting(Type.String({
    pattern: '^[a-z_][a-z0-9_]{0,62}$',
    'x-allowed': 'of lower-case letters, digits and _, at most 63 characters, the first not a digit',
    description: 'Schema of the database that contains the tables.',
  }), 'memory_gateway'),
  pool_max_waiting: setting(integer(
    0, 10_000,
    'Maximum number of requests that wait for a connection; further ones are answered 503 with Retry-After.',
  ), 100),
  statement_timeout_ms: setting(integer(10, 600_000, 'Maximum milliseconds of a statement.'), 10_000),
  bulk_timeout_ms: setting(integer(
    1000, 86_400_000,
    'Maximum milliseconds of a statement over a whole bank (export, import, forgetting everything) or of a migration.',
  ), 300_000),
  sweep_interval_ms: setting(integer(
    0, 86_400_000,
    'Milliseconds between two sweeps, which delete expired memories; until then they are only hidden. 0: no sweeps.',
  ), 60_000),
}

/** `vector_store_config` of `vector_store: postgres`. */
export const PostgresSettings = Type.Object({
  dsn: Type.Optional(Type.String({
    minLength: 1, description: 'Connection URI. Default: DATABASE_URL, else SERVICES_PG_DSN.',
  })),
  read_dsn: Type.Optional(Type.String({
    minLength: 1,
    description: 'Connection URI of a streaming standby, which answers recalls and lists while it is fresh enough. ' +
      'Default: none; the primary answers everything.',
  })),
  max_staleness_ms: setting(integer(
    50, 600_000,
    'With `read_dsn`: a standby that lacks writes older than this many milliseconds is not used. The writes of the ' +
      'gateway that is asked are never missing.',
  ), 1000),
  ...shared,
  pool_wait_ms: setting(integer(1, 60_000, POOL_WAIT), 2000),
  pool_size: setting(integer(1, 500, 'Maximum number of connections.'), 10),
  connect_timeout_ms: setting(integer(
    100, 60_000, 'Maximum milliseconds for opening a connection, rounded up to whole seconds.',
  ), 5000),
  transaction_pooler: setting(Type.Boolean({
    description: 'Whether the URI is that of a pooler in transaction mode, such as PgBouncer; the gateway then ' +
      'uses no prepared statements and no session settings.',
  }), false),
  distribution: setting(Type.Enum(['none', 'citus'], {
    description: 'Whether the tables are on one PostgreSQL (none), partitioned or not, or distributed over a cluster ' +
      'of Citus (citus) by `npm run migrate -- --distribute`.',
  }), 'none'),
  index_from: setting(Type.Integer({
    minimum: 0,
    description: 'Number of vectors from which a bank gets its own HNSW index; smaller banks are searched exactly. ' +
      '0: no indexes, and existing ones are dropped.',
  }), 20_000),
  index_limit: setting(integer(0, 1000, 'Maximum number of such indexes; the largest banks have them.'), 32),
}, { additionalProperties: false })

/** `vector_store_config` of `vector_store: pglite`. */
export const PgliteSettings = Type.Object({
  data_dir: Type.String({
    minLength: 1,
    description: 'Folder of the database, which is created if it is missing; a relative path is relative to the ' +
      'configuration file. Only one process may use it.',
  }),
  ...shared,
  pool_wait_ms: setting(integer(
    1, 60_000, `${POOL_WAIT} There is one, and an export or import of a large bank keeps it to its end.`,
  ), 30_000),
}, { additionalProperties: false })

/** The settings with defaults filled in, as `settingsCheck` returns them. */
export type PostgresSettings = Resolved<typeof PostgresSettings>
export type PgliteSettings = Resolved<typeof PgliteSettings>
