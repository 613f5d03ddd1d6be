import { join, resolve } from 'node:path'
import { ProviderError } from '../../providers/registry.js'
import type { Semaphore } from '../../concurrency/semaphore.js'
import { TIMED_OUT, withTimeout } from '../../concurrency/timeout.js'
import type { PoolStatus } from '../vector-store.js'
import { closedError, connectionSemaphore, poolStatus } from './connection-semaphore.js'
import { lockDirectory, type DirectoryLock } from './directory-lock.js'
import { SqlError, type Executor, type Param, type Transaction, type TransactionOptions, type WaitOptions } from './executor.js'
import { PgliteThread } from './pglite-thread.js'

export interface PgliteOptions {
  /** Holds `lock` and the cluster in `db/`; made when it is missing. */
  dataDir: string
  /** How long a statement may take, in milliseconds. */
  timeoutMs: number
  /** The same for a statement that works on a whole bank; `timeoutMs` when it is left out. */
  bulkTimeoutMs?: number
  /** Calls that may wait for their turn, and how long. */
  maxWaiting: number
  waitMs: number
  /** How long after its limit a statement may still have no answer before its thread is ended. Default 10000. */
  graceMs?: number
}

/** How long what is under way has at the end, and the database then for its last checkpoint. */
const CLOSE_MS = 5000
const CHECKPOINT_MS = 10_000
const GRACE_MS = 10_000

const PROGRAM = new URL('./pglite-worker.mjs', import.meta.url)

/** Asks the database in one's turn. A limit bounds the wait for the answer, not what the database does. */
type Ask = (kind: 'query' | 'script', text: string, params: readonly Param[], limitMs?: number) => Promise<object[]>

/**
 * Opens the cluster in a data directory and makes it when there is none (about 3 s).
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
    await thread.ended
    await lock.release()
    if (error instanceof ProviderError) throw error
    throw new ProviderError(`vector_store: the database in ${directory} cannot be opened: ${error instanceof Error ? error.message : String(error)}`)
  }
  return new PgliteExecutor(options, lock, thread, () => new PgliteThread(program, join(directory, 'db')))
}

/**
 * PGlite in a thread of this process. It is one backend, so calls have it one after another, a transaction from its
 * begin to its end. It cannot cancel a statement either: one that takes too long keeps its turn until it is answered,
 * though its caller has been told, and others meet `busy` meanwhile. One that is not answered even then, as where
 * PostgreSQL finds no room for its log, never will be: the thread is ended, and the next call starts one that recovers.
 */
class PgliteExecutor implements Executor {
  readonly #options: PgliteOptions
  readonly #lock: DirectoryLock
  readonly #start: () => PgliteThread
  readonly #permits: Semaphore
  #thread: PgliteThread
  /** What has its turn and what waits for it; each settles when its turn is over. */
  readonly #underWay = new Set<Promise<void>>()
  #closing: Promise<void> | undefined

  constructor (options: PgliteOptions, lock: DirectoryLock, thread: PgliteThread, start: () => PgliteThread) {
    this.#options = options
    this.#lock = lock
    this.#thread = thread
    this.#start = start
    this.#permits = connectionSemaphore({ permits: 1, maxWaiting: options.maxWaiting, waitMs: options.waitMs })
  }

