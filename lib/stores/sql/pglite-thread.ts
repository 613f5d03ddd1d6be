import { Worker } from 'node:worker_threads'
import { ProviderError } from '../../providers/registry.js'
import { fromDatabase, SqlError, type Param } from './executor.js'

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
export class PgliteThread {
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
