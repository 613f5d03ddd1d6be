import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { TIMED_OUT, withTimeout } from '../../base/deadline.js'
import { messageOf } from '../../base/message-of.js'
import type { Semaphore } from '../../base/semaphore.js'
import { ProviderError } from '../../config/providers/registry.js'
import type { PoolStatus } from '../vector-store.js'
import { lockDirectory, type DirectoryLock } from './directory-lock.js'
import {
  closedError, connectionSemaphore, fromDatabase, poolStatus, SqlError, type Executor, type Param, type Transaction,
  type TransactionOptions, type WaitOptions,
} from './executor.js'

export interface PgliteOptions {
  /** Contains `lock`, and the cluster in `db/`; created when it is missing. */
  dataDir: string
  /** Time limit of a statement, in milliseconds. */
  timeoutMs: number
  /** Time limit of a statement that works on a whole bank; default `timeoutMs`. */
  bulkTimeoutMs?: number
  /** Maximum number of waiting calls, and how long they wait. */
  maxWaiting: number
  waitMs: number
  /** How long after its time limit a statement may remain unanswered before the thread is ended. Default 10000. */
  graceMs?: number
}

/** Time for pending work when closing, and then for the database's last checkpoint. */
const CLOSE_MS = 5000
const CHECKPOINT_MS = 10_000
const GRACE_MS = 10_000

const PROGRAM = new URL('./pglite-worker.mjs', import.meta.url)

/** Queries the database during a turn. A limit bounds the wait for the result, not the execution. */
type Send = (kind: 'query' | 'script', text: string, params: readonly Param[], limitMs?: number) => Promise<object[]>

/**
 * Opens the cluster in a data directory; creates it when there is none (about 3 s).
 * @param program the worker's, for tests
 * @throws ProviderError when PGlite is not installed, or the directory is in use or cannot be used
 */
export async function openPglite (options: PgliteOptions, program: URL = PROGRAM): Promise<Executor> {
  const lock = await lockDirectory(options.dataDir)
  const directory = resolve(options.dataDir)
  const thread = new PgliteThread(program, join(directory, 'db'))
  try {
    await thread.opened
  } catch (error) {
    await thread.kill()
    await lock.release()
    if (error instanceof ProviderError) throw error
    throw new ProviderError(`vector_store: the database in ${directory} cannot be opened: ${messageOf(error)}`)
  }
  return new PgliteExecutor(options, lock, thread, () => new PgliteThread(program, join(directory, 'db')))
}

/**
 * PGlite in a thread of this process. It is a single backend, so calls have it in turn, and a transaction keeps its
 * turn from begin to end. It cannot cancel a statement either: one that exceeds its limit keeps the turn until it is
 * answered, though its caller has its error, and other calls fail with `busy` meanwhile. A statement that is not
 * answered even then, as when PostgreSQL has no space for its log, never will be: the thread is ended, and the next
 * call starts a new one, which recovers.
 */
class PgliteExecutor implements Executor {
  readonly #options: PgliteOptions
  readonly #lock: DirectoryLock
  readonly #start: () => PgliteThread
  readonly #permits: Semaphore
  #thread: PgliteThread
  /** The turn in progress and the calls that wait for it; each settles when its turn is over. */
  readonly #inFlight = new Set<Promise<void>>()
  #closing: Promise<void> | undefined

  constructor (options: PgliteOptions, lock: DirectoryLock, thread: PgliteThread, start: () => PgliteThread) {
    this.#options = options
    this.#lock = lock
    this.#thread = thread
    this.#start = start
    this.#permits = connectionSemaphore({ permits: 1, maxWaiting: options.maxWaiting, waitMs: options.waitMs })
  }

  async query<R extends object> (text: string, params: readonly Param[] = [], options: WaitOptions = {}): Promise<R[]> {
    const { timeoutMs } = this.#options
    return await this.#inTurn(async (send) => await send('query', text, params, timeoutMs), options) as R[]
  }

