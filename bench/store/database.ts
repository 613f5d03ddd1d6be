import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { quoteSchema } from '../../lib/stores/sql/migrations.js'
import { PostgresExecutor } from '../../lib/stores/sql/postgres.js'
import { SqlVectorStore } from '../../lib/stores/sql/store.js'
import { VectorIndexes } from '../../lib/stores/sql/vectors.js'
import { cpuTimeMs } from '../http/cpu-time.js'
import { NOW, SPACE } from './data.js'

const MINUTE_MS = 60_000
const RAW = 'memory-gateway-bench'
const STORE = 'memory-gateway-bench-store'
const NANOSECONDS_A_MS = 1e6
const PLAN_SETTINGS = ['plan_cache_mode', 'enable_seqscan', 'jit', 'max_parallel_workers_per_gather']

export interface OpenStore {
  store: SqlVectorStore
  indexes: VectorIndexes
}

/** The bench's own schema in a database, and its connections. */
export class BenchDatabase {
  /** Quoted. */
  readonly schema: string
  readonly version: string
  /** One connection with the settings of the stores' connections, for plain statements. */
  readonly raw: postgres.Sql
  readonly #url: string
  readonly #admin: postgres.Sql
  readonly #stores: SqlVectorStore[] = []
  #planning: Array<{ name: string, setting: string }> = []

  private constructor (url: string, schema: string, version: string, admin: postgres.Sql) {
    this.#url = url
    this.schema = schema
    this.version = version
    this.#admin = admin
    this.raw = connect(url, RAW)
  }

  /** The extension is created if missing and never dropped, because other schemas may use it by then. */
  static async create (url: string): Promise<BenchDatabase> {
    const admin = connect(url, `${RAW}-admin`)
    try {
      await admin.unsafe('create extension if not exists vector')
      const [row] = await admin.unsafe<Array<
        { server: string, vector: string }
      >>(`select current_setting('server_version') as server, extversion as vector
from pg_extension where extname = 'vector'`)
      const schema = quoteSchema(`bench_${Date.now().toString(36)}`)
      return new BenchDatabase(url, schema, `PostgreSQL ${row!.server.split(' ')[0]}, pgvector ${row!.vector}`, admin)
    } catch (error) {
      await admin.end()
      throw error
    }
  }

  /** @param indexFrom number of vectors from which a bank gets an index when the indexes are updated */
  async open (connections: number, indexFrom: number): Promise<OpenStore> {
    const url = new URL(this.#url)
    // The driver gives precedence to a parameter of the URI. It distinguishes the backends from those of a gateway on
    // the same database.
    url.searchParams.set('application_name', STORE)
    const executor = new PostgresExecutor({
      url: url.href,
      poolSize: connections,
      poolMaxWaiting: 100,
      poolWaitMs: MINUTE_MS,
      connectTimeoutMs: 5000,
      statementTimeoutMs: MINUTE_MS,
      bulkTimeoutMs: 5 * MINUTE_MS,
      transactionPooler: false,
    })
    // With an interval of 0 it checks only once, at the start, when there is nothing to build.
    const indexes = new VectorIndexes({
      executor, schema: this.schema, from: indexFrom, maxIndexes: 32, build: true, intervalMs: 0,
    })
    const store = new SqlVectorStore({
      executor, schema: this.schema, bootstrapSchema: true, indexes, sweepIntervalMs: 0,
    })
    this.#stores.push(store)
    await store.start({ space: SPACE, clock: () => NOW, warn: () => {} })
    this.#planning = await executor.read(
      'select name, setting from pg_settings where name = any($1::text[])', [PLAN_SETTINGS],
    )
    await this.usePlanSettingsOfStores()
    return { store, indexes }
  }

  /** Gives the raw connection the settings that the stores' connections have. */
  async usePlanSettingsOfStores (): Promise<void> {
    for (const { name, setting } of this.#planning) {
      await this.raw.unsafe('select set_config($1, $2, false)', [name, setting])
    }
  }

  /** Runs a statement of the bench's own, which is not measured. */
  async run<R extends object> (text: string, values: Array<string | number> = []): Promise<R[]> {
    return [...await this.#admin.unsafe(text, values)] as unknown as R[]
  }

  /** Makes figures independent of the time at which autovacuum runs. */
  async settle (): Promise<void> {
    const tables = await this.run<{ name: string }>(
      'select relname as name from pg_class where relnamespace = $1::regnamespace and relkind = \'r\'', [this.schema],
    )
    for (const { name } of tables) await this.run(`vacuum (analyze) ${this.schema}.${name}`)
    await this.run('checkpoint').catch(() => {})
  }

  /**
   * A reading of the processor time that the present backends of the stores, or of the raw connection, have used.
   * @returns the time used since, in milliseconds; undefined when the database runs on another machine
   */
  async cpuMeter (of: 'store' | 'raw'): Promise<() => number | undefined> {
    const rows = await this.run<{
      pid: number, database: string
    }>(`select pid, datname as database from pg_stat_activity
where datname = current_database() and application_name = $1 and backend_type = 'client backend'`, [of === 'store'
      ? STORE
      : RAW])
    const pids = rows.every(({ pid, database }) => isBackend(pid, database)) ? rows.map(({ pid }) => pid) : []
    const read = () => pids.map(processorMs)
    const before = read()
    return () => {
      const spent =
        read().map((now, index) => now === undefined || before[index] === undefined ? undefined : now - before[index])
      return spent.length === 0 || spent.includes(undefined)
        ? undefined
        : spent.reduce<number>((sum, value) => sum + value!, 0)
    }
  }

  /** Ends every connection and drops the schema, unless `keep` is set. */
  async close ({ keep }: { keep: boolean }): Promise<void> {
    for (const store of this.#stores) await store.close()
    await this.raw.end()
    if (!keep) await this.run(`drop schema if exists ${this.schema} cascade`)
    await this.#admin.end()
  }
}

function connect (url: string, name: string): postgres.Sql {
  return postgres(url, {
    max: 1,
    // A new connection would not have the settings.
    max_lifetime: null,
    onnotice: () => {},
    connection: { application_name: name },
  })
}

/** A process of this machine may by chance have the process id of a backend on another machine. */
function isBackend (pid: number, database: string): boolean {
  const title = readProc(pid, 'cmdline')
  return title !== undefined && title.includes('postgres') && title.includes(database)
}

/** By the scheduler's clock, in nanoseconds, if it is available. */
function processorMs (pid: number): number | undefined {
  const scheduled = readProc(pid, 'schedstat')?.split(' ')[0]
  return scheduled === undefined ? cpuTimeMs(pid) : Number(scheduled) / NANOSECONDS_A_MS
}

function readProc (pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
