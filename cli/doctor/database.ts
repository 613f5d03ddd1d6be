import { existsSync } from 'node:fs'
import type { Config } from '../../lib/config/config.js'
import type { Distribution } from '../../lib/stores/sql/distribution.js'
import type { Executor } from '../../lib/stores/sql/executor.js'
import {
  isRecentPgvector, MIN_PGVECTOR, pendingMigrations, Readiness, readMigrations,
} from '../../lib/stores/sql/migrations.js'
import { pgliteSettings } from '../../lib/stores/sql/providers.js'
import type { EmbeddingSpace } from '../../lib/stores/vector-store.js'
import { openDatabase } from '../../scripts/database.js'
import { clockFinding } from './clock.js'
import { failed, failedWith, type Finding, ok, skipped, warning } from './finding.js'

/** An open database. */
interface OpenDatabase {
  executor: Executor
  /** Quoted. */
  schema: string
  distribution?: Distribution
}

const CHECK = 'rights'
const RIGHTS = ['select', 'insert', 'update', 'delete'] as const
/** The most rights that a message names; it only mentions that there are more. */
const NAMED = 3

/** The current role. The `quoted…` names can be used in SQL unchanged. */
interface Role {
  role: string
  superuser: boolean
  quotedRole: string
  quotedDatabase: string
}

async function roleOf ({ executor }: OpenDatabase): Promise<Role> {
  const [role] = await executor.read<Role>(`
select current_user::text as role, quote_ident(current_user) as "quotedRole",
  quote_ident(current_database()) as "quotedDatabase",
  (select rolsuper from pg_roles where rolname = current_user) as superuser`)
  if (role === undefined) throw new Error('the database knows no current user')
  return role
}

/**
 * Whether the role may read and write the rows of the tables.
 * @returns undefined as long as there are no tables
 */
async function rightsFinding ({ executor, schema }: OpenDatabase): Promise<Finding | undefined> {
  const { role, quotedRole, superuser } = await roleOf({ executor, schema })
  const rows = await executor.read<{ right: string, on: string, has: boolean }>(`
select 'usage' as right, nspname::text as on, has_schema_privilege(oid, 'usage') as has
from pg_namespace where nspname = $1::text
union all
select r.name, c.relname::text, has_table_privilege(c.oid, r.name)
from pg_class c join pg_namespace n on n.oid = c.relnamespace, unnest($2::text[]) as r(name)
where n.nspname = $1::text and c.relkind in ('r', 'p') and not c.relispartition
  and (c.relname <> 'schema_migrations' or r.name = 'select')
order by 2, 1`, [schema.replaceAll('"', ''), RIGHTS])
  if (!rows.some(({ right }) => right !== 'usage')) return undefined
  if (superuser) {
    return warning(
      CHECK, `the role ${role} is a superuser`, 'give the server a role of its own: docs/operations.md, "Roles"',
    )
  }
  const lacking = rows.filter(({ has }) => !has)
  if (lacking.length === 0) return ok(CHECK, `the role ${role} has the rights that the server needs`)
  const named = lacking.slice(0, NAMED).map(({ right, on }) => `${right} on ${on}`).join(', ')
  return failed(CHECK, `the role ${role} lacks ${lacking.length} rights: ` +
    `${named}${lacking.length > NAMED ? ', …' : ''}`,
    `run in the database: grant usage on schema ${schema} to ${quotedRole}; grant ${RIGHTS.join(', ')} on all tables ` +
      `in schema ${schema} to ${quotedRole};`)
}

/**
 * Whether the role may do what a start with missing migrations does.
 * @param makesExtension whether pgvector is not in the database yet
 */
