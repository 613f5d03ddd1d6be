import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../base/package-file.js'
import { ProviderError } from '../../config/providers/registry.js'
import type { EmbeddingSpace, StoreStart } from '../vector-store.js'
import { checkDistribution, type Distribution } from './distribution.js'
import { SqlError, type Executor, type Queries, type Transaction } from './executor.js'

/** A numbered file of migrations/. */
interface Migration {
  version: number
  name: string
  sql: string
  /** SHA-256 of the text with line feeds as line endings, in hex. */
  checksum: string
}

interface Applied {
  version: number
  name: string
  checksum: string
}

const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/

/** What to do when a database lacks migrations; part of messages. */
export const HOW_TO_MIGRATE = 'run `npm run migrate` (node dist/scripts/migrate.js), or set ' +
  'vector_store_config.bootstrap_schema to true'

/** @returns the quoted schema name. @throws ProviderError unless it is a plain name */
export function quoteSchema (schema: string): string {
  if (!SCHEMA.test(schema)) {
    throw new ProviderError('vector_store_config.schema: must be of small letters, digits and _, at most 63, the ' +
      'first no digit')
  }
  return `"${schema}"`
}

/**
 * The migrations of a folder, in order.
 * @throws ProviderError when a file's name is not `0001_words.sql`, or a number is missing or duplicate
 */
export function readMigrations (folder = packageFile('migrations')): Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql')).sort()
  return names.map((name, index) => {
    const number = FILE.exec(name)?.[1]
    if (number === undefined) throw new ProviderError(`migrations/${name}: the name must be like 0001_words.sql`)
    if (Number(number) !== index + 1) {
      throw new ProviderError(`migrations/${name}: the next migration must have the number ` +
        `${String(index + 1).padStart(4, '0')}`)
    }
    const sql = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
    return { version: index + 1, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

/**
 * Applies missing migrations in order, each file in its own transaction. Concurrent runs are serialized by an advisory
 * lock that ends with the transaction, so that it works through a connection pooler too.
 * @param schema quoted
 * @param onApplied called with the name of each file that was applied
 * @throws ProviderError when the database has migrations that differ from the files or are newer, or cannot have
 * pgvector
 * @throws SqlError when the database cannot be reached or refuses a statement
 */
export async function migrate (
  executor: Executor, schema: string, migrations: readonly Migration[], onApplied: (name: string) => void = () => {},
): Promise<void> {
  for (;;) {
    const name = await executor.transaction(async (tx) => await applyNext(tx, schema, migrations), { bulk: true })
    if (name === undefined) return
    onApplied(name)
  }
}

async function applyNext (
  tx: Transaction, schema: string, migrations: readonly Migration[],
): Promise<string | undefined> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))::text', [`memory-gateway migrations ${schema}`])
  // Checked first, because "if not exists" requires the privilege to create it even when it exists.
  const [found] = await tx.query<{ schema: boolean, migrations: boolean }>(
    'select to_regnamespace($1) is not null as schema, to_regclass($2) is not null as migrations',
    [schema, `${schema}.schema_migrations`],
  )
  if (found?.schema !== true) await tx.script(`create schema ${schema}`)
  if (found?.migrations !== true) {
    await tx.script(`create table ${schema}.schema_migrations (
      version integer primary key, name text not null, checksum text not null,
        applied_at timestamptz not null default now()
    )`)
  }
  const [next] = pending(await readApplied(tx, schema), migrations)
  if (next === undefined) return undefined
  if (next.version === 1) await ensureEncoding(tx)
  await ensureExtension(tx)
  // The extension's types are in the schema that the operator chose, which the role's search path contains.
  await tx.query('select set_config(\'search_path\', $1 || \', \' || current_setting(\'search_path\'), true)', [schema])
  await tx.script(next.sql)
  await tx.query(`insert into ${schema}.schema_migrations (version, name, checksum) values ($1::int, $2, $3)`, [
    next.version, next.name, next.checksum,
  ])
  return next.name
}

/**
 * Any other encoding lacks characters of texts, or treats their bytes as characters. A database has its encoding from
 * its creation on, so it is checked before the first table is created.
 */
async function ensureEncoding (tx: Transaction): Promise<void> {
  const [found] = await tx.query<{ encoding: string }>('select current_setting(\'server_encoding\') as encoding')
  if (found?.encoding === 'UTF8') return
  throw new ProviderError(`vector_store: the encoding of the database is ${found?.encoding}, and it must be UTF8. ` +
    'The encoding of a database cannot be changed: use one that is created with encoding \'UTF8\' template template0')
}