  async read<R extends object> (text: string, params: readonly Param[] = [], options: WaitOptions = {}): Promise<R[]> {
    try {
      return await this.query<R>(text, params, options)
    } catch (error) {
      if (!(error instanceof SqlError && error.kind === 'connection') || this.#closing !== undefined) throw error
      return await this.query<R>(text, params, options)
    }
  }

  async transaction<T> (
    work: (tx: Transaction) => Promise<T>, { snapshot = false, bulk = false, signal }: TransactionOptions = {},
  ): Promise<T> {
    const { timeoutMs, bulkTimeoutMs = timeoutMs } = this.#options
    return await this.#inTurn(async (send) => {
      const tx = new PgliteTransaction(send, bulk ? bulkTimeoutMs : timeoutMs)
      try {
        await tx.query(snapshot ? 'begin isolation level repeatable read read only' : 'begin')
        const result = await work(tx)
        await tx.commit()
        return result
      } catch (error) {
        tx.rollback()
        throw error
      }
    }, { signal })
  }

  async maintain (text: string): Promise<void> {
    await this.#inTurn(async (send) => await send('query', text, []))
  }

  status (): PoolStatus {
    return poolStatus(this.#permits)
  }

  async close (): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  /**
   * Gives the work exclusive use of the database. The turn ends when the work has settled and the database has answered
   * all of its requests.
   */
  async #inTurn<T> (work: (send: Send) => Promise<T>, { signal }: WaitOptions = {}): Promise<T> {
    const end = this.#enter()
    const release = await this.#permits.acquire({ signal }).catch((error: unknown) => { end(); throw error })
    const connected = this.#connected()
    // Answers come in the order of the requests, so the last one ends the turn.
    let last: Promise<unknown> = connected
    const send: Send = async (kind, text, params, limitMs) => {
      const answered = connected.then(async (thread) => await thread.request(kind, text, params))
      last = answered
      return await within(answered, limitMs)
    }
    try {
      return await work(send)
    } finally {
      const watch = this.#watch(connected)
      void last.catch(() => {}).then(() => { watch.over = true; clearTimeout(watch.timer); end(); release() })
    }
  }

  /** Ends the thread if the turn exceeds its time. A database that is still opening has no time limit. */
  #watch (connected: Promise<PgliteThread>): { over: boolean, timer?: NodeJS.Timeout } {
    const watch: { over: boolean, timer?: NodeJS.Timeout } = { over: false }
    void connected.then((thread) => {
      if (!watch.over) watch.timer = setTimeout(() => { void thread.kill() }, this.#options.graceMs ?? GRACE_MS)
    }, () => {})
    return watch
  }

  /** @returns a function to call when the turn is over */
  #enter (): () => void {
    let settle!: () => void
    const over = new Promise<void>((resolve) => { settle = resolve })
    this.#inFlight.add(over)
    return () => { this.#inFlight.delete(over); settle() }
  }

  /**
   * The thread, or a new one when the last was lost or could not open the database; only after the last has ended,
   * because two on one cluster would corrupt it.
   */
  async #connected (): Promise<PgliteThread> {
    if (this.#thread.isLost) {
      await this.#thread.ended
      if (this.#closing !== undefined) throw closedError()
      this.#thread = this.#start()
    }
    const thread = this.#thread
    try {
      await thread.opened
    } catch (error) {
      await thread.kill()
      throw error instanceof SqlError ? error : new SqlError('connection', 'The database cannot be started again')
    }
    return thread
  }

  async #close (): Promise<void> {
    this.#permits.close(closedError())
    try {
      await within(Promise.all(this.#inFlight), Math.min(CLOSE_MS, this.#options.timeoutMs))
      await within(this.#thread.request('close', ''), CHECKPOINT_MS)
    } catch {
      // The thread is ended as it is; the database recovers at the next start.
    }
    await this.#thread.kill()
    await this.#lock.release()
  }
}

/**
 * One transaction. A statement that fails or exceeds its limit fails the transaction: later statements reject with the
 * same error.
 */
class PgliteTransaction implements Transaction {
  readonly #send: Send
  readonly #limitMs: number
  #failure: { error: unknown } | undefined

  constructor (send: Send, limitMs: number) {
    this.#send = send
    this.#limitMs = limitMs
  }

  async query<R extends object> (text: string, params: readonly Param[] = []): Promise<R[]> {
    return await this.#run('query', text, params) as R[]
  }

  async script (text: string): Promise<void> {
    await this.#run('script', text, [])
  }

  async commit (): Promise<void> {
    await this.#run('query', 'commit', [])
    this.#failure = { error: new SqlError('statement', 'The transaction is over') }
  }

  /** Not awaited: the statement that exceeded its limit may still be running, and the turn ends after both. */
  rollback (): void {
    this.#failure ??= { error: new SqlError('statement', 'The transaction is over') }
    void this.#send('query', 'rollback', []).catch(() => {})
  }

  async #run (kind: 'query' | 'script', text: string, params: readonly Param[]): Promise<object[]> {
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      return await this.#send(kind, text, params, this.#limitMs)
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }
}

