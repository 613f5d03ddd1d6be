import { isIP } from 'node:net'
import postgres from 'postgres'
import { TIMED_OUT, withTimeout } from '../../base/deadline.js'
import type { Semaphore } from '../../base/semaphore.js'
import { unbracketed } from '../../base/uri.js'
import type { PoolStatus } from '../vector-store.js'
import {
  arrayElements, arrayNumbers, arrayText, closedError, connectionSemaphore, fromDatabase, poolStatus, SqlError,
  type Executor, type Param, type ReadOptions, type Transaction, type TransactionOptions, type WaitOptions,
} from './executor.js'

export interface PostgresOptions {
  /** Connection URI. */
  url: string
  poolSize: number
  /** Maximum number of callers that wait for a connection, and how long they wait. */
  poolMaxWaiting: number
  poolWaitMs: number
  connectTimeoutMs: number
  statementTimeoutMs: number
  /** Time limit of a statement that works on a whole bank. */
  bulkTimeoutMs: number
  /** The server is a connection pooler in transaction mode: no prepared statements, no session settings. */
  transactionPooler: boolean
}

const IDLE_MS = 300_000
/** Maximum age of a connection, which bounds the memory of its backend and the use of an outdated address. */
const LIFETIME_MS = 2_700_000
/** Time for pending work when closing. */
const CLOSE_MS = 5000

interface Pooled {
  connection: Connection
  /** When the connection is too old to be reused. */
  expiresAt: number
}

/**
 * PostgreSQL over the network, through a bounded pool. Every wait is bounded: for a connection, for its opening, for an
 * answer.
 */
export class PostgresExecutor implements Executor {
  readonly #options: PostgresOptions
  readonly #permits: Semaphore
  /** Idle connections, the most recently used last, each with the timer that closes it. */
  readonly #idle = new Map<Pooled, NodeJS.Timeout>()
  readonly #used = new Set<Connection>()
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #maintaining = new Set<Connection>()
  #closing: Promise<void> | undefined

