import postgres from 'postgres'
import { fromDatabase, SqlError, type Executor, type Param, type Queries, type Transaction, type TransactionOptions } from './executor.js'
import { Slots } from './slots.js'

export interface PostgresOptions {
  /** Connection URI. */
  url: string
  poolSize: number
  /** Callers that may wait for a connection, and how long. */
  poolMaxWaiting: number
  poolWaitMs: number
  connectTimeoutMs: number
  statementTimeoutMs: number
  /** The same for a statement that works on a whole bank. */
  bulkTimeoutMs: number
  /** The connections are a pooler's in transaction mode: no prepared statements, no settings of the session. */
  transactionPooler: boolean
}

/** How long a statement that was cancelled has to end before its connection is given up for lost. */
const CANCEL_GRACE_MS = 1000
/** How long transactions that are left open by a gateway that went away are kept, on the server's side. */
const IDLE_IN_TRANSACTION_MS = 60_000
const IDLE_CONNECTION_S = 300
const BACKOFF_S = 0.1
/** How long what is under way has at the end. */
const CLOSE_S = 5

/**
 * The codes of postgres.js and of Node's sockets for a database that is not there: not a server's answer, so without an SQLSTATE.
 */
const CONNECTION_CODE = /^(CONNECTION_|CONNECT_|E[A-Z]+|ERR_|UND_)/

/** PostgreSQL over the network, through a bounded pool. Every wait has an end: for a connection, for its opening, for an answer. */
export class PostgresExecutor implements Executor {
  readonly #options: PostgresOptions
  readonly #slots: Slots
  #sql: postgres.Sql
  #closing: Promise<void> | undefined

  constructor (options: PostgresOptions) {
    this.#options = options
    this.#slots = new Slots({ slots: options.poolSize, maxWaiting: options.poolMaxWaiting, waitMs: options.poolWaitMs })
    this.#sql = this.#connect(options.poolSize, options.statementTimeoutMs)
  }

  async query<R extends object> (text: string, params: readonly Param[] = []): Promise<R[]> {
    return await this.#withSlot(async () => await this.#ask<R>(this.#sql, text, params))
  }