/** The first migration creates the extension too; this reports a refusal with instructions. */
async function ensureExtension (tx: Transaction): Promise<void> {
  const [found] = await tx.query<{ created: boolean, installed: boolean, major: number }>(`select
    exists (select 1 from pg_extension where extname = 'vector') as created,
    exists (select 1 from pg_available_extensions where name = 'vector') as installed,
    current_setting('server_version_num')::int / 10000 as major`)
  if (found === undefined || found.created) return
  if (!found.installed) {
    throw new ProviderError('vector_store: pgvector is not installed on the database\'s server (PostgreSQL ' +
      `${found.major}). Install it there and try again: on Debian and Ubuntu it is the package ` +
      `postgresql-${found.major}-pgvector, and the container image pgvector/pgvector:pg${found.major} has it`)
  }
  try {
    await tx.script('create extension if not exists vector with schema public')
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '42501') throw error
    throw new ProviderError('vector_store: the role may not create the extension vector (42501). A superuser has to ' +
      'run this in the database once, then try again: create extension vector with schema public', error)
  }
}

/**
 * Compares a database with the files, and changes nothing.
 * @returns the names of the missing migrations
 * @throws ProviderError, SqlError as `migrate`
 */
export async function pendingMigrations (
  executor: Executor, schema: string, migrations: readonly Migration[],
): Promise<string[]> {
  const [found] = await executor.read<{ there: boolean }>(
    'select to_regclass($1) is not null as there', [`${schema}.schema_migrations`],
  )
  const applied = found?.there === true ? await readApplied(executor, schema) : []
  return pending(applied, migrations).map(({ name }) => name)
}

async function readApplied (queries: Queries, schema: string): Promise<Applied[]> {
  return await queries.query<Applied>(`select version, name, checksum from ${schema}.schema_migrations ` +
    'order by version')
}

function pending (applied: readonly Applied[], migrations: readonly Migration[]): Migration[] {
  for (const [index, { version, name, checksum }] of applied.entries()) {
    const file = migrations[index]
    if (file === undefined) {
      throw new ProviderError('vector_store: the database is newer than this version of Memory Gateway: it has the ' +
        `migration ${name}, which this version does not know; run the newer version`)
    }
    if (file.version !== version) {
      throw new ProviderError(`vector_store: the database lacks the migration ${file.name}, although it has later ones`)
    }
    if (file.name !== name || file.checksum !== checksum) {
      throw new ProviderError(`vector_store: the migration ${name} was applied to the database with another content ` +
        `than that of migrations/${file.name}; restore the file, and put changes into a new one`)
    }
  }
  return migrations.slice(applied.length)
}

/**
 * The first version with iterative index scans, without which a filtered search of a large bank could return nothing.
 */
export const MIN_PGVECTOR = [0, 8] as const

/** Whether the extension is at least of MIN_PGVECTOR. */
export function isRecentPgvector (version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > MIN_PGVECTOR[0] || (major === MIN_PGVECTOR[0] && minor >= MIN_PGVECTOR[1])
}

interface ReadinessOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  /** Default none. */
  distribution?: Distribution
  migrations: readonly Migration[]
  bootstrapSchema: boolean
}

type ReadinessStart = Pick<StoreStart, 'space' | 'isDefaultSpace' | 'warn' | 'info'>

/**
 * Whether this server can work with the database: migrated, with pgvector, and with vectors of its embedding model. A
 * database that is unreachable at the start is checked before its first use.
 */
export class Readiness {
  readonly #options: ReadinessOptions
  #start: ReadinessStart = { warn: () => {} }
  #ready = false
  #inFlight: Promise<void> | undefined

  constructor (options: ReadinessOptions) {
    this.#options = options
  }

  /** The database for everything but its preparation: each call waits until the database is ready. */
  get executor (): Executor {
    const { executor, distribution = 'none' } = this.#options
    const { status } = executor
    // Citus cannot plan for a parameter that it does not know.
    const keeps = distribution === 'none'
    return {
      query: async <R extends object>(...args: Parameters<Executor['query']>) => {
        await this.ensure()
        return await executor.query<R>(...args)
      },
      read: async <R extends object>(...[text, params, options]: Parameters<Executor['read']>) => {
        await this.ensure()
        return await executor.read<R>(text, params, keeps ? options : { ...options, keepPlan: false })
      },
      transaction: async (work, options) => {
        await this.ensure()
        return await executor.transaction(work, keeps ? options : { ...options, keepPlans: false })
      },
      maintain: async (text) => { await executor.maintain(text) },
      ...(status !== undefined && { status: () => status.call(executor) }),
      close: async () => { await executor.close() },
    }
  }