  constructor (options: PostgresOptions) {
    this.#options = options
    this.#permits = connectionSemaphore({
      permits: options.poolSize, maxWaiting: options.poolMaxWaiting, waitMs: options.poolWaitMs,
    })
  }

  async query<R extends object> (
    text: string, params: readonly Param[] = [], options: WaitOptions = {},
  ): Promise<R[]> {
    return await this.#query(text, params, options)
  }

  async read<R extends object> (
    text: string, params: readonly Param[] = [], options: ReadOptions = {},
  ): Promise<R[]> {
    try {
      return await this.#query(text, params, options)
    } catch (error) {
      const lost = error instanceof SqlError && error.kind === 'connection' && error.code !== 'CONNECT_TIMEOUT'
      if (!lost || this.#closing !== undefined) throw error
      return await this.#query(text, params, { ...options, fresh: true })
    }
  }

  async transaction<T> (
    work: (tx: Transaction) => Promise<T>,
    { snapshot = false, bulk = false, keepPlans = false, signal }: TransactionOptions = {},
  ): Promise<T> {
    const { bulkTimeoutMs, statementTimeoutMs } = this.#options
    const limit = bulk ? bulkTimeoutMs : statementTimeoutMs
    return await this.#withConnection(async (connection) => {
      connection.keepPlans(keepPlans)
      await connection.query(
        snapshot ? 'begin isolation level repeatable read read only' : 'begin', [], statementTimeoutMs,
      )
      let over = false
      const query = async <R extends object>(text: string, params: readonly Param[]): Promise<R[]> => {
        if (over) throw new Error('The transaction is over')
        return (await connection.query<R>(text, params, limit)).rows
      }
      try {
        if (bulk) await query(`set local statement_timeout = ${limit}`, [])
        const result = await work({
          query: async (text, params = []) => await query(text, params),
          script: async (text) => { await query(text, []) },
        })
        over = true
        const { command } = await connection.query('commit', [], limit)
        // The server answers ROLLBACK when a statement failed and the work continued nevertheless.
        if (command !== 'COMMIT') throw new SqlError('statement', 'The database has rolled the transaction back')
        return result
      } catch (error) {
        over = true
        // The error of the work is more informative than one of the rollback. A connection that may not be clean is
        // closed.
        await connection.query('rollback', [], statementTimeoutMs).catch(() => { void connection.end() })
        throw error
      }
    }, { signal })
  }

  async maintain (text: string): Promise<void> {
    if (this.#closing !== undefined) throw closedError()
    const connection = this.#open(0)
    this.#maintaining.add(connection)
    try {
      await connection.query(text, [], 0)
    } finally {
      this.#maintaining.delete(connection)
      await connection.end()
    }
  }

  status (): PoolStatus {
    return poolStatus(this.#permits)
  }

  async close (): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async #close (): Promise<void> {
    this.#permits.close(closedError())
    const idle = [...this.#idle]
    this.#idle.clear()
    const ends = [...idle.map(async ([{ connection }, timeout]) => {
      clearTimeout(timeout)
      await connection.end()
    }), ...[...this.#maintaining].map(async (connection) => { await connection.end() })]
    await withTimeout(Promise.allSettled(this.#inFlight), CLOSE_MS)
    await Promise.all([...ends, ...[...this.#used].map(async (connection) => { await connection.end() })])
  }

  async #query<R extends object> (
    text: string, params: readonly Param[], { keepPlan = false, ...how }: ReadOptions,
  ): Promise<R[]> {
    return await this.#withConnection(async (connection) => {
      connection.keepPlans(keepPlan)
      return (await connection.query<R>(text, params, this.#options.statementTimeoutMs)).rows
    }, how)
  }

  async #withConnection<T> (
    work: (connection: Connection) => Promise<T>, { fresh = false, signal }: ReadOptions = {},
  ): Promise<T> {
    return await this.#permits.run(async () => {
      const pooled = this.#acquireConnection(fresh)
      this.#used.add(pooled.connection)
      const result = work(pooled.connection)
      this.#inFlight.add(result)
      try {
        return await result
      } finally {
        this.#inFlight.delete(result)
        this.#used.delete(pooled.connection)
        this.#releaseConnection(pooled)
      }
    }, { signal })
  }

  #acquireConnection (fresh: boolean): Pooled {
    const now = performance.now()
    for (const [pooled, timer] of [...this.#idle].reverse()) {
      this.#idle.delete(pooled)
      clearTimeout(timer)
      if (!fresh && !pooled.connection.lost && now < pooled.expiresAt) return pooled
      void pooled.connection.end()
      // The new connection replaces this one.
      if (fresh) break
    }
    return { connection: this.#open(this.#options.statementTimeoutMs), expiresAt: now + LIFETIME_MS }
  }

  #releaseConnection (pooled: Pooled): void {
    const { connection, expiresAt } = pooled
    if (connection.lost || this.#closing !== undefined || performance.now() >= expiresAt) {
      void connection.end()
      return
    }
    const timer = setTimeout(() => {
      this.#idle.delete(pooled)
      void connection.end()
    }, IDLE_MS)
    this.#idle.set(pooled, timer.unref())
  }

  #open (statementTimeoutMs: number): Connection {
    const { url, connectTimeoutMs, transactionPooler } = this.#options
    return new Connection({ url, connectTimeoutMs, statementTimeoutMs, transactionPooler })
  }
}

interface ConnectionOptions {
  /** Connection URI. */
  url: string
  connectTimeoutMs: number
  /** Limit of a statement that the server enforces; 0: none. */
  statementTimeoutMs: number
  /** The server is a connection pooler in transaction mode: no prepared statements, no session settings. */
  transactionPooler: boolean
}

/** OID of text[], the type of the arrays that statements bind and return. */
const TEXTS = 1009
const SMALLINTS = 1005
const INTEGERS = 1007
const REALS = 1021
const DOUBLES = 1022
const ARRAYS = {
  // An array that is already text is passed unchanged.
  texts: {
    to: TEXTS,
    from: [TEXTS],
    serialize: (value: string | ReadonlyArray<string | null>) => typeof value === 'string' ? value : arrayText(value),
    parse: arrayElements,
  },
  numbers: {
    to: INTEGERS,
    from: [SMALLINTS, INTEGERS, REALS, DOUBLES],
    serialize: arrayText,
    parse: arrayNumbers,
  },
}

/** Time that a cancelled statement has to end before its connection is closed. */
const CANCEL_GRACE_S = 1
/** Time after which the server ends an idle transaction, which a gateway that disappeared may leave open. */
const IDLE_IN_TRANSACTION_MS = 60_000

/**
 * Error codes of postgres.js and of Node's sockets for an unreachable database: the server did not answer, so there is
 * no SQLSTATE.
 */
const CONNECTION_CODE = /^(CONNECTION_|CONNECT_|E[A-Z]+|ERR_|UND_)/

/**
 * read_only_sql_transaction: a write on a connection to a server that was made read-only or is a replica after a
 * failover. The connection keeps this state when the database is writable again, so it is not reused.
 */
const READ_ONLY = '25006'

const DEFAULT_PORT = 5432

/** Explanations of the codes that a wrong URI causes. */
const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: ' (nothing listens on that port)',
  ECONNRESET: ' (it ended the connection; a server that does not offer TLS does so when the URI has sslmode)',
  ENOTFOUND: ' (the host name is not known)',
  EAI_AGAIN: ' (the host name cannot be resolved at the moment)',
  ERR_TLS_CERT_ALTNAME_INVALID: ' (its certificate is for another host)',
  CONNECT_TIMEOUT: ' (nobody answers there)',
}

/** Texts only, because the driver does not send a setting that is false or 0. */
function sessionSettings (statementTimeoutMs: number): Record<string, string> {
  return {
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    // A generic plan cannot distinguish small banks from large ones, nor use the partial index of a large bank.
    plan_cache_mode: 'force_custom_plan',
    // A statement on one bank should not scan all banks, which the planner may prefer for a bank of unknown size.
    enable_seqscan: 'off',
    // To compile a search, or to start workers for it, takes longer than to run it in a small bank.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
  }
}

/**
 * One connection, opened by its first statement and never reopened. The driver's own pool is not used: when a
 * connection is lost during a transaction, the pool reopens it, and the rollback is written to no socket, which ends
 * the process, or into another caller's transaction. A client with a single connection, discarded with it, avoids both.
 */
class Connection {
  readonly #sql: postgres.Sql
  /** Host and port, for messages. */
  readonly #place: string
  readonly #connectMs: number
  readonly #prepare: boolean
  /** Functions that reject the pending waits. */
  readonly #waits = new Set<(error: SqlError) => void>()
  #answered = false
  /** Whether the server has sent its parameters, which follows the login. */
  #connected = false
  #keepsPlans = false
  #settingError: SqlError | undefined
  #lost = false
  #ended: Promise<void> | undefined

  constructor ({ url, connectTimeoutMs, statementTimeoutMs, transactionPooler }: ConnectionOptions) {
    const connectTimeout = Math.max(1, Math.ceil(connectTimeoutMs / 1000))
    this.#connectMs = connectTimeout * 1000
    this.#prepare = !transactionPooler
    const { hosts, port } = placeOf(url)
    this.#place = hosts.map((host) => `${host}:${port}`).join(', ')
    // Lists, although the driver's types do not allow them: in a string the driver cuts a host at its first colon, and
    // it uses PGPORT for a URI without a port.
    const where: object = { host: hosts.map(unbracketed), port: hosts.map(() => port) }
    const checked = checkedAddress(url)
    this.#sql = postgres(url, {
      ...where,
      // Without this the driver expects a certificate for `localhost`.
      ...(checked !== undefined && { ssl: { host: checked } }),
      max: 1,
      connect_timeout: connectTimeout,
      // The driver would close the connection between two statements of a transaction, of which it does not know.
      max_lifetime: null,
      prepare: !transactionPooler,
      // The driver queries array types on each new connection without handling a rejection: a backend that terminates
      // during that query would end this process.
      fetch_types: false,
      types: ARRAYS,
      onnotice: () => {},
      onparameter: () => { this.#connected = true },
      // Between the error and the close of the socket, the driver drops statements without settling them.
      onclose: () => {
        this.#lost = true
        for (const refuse of this.#waits) refuse(lost())
      },
      connection: {
        application_name: 'memory-gateway',
        ...(!transactionPooler && sessionSettings(statementTimeoutMs)),
      },
    })
  }

  /** Whether the connection can no longer be used. */
  get lost (): boolean {
    return this.#lost
  }

  /**
   * Whether the following statements use generic plans. The setting is sent in one packet with the next statement, so
   * it costs no round trip; not to be changed within a transaction, whose rollback would revert it.
   */
  keepPlans (keep: boolean): void {
    if (!this.#prepare || this.#lost || keep === this.#keepsPlans) return
    this.#keepsPlans = keep
    // An error of the connection also fails the next statement, which then reports this one: it has the cause.
    this.#sql.unsafe(`set plan_cache_mode = ${keep ? 'force_generic_plan' : 'force_custom_plan'}`)
      .catch((error: unknown) => { this.#settingError = toSqlError(error, this.#place) })
  }

  /**
   * Runs a statement, and waits at most the limit plus the connect timeout, so that the server's own limit, where set,
   * expires first. 0: waits without limit.
   * @returns rows, and the command tag of the server
   * @throws SqlError
   */
  async query<R extends object> (
    text: string, params: readonly Param[], limitMs: number,
  ): Promise<{ rows: R[], command: string }> {
    // The driver would open another connection, outside the transaction of this one.
    if (this.#lost) throw lost()
    const pending = this.#sql.unsafe(text, params as postgres.ParameterOrJSON<never>[], { prepare: this.#prepare })
    let refuse!: (error: SqlError) => void
    const refused = new Promise<never>((_resolve, reject) => { refuse = reject })
    this.#waits.add(refuse)
    const ms = limitMs === 0 ? Infinity : limitMs + this.#connectMs
    // The driver connects again and again to a proxy that accepts connections and closes them.
    const connecting = this.#connected
      ? undefined
      : setTimeout(() => {
        if (!this.#connected) refuse(toSqlError(Object.assign(new Error(), { code: 'CONNECT_TIMEOUT' }), this.#place))
      }, this.#connectMs)
    try {
      const result = await withTimeout(Promise.race([pending, refused]), ms)
      if (result === TIMED_OUT) {
        cancel(pending)
        void this.end(CANCEL_GRACE_S)
        throw new SqlError('timeout', `The database did not answer within ${ms} ms`)
      }
      this.#answered = true
      return { rows: [...result] as unknown as R[], command: result.command }
    } catch (error) {
      const own = toSqlError(error, this.#place)
      const known = own.kind === 'connection' ? this.#settingError ?? own : own
      const fatal = error instanceof postgres.PostgresError && error.severity !== 'ERROR'
      // A connection that failed to open is not retried either: the pool opens another.
      if (known.kind === 'connection' || known.code === READ_ONLY || fatal || !this.#answered) this.#lost = true
      throw known
    } finally {
      clearTimeout(connecting)
      this.#waits.delete(refuse)
    }
  }

  /**
   * Closes the connection: pending statements have so many seconds, then it is cut. A second call waits for the first.
   */
  async end (seconds = 0): Promise<void> {
    this.#lost = true
    this.#ended ??= this.#sql.end({ timeout: seconds }).catch(() => {})
    await this.#ended
  }
}

function lost (): SqlError {
  return new SqlError('connection', 'The connection to the database was lost')
}

/**
 * Asks the server to cancel a statement. The driver's cancel() does not handle the rejection when the server cannot be
 * reached, which would end the process; this calls the function behind it.
 */
function cancel (pending: object): void {
  const canceller: unknown = Reflect.get(pending, 'canceller')
  if (typeof canceller !== 'function') return
  void Promise.resolve((canceller as (query: object) => unknown)(pending)).catch(() => {})
}

/** Hosts and port of the URI; messages must not contain anything else of it. */
function placeOf (url: string): { hosts: string[], port: number } {
  const { hostname, port } = new URL(url)
  return { hosts: hostname.split(','), port: port === '' ? DEFAULT_PORT : Number(port) }
}

/** The IP address for which the certificate of the server must be valid; undefined when it is a name, or any. */
function checkedAddress (url: string): string | undefined {
  const { hostname, searchParams } = new URL(url)
  const host = unbracketed(hostname)
  return searchParams.getAll('sslmode').at(-1) === 'verify-full' && isIP(host) !== 0 ? host : undefined
}

/**
 * @param place host and port of the database
 * @returns an error that contains no bound parameter
 */
function toSqlError (error: unknown, place: string): SqlError {
  if (error instanceof SqlError) return error
  if (error instanceof postgres.PostgresError) return fromDatabase(error)
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (code !== undefined && CONNECTION_CODE.test(code)) {
    return new SqlError(
      'connection', `The database at ${place} cannot be reached: ${code}${HINTS[code] ?? ''}`, { code },
    )
  }
  return new SqlError('statement', `The database driver failed${code === undefined ? '' : `: ${code}`}`, { code })
}