  async read<R extends object> (text: string, params: readonly Param[] = []): Promise<R[]> {
    try {
      return await this.query<R>(text, params)
    } catch (error) {
      if (!(error instanceof SqlError && error.kind === 'connection') || this.#closing !== undefined) throw error
      return await this.query<R>(text, params)
    }
  }

  async transaction<T> (work: (tx: Transaction) => Promise<T>, { snapshot = false, bulk = false }: TransactionOptions = {}): Promise<T> {
    return await this.#withSlot(async () => {
      const pool = this.#sql
      let failure: { error: unknown } | undefined
      let settleLate!: (error: SqlError) => void
      const late = new Promise<never>((_resolve, reject) => { settleLate = reject })
      // The driver gives no hold on its own BEGIN and COMMIT, so the time of these is watched from here.
      let timer: NodeJS.Timeout | undefined
      const watch = () => { timer = setTimeout(() => { settleLate(this.#lateError()); this.#replace(pool) }, this.#limit()) }
      watch()
      const transaction = pool.begin(snapshot ? 'isolation level repeatable read read only' : '', async (sql) => {
        clearTimeout(timer)
        try {
          const limit = bulk ? this.#options.bulkTimeoutMs : this.#options.statementTimeoutMs
          if (bulk) await this.#ask(sql, `set local statement_timeout = ${limit}`, [], limit)
          return { result: await work(this.#transactionOf(sql, limit)) }
        } catch (error) {
          failure = { error }
          throw error
        } finally {
          watch()
        }
      })
      try {
        return (await Promise.race([transaction, late])).result
      } catch (error) {
        // What the work itself rejected with says more than what became of the connection.
        throw failure === undefined ? toSqlError(error) : failure.error
      } finally {
        clearTimeout(timer)
        transaction.catch(() => {})
      }
    })
  }

  async maintain (text: string): Promise<void> {
    const sql = this.#connect(1, 0)
    try {
      await sql.unsafe(text)
    } catch (error) {
      throw toSqlError(error)
    } finally {
      await sql.end({ timeout: CLOSE_S })
    }
  }

  async close (): Promise<void> {
    this.#slots.close()
    this.#closing ??= this.#sql.end({ timeout: CLOSE_S })
    await this.#closing
  }

  async #withSlot<T> (work: () => Promise<T>): Promise<T> {
    const release = await this.#slots.take()
    try {
      return await work()
    } finally {
      release()
    }
  }

  #transactionOf (sql: postgres.TransactionSql, limitMs: number): Transaction {
    const queries: Queries = { query: async (text, params = []) => await this.#ask(sql, text, params, limitMs) }
    return {
      ...queries,
      script: async (text) => {
        try {
          await sql.unsafe(text)
        } catch (error) {
          throw toSqlError(error)
        }
      },
    }
  }

  /** Asks, and waits no longer than the limit: the server's own comes first where it is there to keep it. */
  async #ask<R extends object> (sql: postgres.Sql | postgres.TransactionSql, text: string, params: readonly Param[], limitMs = this.#options.statementTimeoutMs): Promise<R[]> {
    const pool = this.#sql
    const pending = sql.unsafe(text, params as postgres.ParameterOrJSON<never>[], { prepare: !this.#options.transactionPooler })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(this.#lateError(limitMs))
        this.#cancel(pending, pool)
      }, this.#limit(limitMs))
    })
    try {
      return [...await Promise.race([pending, late])] as unknown as R[]
    } catch (error) {
      throw toSqlError(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** A statement may have to wait for its connection to be opened first. */
  #limit (statementMs = this.#options.statementTimeoutMs): number {
    return statementMs + this.#options.connectTimeoutMs
  }

  #lateError (statementMs?: number): SqlError {
    return new SqlError('timeout', `The database did not answer within ${this.#limit(statementMs)} ms`)
  }

  /** Ends a statement; a connection on which even that does not end it leads nowhere, and the pool is made anew. */
  #cancel (pending: Promise<unknown> & { cancel (): void }, pool: postgres.Sql): void {
    const timer = setTimeout(() => { this.#replace(pool) }, CANCEL_GRACE_MS)
    pending.catch(() => {}).finally(() => { clearTimeout(timer) })
    try {
      pending.cancel()
    } catch {
      // Not sent yet: there is nothing to cancel.
    }
  }

  #replace (pool: postgres.Sql): void {
    if (this.#sql !== pool || this.#closing !== undefined) return
    this.#sql = this.#connect(this.#options.poolSize, this.#options.statementTimeoutMs)
    void pool.end({ timeout: 0 }).catch(() => {})
  }

  #connect (max: number, statementTimeoutMs: number): postgres.Sql {
    const { url, connectTimeoutMs, transactionPooler } = this.#options
    return postgres(url, {
      max,
      connect_timeout: Math.max(1, Math.ceil(connectTimeoutMs / 1000)),
      idle_timeout: IDLE_CONNECTION_S,
      prepare: !transactionPooler,
      // Attempts after a failed one come at once: the bound on waiting is ours.
      backoff: () => BACKOFF_S,
      onnotice: () => {},
      connection: {
        application_name: 'memory-gateway',
        ...(!transactionPooler && {
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
          // A generic plan cannot know a small bank from a big one, nor use the index that is a big bank's own.
          plan_cache_mode: 'force_custom_plan',
          jit: false,
        }),
      },
    })
  }
}

/** @returns an error without anything of what was bound */
function toSqlError (error: unknown): SqlError {
  if (error instanceof SqlError) return error
  if (error instanceof postgres.PostgresError) return fromDatabase(error)
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (code !== undefined && CONNECTION_CODE.test(code)) return new SqlError('connection', `The database cannot be reached: ${code}`, { code })
  return new SqlError('statement', `The database driver failed${code === undefined ? '' : `: ${code}`}`, { code })
}