async function makingFinding ({ executor, schema }: OpenDatabase, makesExtension: boolean): Promise<Finding> {
  const { role, quotedRole, quotedDatabase, superuser } = await roleOf({ executor, schema })
  if (superuser) {
    return warning(
      CHECK, `the role ${role} is a superuser`, 'give the server a role of its own: docs/operations.md, "Roles"',
    )
  }
  const [may] = await executor.read<{ schema: boolean, tables: boolean, extension: boolean }>(`
select case when to_regnamespace(quote_ident($1::text)) is null
    then has_database_privilege(current_database(), 'create')
    else has_schema_privilege($1::text, 'create') end as schema,
  not exists (select from pg_tables where schemaname = $1::text and not pg_has_role(tableowner, 'usage')) as tables,
  coalesce((select trusted and has_database_privilege(current_database(), 'create')
    from pg_available_extension_versions v
    join pg_available_extensions e on e.name = v.name and e.default_version = v.version
    where e.name = 'vector'), false) as extension`,
  [schema.replaceAll('"', '')])
  const instead = 'or run `memory-gateway migrate` with the URI of a role that may in MIGRATE_DATABASE_URL'
  if (may?.schema !== true) {
    return failed(
      CHECK, `the role ${role} may not create the tables`,
      `run in the database: grant create on database ${quotedDatabase} to ${quotedRole}; ${instead}`,
    )
  }
  if (!may.tables) {
    return failed(CHECK, `the role ${role} does not own the tables that migrations change`, instead.slice('or '.length))
  }
  if (makesExtension && !may.extension) {
    return failed(
      CHECK, `the role ${role} may not add pgvector to the database`,
      'run as a superuser in the database: create extension vector with schema public;',
    )
  }
  return ok(CHECK, `the role ${role} has the rights that the server needs at start`)
}

const MIN_POSTGRESQL_VERSION = 15

interface DatabaseServer {
  version: string
  role: string
  encoding: string
  /** `on` or `off`. */
  readOnly: string
  /** Milliseconds since 1970. */
  now: number
  /** Version of pgvector in the database; null without it. */
  vector: string | null
  /** Version of pgvector that could be created in the database; null when it is not installed on the server. */
  available: string | null
}

/**
 * Checks the database of the configuration with the queries of the server. Changes nothing in it.
 * @param space of the configured vectors, if the embedding provider worked
 */
export async function * databaseFindings (
  config: Config, space: EmbeddingSpace | undefined,
): AsyncGenerator<Finding, void> {
  const store = config.settings.vectorStore.name
  if (store === 'in_memory') {
    return yield skipped('database', 'vector_store is in_memory: memories are lost when the process ends')
  }
  if (store !== 'postgres' && store !== 'pglite') {
    return yield skipped('database', `vector_store is ${store}, which this command cannot check`)
  }
  if (store === 'pglite') {
    const { data_dir: folder } = pgliteSettings(config.file.vector_store_config ?? {}, config)
    if (!existsSync(folder)) return yield ok('database', `${folder} is created when the server starts`)
  }
  let opened: OpenDatabase
  try {
    opened = await openDatabase(config)
  } catch (error) {
    return yield failedWith(
      'database', error,
      store === 'pglite' ? 'only one process may use a folder: stop the server that uses it' : undefined,
    )
  }
  try {
    yield * openFindings(opened, config, space)
  } catch (error) {
    yield failedWith('database', error)
  } finally {
    await opened.executor.close()
  }
}

