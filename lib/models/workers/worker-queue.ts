import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'

/**
 * A queue with three priorities: retries, urgent entries, normal entries. Each is first in, first out. It is our own
 * because the order of work in front of piscina is our own.
 */
class PriorityQueue<Entry> {
  readonly #retries = new Set<Entry>()
  readonly #urgent = new Set<Entry>()
  readonly #normal = new Set<Entry>()

  /** The number of urgent or of normal entries. Retries count in neither, because they were admitted before. */
  waiting (urgent: boolean): number {
    return this.#queue(urgent).size
  }

  /** The number of all entries. */
  get size (): number {
    return this.#queues().reduce((sum, { size }) => sum + size, 0)
  }

  push (entry: Entry, urgent: boolean): void {
    this.#queue(urgent).add(entry)
  }

  pushRetry (entry: Entry): void {
    this.#retries.add(entry)
  }

  /** Makes a normal entry urgent, behind the other urgent ones. */
  promote (entry: Entry): void {
    if (this.#normal.delete(entry)) this.#urgent.add(entry)
  }

  delete (entry: Entry): boolean {
    return this.#queues().some((queue) => queue.delete(entry))
  }

  /** Takes the next entries, all of one priority. A retry is taken alone, so that it cannot make others fail again. */
  take (limit: number): Entry[] {
    const queue = this.#queues().find(({ size }) => size > 0) ?? this.#retries
    const taken: Entry[] = []
    for (const entry of queue) {
      taken.push(entry)
      queue.delete(entry)
      if (taken.length === limit || queue === this.#retries) break
    }
    return taken
  }

  /** Removes and returns all entries. */
  clear (): Entry[] {
    const all = this.#queues().flatMap((queue) => [...queue])
    for (const queue of this.#queues()) queue.clear()
    return all
  }

  #queue (urgent: boolean): Set<Entry> {
    return urgent ? this.#urgent : this.#normal
  }

  #queues (): Set<Entry>[] {
    return [this.#retries, this.#urgent, this.#normal]
  }
}

export interface WorkerQueueOptions {
  /** The beginning of every message: `embedding_provider: local`. */
  name: string
  /** URL of the module that loads the model and computes; see worker.mjs. */
  engine: string
  /** Options of the engine, which must survive structured cloning. */
  engineOptions: object
  /** Threads, each of which loads the model. */
  threads: number
  /** Urgent items that may wait; as many others may wait besides. */
  maxWaiting: number
  /** Maximum number of items in one computation. */
  batchSize: number
  /** Milliseconds that one computation may take. */
  timeoutMs: number
  /** Milliseconds that loading the model may take. */
  loadTimeoutMs: number
  /** The environment variables of the threads. Default: all. */
  env?: Record<string, string>
  /** Called when the model cannot be loaded at the start; the next item tries again. */
  warn?: ((message: string) => void) | undefined
}

/** More items were added than may wait. */
export class QueueFullError extends Error {
  constructor (message: string) {
    super(message)
    this.name = 'QueueFullError'
  }
}

/** A computation that waits or is in progress. */
export interface Job<Item> {
  readonly item: Item
  /** The result for the item. */
  readonly done: Promise<Float32Array>
}

interface Entry<Item> extends Job<Item> {
  resolve: (numbers: Float32Array) => void
  reject: (error: Error) => void
  /** Threads that ended while they computed it. */
  endedThreads: number
}

interface Run {
  controller: AbortController
  timer: NodeJS.Timeout
  hasStarted: boolean
  timedOut: boolean
}

type Answer = Float32Array | { failed: string }

/** Attempts at an item whose thread ends: an item that ends one thread is likely to end every other. */
const MAX_ATTEMPTS = 2

/**
 * Computes in worker threads, urgent items first. Piscina runs the threads. Waiting items are kept here and a thread
 * gets only what it computes next, so that an urgent item waits for at most the computation in progress.
 */
export class WorkerQueue<Item> {
  readonly #options: WorkerQueueOptions
  readonly #pool: Piscina<{ id: number, items: Item[] }, Answer>
  readonly #queue = new PriorityQueue<Entry<Item>>()
  readonly #runs = new Map<number, Run>()
  #nextId = 0
  #closed = false

  /** Starts the threads, which load the model in the background. */
  constructor (options: WorkerQueueOptions) {
    this.#options = options
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
      // Threads are started for work only, so that one that dies while idle is not restarted over and over.
      minThreads: 0,
      maxThreads: options.threads,
      idleTimeout: Infinity,
      // With atomics a thread that waits for work blocks its event loop, and loading would stop.
      atomics: 'disabled',
      recordTiming: false,
      workerData: { engine: options.engine, options: options.engineOptions },
      // Warnings of Node bypass the streams that worker.mjs replaces.
      execArgv: ['--no-warnings'],
      env: options.env,
    })
    this.#pool.on('message', ({ began }: { began: number }) => { this.#markStarted(began) })
    // A thread ended outside a computation, perhaps before it was ready, so runs that have not begun may wait for it.
    this.#pool.on('error', () => { for (const run of this.#runs.values()) if (!run.hasStarted) run.controller.abort() })
    for (let thread = 0; thread < options.threads; thread++) void this.#compute([])
  }

