import { existsSync } from 'node:fs'
import type { Config } from '../../lib/config/config.js'
import type { Executor } from '../../lib/stores/sql/executor.js'
import { pendingMigrations, readMigrations } from '../../lib/stores/sql/migrations.js'
import { Readiness } from '../../lib/stores/sql/readiness.js'
import { pgliteSettings } from '../../lib/stores/sql/settings.js'
import type { EmbeddingSpace } from '../../lib/stores/vector-store.js'
import { openDatabase } from '../../scripts/database.js'
import { clockFinding } from './clock.js'
import { failed, failedWith, ok, skipped, warning, type Finding } from './finding.js'

const RIGHTS = ['select', 'insert', 'update', 'delete'] as const

interface DatabaseServer {
  version: string
  role: string
  superuser: boolean
  /** Milliseconds since 1970. */
  now: number
  /** Version of pgvector; null without it. */
  vector: string | null
}

interface Opened {
  executor: Executor
  /** Quoted. */
  schema: string
}

/**
 * The database of the configuration, asked as the server would ask it. Nothing is changed in it.
 * @param space of the configured vectors, when they could be had
 */
export async function * databaseFindings (
  config: Config, space: EmbeddingSpace | undefined,
): AsyncGenerator<Finding, void> {
  const store = config.settings.vectorStore.name
  if (store === 'in_memory') return yield skipped('database', 'vector_store is in_memory: memories are lost when the process ends')
  if (store !== 'postgres' && store !== 'pglite') return yield skipped('database', `vector_store is ${store}, which this command knows nothing of`)
  if (store === 'pglite') {
    const { data_dir: folder } = pgliteSettings(config.file.vector_store_config ?? {}, config)
    if (!existsSync(folder)) return yield ok('database', `${folder} is made when the server starts`)
  }
  let opened: Opened
  try {
    opened = await openDatabase(config)
  } catch (error) {
    return yield failedWith('database', error, store === 'pglite' ? 'a folder is for one process: stop the server that uses it' : undefined)
  }
  try {
    yield * openFindings(opened, config, space)
  } finally {
    await opened.executor.close()
  }
}

async function * openFindings (
  { executor, schema }: Opened, { file }: Config, space: EmbeddingSpace | undefined,
): AsyncGenerator<Finding, void> {
  const sent = Date.now()
  let server: DatabaseServer | undefined
  try {
    [server] = await executor.read<DatabaseServer>(`select current_setting('server_version') as version, current_user::text as role,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      extract(epoch from clock_timestamp())::float8 * 1000 as now,
      (select extversion from pg_extension where extname = 'vector') as vector`)
  } catch (error) {
    return yield failedWith('database', error, 'look at DATABASE_URL: host, port, user, password and database')
  }
  if (server === undefined) return yield failed('database', 'the database answers nothing')
  yield ok('database', `PostgreSQL ${server.version} answers, the role is ${server.role}`)
  yield clockFinding('clock of the database', server.now, { sent, received: Date.now() })

  const bootstraps = file.vector_store_config?.['bootstrap_schema'] !== false
  const pending = await pendingMigrations(executor, schema, readMigrations()).catch((error: unknown) => failedWith('migrations', error))
  if (!Array.isArray(pending)) return yield pending
  if (server.vector === null && !bootstraps) yield failed('extension', 'pgvector is not in the database', 'run `memory-gateway migrate`')
  else if (server.vector !== null) yield ok('extension', `pgvector ${server.vector}`)
  if (pending.length === 0) {
    yield ok('migrations', 'all are applied')
    yield * readinessFindings({ executor, schema }, space)
  } else if (bootstraps) yield ok('migrations', `the start applies ${pending.join(', ')}`)
  else yield failed('migrations', `the database lacks ${pending.join(', ')}`, 'run `memory-gateway migrate`')
  if (file.vector_store === 'postgres') yield await rightsFinding({ executor, schema }, server, bootstraps && pending.length > 0)
}

/** What the server itself asks for before it says that it is ready. */
async function * readinessFindings (
  { executor, schema }: Opened, space: EmbeddingSpace | undefined,
): AsyncGenerator<Finding, void> {
  const readiness = new Readiness({ executor, schema, migrations: readMigrations(), bootstrapSchema: false })
  try {
    await readiness.start({ warn: () => {}, ...(space !== undefined && { space }) })
    if (space !== undefined) yield ok('stored vectors', `all are of ${space.model}`)
  } catch (error) {
    yield failedWith('stored vectors', error, 'run `memory-gateway reembed`')
  }
}

async function rightsFinding (
  { executor, schema }: Opened, { role, superuser }: { role: string, superuser: boolean }, creates: boolean,
): Promise<Finding> {
  if (superuser) return warning('rights', `the role ${role} is a superuser`, 'give the server a role of its own: docs/operations.md, "Roles"')
  const name = schema.replaceAll('"', '')
  const lacking = await executor.read<{ table: string, right: string }>(`
select t.tablename::text as table, r.name as right from pg_tables t, unnest($2::text[]) as r(name)
where t.schemaname = $1 and t.tablename <> 'schema_migrations'
  and not (has_schema_privilege($1, 'usage') and has_table_privilege(format('%I.%I', t.schemaname, t.tablename), r.name))
order by 1, 2`, [name, RIGHTS])
  if (lacking.length > 0) {
    const told = lacking.slice(0, 3).map(({ table, right }) => `${right} on ${table}`).join(', ')
    return failed('rights', `the role ${role} lacks ${lacking.length} rights: ${told}${lacking.length > 3 ? ', …' : ''}`,
      `grant usage on schema ${name} to ${role}; grant ${RIGHTS.join(', ')} on all tables in schema ${name} to ${role};`)
  }
  const [may] = creates
    ? await executor.read<{ create: boolean }>('select has_database_privilege(current_database(), \'create\') or coalesce(has_schema_privilege(to_regnamespace($1), \'create\'), false) as create', [schema])
    : [{ create: true }]
  if (may?.create !== true) return failed('rights', `the role ${role} may not create the tables`, `grant create on database … to ${role}, or run \`memory-gateway migrate\` with MIGRATE_DATABASE_URL`)
  return ok('rights', `the role ${role} has what the server needs`)
}