  async query<R extends object> (
    text: string, params: readonly Param[] = [], options: WaitOptions = {},
  ): Promise<R[]> {
    return await this.#inTurn(async (ask) => await ask('query', text, params, this.#options.timeoutMs), options) as R[]
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
    work: (tx: Transaction) => Promise<T>, { snapshot = false, bulk = false, signal, flow }: TransactionOptions = {},
  ): Promise<T> {
    const { timeoutMs, bulkTimeoutMs = timeoutMs } = this.#options
    return await this.#inTurn(async (ask) => {
      const tx = new PgliteTransaction(ask, bulk ? bulkTimeoutMs : timeoutMs)
      try {
        await tx.query(snapshot ? 'begin isolation level repeatable read read only' : 'begin')
        const result = await work(tx)
        await tx.commit()
        return result
      } catch (error) {
        tx.rollback()
        throw error
      }
    }, { signal, flow })
  }

  async maintain (text: string): Promise<void> {
    await this.#inTurn(async (ask) => await ask('query', text, []))
  }

  status (): PoolStatus {
    return poolStatus(this.#permits)
  }

  async close (): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  /**
   * Gives the work the database to itself. The turn is over when the work is and the database has answered all that was
   * asked.
   */
  async #inTurn<T> (work: (ask: Ask) => Promise<T>, { signal, flow }: WaitOptions = {}): Promise<T> {
    const end = this.#enter()
    const release = await this.#permits.acquire({ signal, flow }).catch((error: unknown) => { end(); throw error })
    const connected = this.#connected()
    // Answers come in the order of the requests: the last one is the one to wait for.
    let last: Promise<unknown> = connected
    const ask: Ask = async (kind, text, params, limitMs) => {
      const answered = connected.then(async (thread) => await thread.ask(kind, text, params))
      last = answered
      return await within(answered, limitMs)
    }
    try {
      return await work(ask)
    } finally {
      const watch = this.#watch(connected)
      void last.catch(() => {}).then(() => { watch.over = true; clearTimeout(watch.timer); end(); release() })
    }
  }

  /**
   * Ends the thread if the turn is not over in time. A database that is still opening, which it may take its time for,
   * is left alone.
   */
  #watch (connected: Promise<PgliteThread>): { over: boolean, timer?: NodeJS.Timeout } {
    const watch: { over: boolean, timer?: NodeJS.Timeout } = { over: false }
    void connected.then((thread) => {
      if (!watch.over) watch.timer = setTimeout(() => { void thread.kill() }, this.#options.graceMs ?? GRACE_MS)
    }, () => {})
    return watch
  }

  /** @returns what to call when the turn is over */
  #enter (): () => void {
    let settle!: () => void
    const over = new Promise<void>((resolve) => { settle = resolve })
    this.#underWay.add(over)
    return () => { this.#underWay.delete(over); settle() }
  }

  /**
   * The thread, started anew when the last one was lost; never before that is gone, as two on one cluster would ruin
   * it.
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
      throw error instanceof SqlError ? error : new SqlError('connection', 'The database cannot be started again')
    }
    return thread
  }

  async #close (): Promise<void> {
    this.#permits.close(closedError())
    try {
      await within(Promise.all(this.#underWay), Math.min(CLOSE_MS, this.#options.timeoutMs))
      await within(this.#thread.ask('close', ''), CHECKPOINT_MS)
    } catch {
      // It is ended as it stands, and recovers at the next start.
    }
    await this.#thread.kill()
    await this.#lock.release()
  }
}

/**
 * One transaction. A statement that fails, or takes too long, fails the transaction: what is asked after it meets the
 * same error.
 */
class PgliteTransaction implements Transaction {
  readonly #ask: Ask
  readonly #limitMs: number
  #failure: { error: unknown } | undefined

  constructor (ask: Ask, limitMs: number) {
    this.#ask = ask
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

  /** Not waited for: the statement that took too long may still be running, and the turn ends after both. */
  rollback (): void {
    this.#failure ??= { error: new SqlError('statement', 'The transaction is over') }
    void this.#ask('query', 'rollback', []).catch(() => {})
  }

  async #run (kind: 'query' | 'script', text: string, params: readonly Param[]): Promise<object[]> {
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      return await this.#ask(kind, text, params, this.#limitMs)
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }
}

/** @throws SqlError timeout, when the answer has not come within the limit; it goes on being made */
async function within<T> (answered: Promise<T>, limitMs = Infinity): Promise<T> {
  const answer = await withTimeout(answered, limitMs)
  if (answer === TIMED_OUT) throw new SqlError('timeout', `The database did not answer within ${limitMs} ms`)
  return answer
}