async function * openFindings (
  { executor, schema }: OpenDatabase, { file, settings }: Config, space: EmbeddingSpace | undefined,
): AsyncGenerator<Finding, void> {
  const sent = Date.now()
  let server: DatabaseServer | undefined
  try {
    [server] = await executor.read<DatabaseServer>(`
select current_setting('server_version') as version, current_user::text as role,
  current_setting('server_encoding') as encoding, current_setting('transaction_read_only') as "readOnly",
  extract(epoch from clock_timestamp())::float8 * 1000 as now,
  (select extversion from pg_extension where extname = 'vector') as vector,
  (select default_version from pg_available_extensions where name = 'vector') as available`)
  } catch (error) {
    return yield failedWith('database', error, 'check DATABASE_URL: host, port, user, password and database')
  }
  if (server === undefined) return yield failed('database', 'the database returned no row')
  yield serverFinding(server)
  if (server.encoding !== 'UTF8') yield encodingFinding(server.encoding)
  yield clockFinding('clock of the database', server.now, { sent, received: Date.now() })

  const bootstraps = file.vector_store_config?.['bootstrap_schema'] !== false
  yield extensionFinding(server, bootstraps)
  if (settings.vectorStore.name === 'postgres') {
    const rights = await rightsFinding({ executor, schema })
    if (rights !== undefined) yield rights
    // This role cannot read which migrations are applied.
    if (rights?.status === 'failed') return
  }
  const pending = await pendingMigrations(executor, schema, readMigrations()).catch((error: unknown) => (
    failedWith('migrations', error)
  ))
  if (!Array.isArray(pending)) return yield pending
  if (pending.length === 0) {
    yield ok('migrations', 'all are applied')
    if (server.vector !== null && isRecentPgvector(server.vector)) {
      yield * readinessFindings({ executor, schema }, space)
    }
  } else if (!bootstraps) {
    yield failed('migrations', `the database lacks ${pending.join(', ')}`, 'run `memory-gateway migrate`')
  } else {
    yield ok('migrations', `the server applies ${pending.join(', ')}`)
    if (settings.vectorStore.name === 'postgres') {
      yield await makingFinding({ executor, schema }, server.vector === null)
    }
  }
}

function serverFinding ({ version, role, readOnly }: DatabaseServer): Finding {
  const check = 'database'
  const answers = `PostgreSQL ${version} answers`
  if (Number.parseInt(version) < MIN_POSTGRESQL_VERSION) {
    return failed(check, answers, `move the database to PostgreSQL ${MIN_POSTGRESQL_VERSION} or newer`)
  }
  if (readOnly === 'on') {
    return failed(
      check, `${answers}, but it is read-only for the role ${role}, so that writes fail`,
      'use the URI of the primary server, or reset default_transaction_read_only of the database, role or server',
    )
  }
  return ok(check, `${answers}, the role is ${role}`)
}

/** A migration refuses such a database, but earlier versions migrated it. */
function encodingFinding (encoding: string): Finding {
  return failed(
    'encoding', `the encoding of the database is ${encoding}, and it must be UTF8`,
    'create a database with encoding \'UTF8\' template template0, and export the banks and import them there',
  )
}

function extensionFinding ({ vector, available }: DatabaseServer, bootstraps: boolean): Finding {
  const check = 'extension'
  if (vector !== null && isRecentPgvector(vector)) return ok(check, `pgvector ${vector}`)
  const minimum = MIN_PGVECTOR.join('.')
  if (available === null || !isRecentPgvector(available)) {
    return failed(check, available === null
      ? 'pgvector is not installed on the database server'
      : `the database server has pgvector ${available}`,
      `install pgvector ${minimum} or newer there: docs/operations.md, "Roles"`)
  }
  if (vector !== null) {
    return failed(
      check, `pgvector ${vector} is older than ${minimum}`, 'run in the database: alter extension vector update;',
    )
  }
  return bootstraps
    ? ok(check, `the server adds pgvector ${available} to the database at start`)
    : failed(
      check, 'pgvector is not in the database',
      'run `memory-gateway migrate`, or as a superuser in the database: create extension vector with schema public;',
    )
}

/** The checks that the server makes before it reports that it is ready. */
async function * readinessFindings (
  { executor, schema, distribution }: OpenDatabase, space: EmbeddingSpace | undefined,
): AsyncGenerator<Finding, void> {
  const readiness = new Readiness({
    executor, schema, migrations: readMigrations(), bootstrapSchema: false, ...(distribution && { distribution }),
  })
  const warnings: string[] = []
  try {
    await readiness.start({ warn: (message) => { warnings.push(message) }, space })
    if (warnings.length > 0) yield warning('stored vectors', warnings.join('; '), 'run `memory-gateway reembed`')
    else if (space !== undefined) yield ok('stored vectors', `all were made by ${space.model}`)
  } catch (error) {
    yield failedWith('stored vectors', error, 'run `memory-gateway reembed`')
  }
}