  /**
   * Adds items, all or none.
   * @throws QueueFullError when too many would wait, Error after close()
   */
  add (items: readonly Item[], urgent: boolean): Job<Item>[] {
    const { name, maxWaiting } = this.#options
    if (this.#closed) throw new Error(`${name} is closed`)
    const waiting = this.#queue.waiting(urgent)
    if (waiting + items.length > maxWaiting) {
      throw new QueueFullError(`${name} takes no more: ${waiting} wait, ${items.length} would come and ${maxWaiting} ` +
        'may wait (max_queue)')
    }
    const entries = items.map(newEntry)
    for (const entry of entries) this.#queue.push(entry, urgent)
    this.#dispatch()
    return entries
  }

  /** Makes a waiting job urgent. */
  promote (job: Job<Item>): void {
    this.#queue.promote(job as Entry<Item>)
  }

  /** Computations in progress, including the loading of the model, and items that wait. */
  status (): { running: number, waiting: number } {
    return { running: this.#runs.size, waiting: this.#queue.size }
  }

  /** Removes a waiting job, whose promise then never settles. @returns false when the job no longer waits */
  drop (job: Job<Item>): boolean {
    return this.#queue.delete(job as Entry<Item>)
  }

  /** Rejects waiting and running jobs, and resolves when the threads have ended. */
  async close (): Promise<void> {
    this.#closed = true
    for (const entry of this.#queue.clear()) entry.reject(this.#closedError())
    await this.#pool.destroy()
  }

  #dispatch (): void {
    while (!this.#closed && this.#runs.size < this.#options.threads) {
      const batch = this.#queue.take(this.#options.batchSize)
      if (batch.length === 0) return
      void this.#compute(batch)
    }
  }

  /** Never rejects. @param batch empty to load the model */
  async #compute (batch: Entry<Item>[]): Promise<void> {
    const id = this.#nextId++
    const timer = this.#timer(id, this.#options.loadTimeoutMs)
    const run: Run = { controller: new AbortController(), timer, hasStarted: false, timedOut: false }
    this.#runs.set(id, run)
    try {
      const items = batch.map(({ item }) => item)
      const answer = await this.#pool.run({ id, items }, { signal: run.controller.signal })
      if ('failed' in answer) this.#handleFailure(batch, answer.failed)
      else resolveBatch(batch, answer)
    } catch (error) {
      this.#handleThreadEnd(batch, run, error)
    } finally {
      clearTimeout(run.timer)
      this.#runs.delete(id)
      this.#dispatch()
    }
  }

  /** Ends the thread of a run that takes too long, because a computation cannot be stopped otherwise. */
  #timer (id: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const run = this.#runs.get(id)
      if (run === undefined) return
      run.timedOut = true
      run.controller.abort()
    }, ms)
  }

  #markStarted (id: number): void {
    const run = this.#runs.get(id)
    if (run === undefined) return
    clearTimeout(run.timer)
    run.hasStarted = true
    run.timer = this.#timer(id, this.#options.timeoutMs)
  }

  #handleFailure (batch: Entry<Item>[], message: string): void {
    const { name, warn } = this.#options
    if (batch.length === 0) warn?.(`${name} cannot load its model yet: ${message}`)
    // One item that the model rejects must not fail the others, so each is tried alone.
    else if (batch.length > 1) for (const entry of batch) this.#queue.pushRetry(entry)
    else batch[0]!.reject(new Error(`${name}: ${message}`))
  }

  #handleThreadEnd (batch: Entry<Item>[], { timedOut, hasStarted: began }: Run, cause: unknown): void {
    const { name, timeoutMs, loadTimeoutMs, warn } = this.#options
    const error = this.#closed
      ? this.#closedError()
      : timedOut
        ? new Error(
          `${name} did not ${began ? `answer within ${timeoutMs}` : `load its model within ${loadTimeoutMs}`} ms`,
        )
        : new Error(`${name} lost its thread`, { cause })
    if (batch.length === 0 && !this.#closed) warn?.(error.message)
    for (const entry of batch) {
      if (!this.#closed && !timedOut && ++entry.endedThreads < MAX_ATTEMPTS) this.#queue.pushRetry(entry)
      else entry.reject(error)
    }
  }

  #closedError (): Error {
    return new Error(`${this.#options.name} was closed`)
  }
}

function newEntry<Item> (item: Item): Entry<Item> {
  const { promise: done, resolve, reject } = withResolvers()
  // The caller may have left, and then nothing handles the rejection.
  done.catch(() => {})
  return { item, done, resolve, reject, endedThreads: 0 }
}

function withResolvers (): { promise: Promise<Float32Array> } & Pick<Entry<unknown>, 'resolve' | 'reject'> {
  let resolve!: (numbers: Float32Array) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Float32Array>((...functions) => { [resolve, reject] = functions })
  return { promise, resolve, reject }
}

/** Splits the result of a batch, in which every item has the same number of values. */
function resolveBatch<Item> (batch: Entry<Item>[], numbers: Float32Array): void {
  const length = numbers.length / batch.length
  batch.forEach(({ resolve }, index) => { resolve(numbers.slice(index * length, (index + 1) * length)) })
}
