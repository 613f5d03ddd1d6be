import { Worker } from 'node:worker_threads'
import { ProviderError } from '../../providers/registry.js'
import { fromDatabase, SqlError, type Param } from './executor.js'

/** See pglite-worker.mjs, which sends them. */
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

/** The worker thread with PGlite in it, from its start to its end; it cannot be started again. */
export class PgliteThread {
  /**
   * Settles when the database answers. It may have to recover first, which takes as long as it takes.
   * Rejects with ProviderError when PGlite is not installed, with SqlError otherwise.
   */
  readonly opened: Promise<unknown>
  /** Settles when the thread is gone, and nothing writes to the directory any more. */
  readonly ended: Promise<void>
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  #nextId = OPENING + 1
  #lost: SqlError | ProviderError | undefined

  /** @param directory that of the cluster, absolute; the cluster is made when it is missing */
  constructor (program: URL, directory: string) {
    // The thread needs no loader of TypeScript and nothing of the environment.
    this.#worker = new Worker(program, { workerData: { directory }, execArgv: [], env: {}, name: 'pglite' })
    this.opened = this.#expect(OPENING)
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#lose(new SqlError('connection', `The database's thread ended with ${code}`))
        resolve()
      })
    })
    this.#worker.on('message', (reply: Reply) => { this.#settle(reply) })
    // Nothing of the message: it could hold what was bound.
    this.#worker.on('error', (error: Error & { code?: string }) => {
      this.#lose(new SqlError('connection', `The database's thread failed: ${error.code ?? error.name}`))
    })
    this.#worker.on('messageerror', () => { this.#lose(new SqlError('connection', 'The database\'s thread sent what cannot be read')) })
  }

  get isLost (): boolean {
    return this.#lost !== undefined
  }

  /**
   * Asks after everything that was asked before. Settles when the database has answered or the thread is lost, however
   * long that takes.
   */
  async ask (kind: 'query' | 'script' | 'close', text: string, params: readonly Param[] = []): Promise<object[]> {
    if (this.#lost !== undefined) throw this.#lost
    const id = this.#nextId++
    const answered = this.#expect(id)
    this.#worker.postMessage({ id, kind, text, params })
    return await answered
  }

  /** Ends the thread in the middle of what it does; the database recovers at the next start. */
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
        ? new ProviderError('vector_store: pglite needs the packages @electric-sql/pglite and @electric-sql/pglite-pgvector; npm install them')
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