/** @throws SqlError timeout when there is no answer within the limit; the statement continues */
async function within<T> (answered: Promise<T>, limitMs = Infinity): Promise<T> {
  const answer = await withTimeout(answered, limitMs)
  if (answer === TIMED_OUT) throw new SqlError('timeout', `The database did not answer within ${limitMs} ms`)
  return answer
}

/** Sent by pglite-worker.mjs. */
type Reply = { id: number } & (
  | { rows: object[] }
  | { error: { code: string, message: string, constraint: string | undefined } }
  | { fatal: string, missing?: true }
)

interface Pending {
  resolve: (rows: object[]) => void
  reject: (error: SqlError | ProviderError) => void
}

const OPENING = 0

/** A worker thread that runs PGlite; it cannot be restarted. */
class PgliteThread {
  /**
   * Settles when the database answers, after a recovery if one is needed, which has no time limit.
   * Rejects with ProviderError when PGlite is not installed, with SqlError otherwise.
   */
  readonly opened: Promise<unknown>
  /** Settles when the thread has ended, so that nothing writes to the directory any more. */
  readonly ended: Promise<void>
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  #nextId = OPENING + 1
  #lost: SqlError | ProviderError | undefined

  /** @param directory absolute path of the cluster, which is created when it is missing */
  constructor (program: URL, directory: string) {
    // The thread needs neither the TypeScript loader nor environment variables.
    this.#worker = new Worker(program, { workerData: { directory }, execArgv: [], env: {}, name: 'pglite' })
    this.opened = this.#expect(OPENING)
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#lose(new SqlError('connection', `The database's thread ended with ${code}`))
        resolve()
      })
    })
    this.#worker.on('message', (reply: Reply) => { this.#settle(reply) })
    // The message is left out: it could contain bound parameters.
    this.#worker.on('error', (error: Error & { code?: string }) => {
      this.#lose(new SqlError('connection', `The database's thread failed: ${error.code ?? error.name}`))
    })
    this.#worker.on(
      'messageerror',
      () => { this.#lose(new SqlError('connection', 'The database\'s thread sent what cannot be read')) },
    )
  }

  get isLost (): boolean {
    return this.#lost !== undefined
  }

  /**
   * Queues a request after all earlier ones. Settles when the database has answered or the thread is lost; there is no
   * time limit.
   */
  async request (kind: 'query' | 'script' | 'close', text: string, params: readonly Param[] = []): Promise<object[]> {
    if (this.#lost !== undefined) throw this.#lost
    const id = this.#nextId++
    const answered = this.#expect(id)
    this.#worker.postMessage({ id, kind, text, params })
    return await answered
  }

  /** Ends the thread even while it works; the database recovers at the next start. */
  async kill (): Promise<void> {
    this.#lose(new SqlError('connection', 'The database was closed'))
    await this.ended
  }

  async #expect (id: number): Promise<object[]> {
    return await new Promise((resolve, reject) => { this.#pending.set(id, { resolve, reject }) })
  }

  #settle (reply: Reply): void {
    if ('fatal' in reply) {
      this.#lose(reply.missing === true
        ? new ProviderError('vector_store: pglite needs the packages @electric-sql/pglite and ' +
          '@electric-sql/pglite-pgvector; npm install them')
        : new SqlError('connection', `The database went away: ${reply.fatal}`))
      return
    }
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if ('rows' in reply) pending?.resolve(reply.rows)
    else pending?.reject(fromDatabase(reply.error))
  }

  #lose (error: SqlError | ProviderError): void {
    this.#lost ??= error
    for (const { reject } of this.#pending.values()) reject(this.#lost)
    this.#pending.clear()
    void this.#worker.terminate()
  }
}