  /** @throws ProviderError for an unsuitable database, and with bootstrapSchema for an unreachable one */
  async start (start: ReadinessStart): Promise<void> {
    const { executor, schema, migrations, bootstrapSchema } = this.#options
    this.#start = start
    try {
      if (bootstrapSchema) {
        await migrate(executor, schema, migrations, (name) => {
          start.info?.(`vector_store: applied the migration ${name}`)
        })
      }
      await this.#check()
      this.#ready = true
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      if (bootstrapSchema || error.kind === 'statement') {
        throw new ProviderError(`vector_store: the database cannot be used: ${error.message}`, error)
      }
      start.warn('vector_store: the database does not answer yet, so the service is not ready: ' +
        `${error.message}. Once it answers it has to be migrated: ${HOW_TO_MIGRATE}`)
    }
  }

  /** @throws SqlError while the database is unreachable or unsuitable */
  async ensure (): Promise<void> {
    if (this.#ready) return
    this.#inFlight ??= this.#check().then(() => { this.#ready = true }).finally(() => { this.#inFlight = undefined })
    try {
      await this.#inFlight
    } catch (error) {
      throw error instanceof ProviderError ? new SqlError('statement', error.message) : error
    }
  }

  async #check (): Promise<void> {
    const { executor, schema, distribution = 'none', migrations } = this.#options
    const pending = await pendingMigrations(executor, schema, migrations)
    if (pending.length > 0) {
      throw new ProviderError(`vector_store: the database lacks the migrations ${pending.join(', ')}: ` +
        `${HOW_TO_MIGRATE}`)
    }
    await checkDistribution({ query: async (text, params) => await executor.read(text, params) }, schema, distribution)
    const [extension] = await executor.read<{ version: string }>('select extversion as version from pg_extension ' +
      'where extname = \'vector\'')
    if (!isRecentPgvector(extension?.version ?? '')) {
      throw new ProviderError(`vector_store: the extension vector must be version ${MIN_PGVECTOR.join('.')} or ` +
        `newer; the database has ${extension?.version ?? 'none'}`)
    }
    const { space } = this.#start
    if (space !== undefined) await this.#checkSpace(space)
  }

  async #checkSpace ({ model, dimensions }: EmbeddingSpace): Promise<void> {
    const { executor, schema } = this.#options
    const { isDefaultSpace = false, warn } = this.#start
    const otherSpaces = await executor.read<{ model: string, dimensions: number, banks: number }>(`
select v.model, v.dimensions, count(*)::int as banks from ${schema}.embedding_spaces v
where (v.model, v.dimensions) <> ($1, $2::int)
  and exists (select 1 from ${schema}.embeddings e where e.bank_key = v.bank_key)
group by v.model, v.dimensions order by 3 desc limit 5`, [model, dimensions])
    if (otherSpaces.length > 0) {
      const found = otherSpaces.map((other) => (
        `${other.banks} ${other.banks === 1 ? 'bank has' : 'banks have'} vectors of ${other.model} ` +
          `(${other.dimensions} dimensions)`
      )).join(', ')
      const isUsed = isDefaultSpace ? 'it is not set, and its default' : 'the configured one'
      const message = `embedding_provider: ${isUsed} makes vectors of ${model} (${dimensions} dimensions), but ` +
        `${found}. Vectors of two models cannot be compared: configure the provider that made them, or move the ` +
        'banks with `npm run reembed` (node dist/scripts/reembed.js)'
      if (!isDefaultSpace) throw new ProviderError(message)
      warn(`${message}. Until then they are searched by words only`)
    }
    const [missing] = await executor.read<{ memories: number }>('select coalesce(sum(s.memories - s.embedded), ' +
      `0)::float8 as memories from ${schema}.bank_statistics s`)
    if (missing !== undefined && missing.memories > 0) {
      warn(`embedding_provider: ${missing.memories} memories have no vector and are found by their words only ` +
        'until this server has computed theirs')
    }
  }
}
