import type { Semaphore } from '../../concurrency/semaphore.js'
import { withTimeout } from '../../concurrency/deadline.js'
import type { PoolStatus } from '../vector-store.js'
import { Connection } from './connection.js'
import { closedError, connectionSemaphore, poolStatus } from './executor.js'
import {
  SqlError, type Executor, type Param, type ReadOptions, type Transaction, type TransactionOptions, type WaitOptions,
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
