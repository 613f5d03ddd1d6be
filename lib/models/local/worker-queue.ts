import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { WaitingLine } from './waiting-line.js'

export interface WorkerQueueOptions {
  /** What stands in front of every message: `embedding_provider: local`. */
  name: string
  /** URL of the module that loads the model and computes; see worker.mjs. */
  engine: string
  /** Handed to the engine; it must survive structured cloning. */
  engineOptions: object
  /** Threads, each with the model in it. */
  threads: number
  /** Items that may wait, urgent ones and others each. */
  maxWaiting: number
  /** Items in one computation at most. */
  batchSize: number
  /** Milliseconds that one computation may take. */
  timeoutMs: number
  /** Milliseconds that loading the model may take. */
  loadTimeoutMs: number
  /** What the threads see of the environment. Default: all of it. */
  env?: Record<string, string>
  /** Told when the model cannot be loaded at the start; the next item tries again. */
  warn?: ((message: string) => void) | undefined
}

/** More is asked for than may wait. */
export class QueueFullError extends Error {
  constructor (message: string) {
    super(message)
    this.name = 'QueueFullError'
  }
}

/** Something that is to be computed, from when it begins to wait to its end. */
export interface Job<Item> {
  readonly item: Item
  /** The item's numbers. */
  readonly done: Promise<Float32Array>
}

interface Entry<Item> extends Job<Item> {
  resolve: (numbers: Float32Array) => void
  reject: (error: Error) => void
  /** Threads that were lost over it. */
  losses: number
}

interface Run {
  giveUp: AbortController
  timer: NodeJS.Timeout
  began: boolean
  timedOut: boolean
}

type Answer = Float32Array | { failed: string }

/** Times that an item is given to a thread when the thread is lost: what killed one thread would kill every other. */
const ATTEMPTS = 2

/**
 * Computes in worker threads, urgent items first. The threads are piscina's; what waits is kept here, because a thread is given no
 * more than it can begin with, and so what is urgent has at most the running computation before it.
 */
export class WorkerQueue<Item> {
  readonly #options: WorkerQueueOptions
  readonly #pool: Piscina<{ id: number, items: Item[] }, Answer>
  readonly #line = new WaitingLine<Entry<Item>>()
  readonly #runs = new Map<number, Run>()
  #nextId = 0
  #closed = false

  /** Starts the threads, which load the model in the background. */
  constructor (options: WorkerQueueOptions) {
    this.#options = options
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
      // A thread is started for work only: one that dies while nothing is asked is not started over and over.
      minThreads: 0,
      maxThreads: options.threads,
      idleTimeout: Infinity,
      // Otherwise a thread that waits for work holds its event loop, and loading would stand still.
      atomics: 'disabled',
      recordTiming: false,
      workerData: { engine: options.engine, options: options.engineOptions },
      // Warnings go past the thread's streams, straight to the process's.
      execArgv: ['--no-warnings'],
      ...(options.env !== undefined && { env: options.env }),
    })
    this.#pool.on('message', ({ began }: { began: number }) => { this.#begun(began) })
    // A thread without work is lost, perhaps before it was ready, with what it was to be given waiting for it.
    this.#pool.on('error', () => { for (const run of this.#runs.values()) if (!run.began) run.giveUp.abort() })
    for (let thread = 0; thread < options.threads; thread++) void this.#compute([])
  }

  /**
   * Puts items in line, all or none.
   * @throws QueueFullError when so many cannot wait, Error after close()
   */
  add (items: readonly Item[], urgent: boolean): Job<Item>[] {
    const { name, maxWaiting } = this.#options
    if (this.#closed) throw new Error(`${name} is closed`)
    const waiting = this.#line.waiting(urgent)
    if (waiting + items.length > maxWaiting) {
      throw new QueueFullError(`${name} takes no more: ${waiting} wait, ${items.length} would come and ${maxWaiting} may wait (max_queue)`)
    }
    const entries = items.map(newEntry)
    for (const entry of entries) this.#line.push(entry, urgent)
    this.#dispatch()
    return entries
  }

  /** Lets a job that still waits in among the urgent ones. */
  hurry (job: Job<Item>): void {
    this.#line.hurry(job as Entry<Item>)
  }

  /** Computations under way, the loading of the model among them, and items that wait. */
  status (): { running: number, waiting: number } {
    return { running: this.#runs.size, waiting: this.#line.size }
  }

  /** Takes a job out of the line; it then never settles. @returns false when it does not wait any more */
  drop (job: Job<Item>): boolean {
    return this.#line.delete(job as Entry<Item>)
  }

  /** Rejects what waits and what runs, and settles when the threads are gone. */
  async close (): Promise<void> {
    this.#closed = true
    for (const entry of this.#line.clear()) entry.reject(this.#closedError())
    await this.#pool.destroy()
  }

  #dispatch (): void {
    while (!this.#closed && this.#runs.size < this.#options.threads) {
      const batch = this.#line.take(this.#options.batchSize)
      if (batch.length === 0) return
      void this.#compute(batch)
    }
  }

  /** @param batch none: load the model. Never rejects. */
  async #compute (batch: Entry<Item>[]): Promise<void> {
    const id = this.#nextId++
    const run: Run = { giveUp: new AbortController(), timer: this.#timer(id, this.#options.loadTimeoutMs), began: false, timedOut: false }
    this.#runs.set(id, run)
    try {
      const answer = await this.#pool.run({ id, items: batch.map(({ item }) => item) }, { signal: run.giveUp.signal })
      if ('failed' in answer) this.#failed(batch, answer.failed)
      else handOut(batch, answer)
    } catch (error) {
      this.#lost(batch, run, error)
    } finally {
      clearTimeout(run.timer)
      this.#runs.delete(id)
      this.#dispatch()
    }
  }

  /** Ends the thread of a run that takes too long: nothing else stops a computation. */
  #timer (id: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const run = this.#runs.get(id)
      if (run === undefined) return
      run.timedOut = true
      run.giveUp.abort()
    }, ms)
  }

  #begun (id: number): void {
    const run = this.#runs.get(id)
    if (run === undefined) return
    clearTimeout(run.timer)
    run.began = true
    run.timer = this.#timer(id, this.#options.timeoutMs)
  }

  #failed (batch: Entry<Item>[], message: string): void {
    const { name, warn } = this.#options
    if (batch.length === 0) warn?.(`${name} cannot load its model yet: ${message}`)
    // One item that the model does not take must not fail the others.
    else if (batch.length > 1) for (const entry of batch) this.#line.pushAgain(entry)
    else batch[0]!.reject(new Error(`${name}: ${message}`))
  }

  #lost (batch: Entry<Item>[], { timedOut, began }: Run, cause: unknown): void {
    const { name, timeoutMs, loadTimeoutMs, warn } = this.#options
    const error = this.#closed
      ? this.#closedError()
      : timedOut
        ? new Error(`${name} did not ${began ? `answer within ${timeoutMs}` : `load its model within ${loadTimeoutMs}`} ms`)
        : new Error(`${name} lost its thread`, { cause })
    if (batch.length === 0 && !this.#closed) warn?.(error.message)
    for (const entry of batch) {
      if (!this.#closed && !timedOut && ++entry.losses < ATTEMPTS) this.#line.pushAgain(entry)
      else entry.reject(error)
    }
  }

  #closedError (): Error {
    return new Error(`${this.#options.name} was closed`)
  }
}

function newEntry<Item> (item: Item): Entry<Item> {
  const { promise: done, resolve, reject } = withResolvers()
  // Whoever asked may have left.
  done.catch(() => {})
  return { item, done, resolve, reject, losses: 0 }
}

function withResolvers (): { promise: Promise<Float32Array> } & Pick<Entry<unknown>, 'resolve' | 'reject'> {
  let resolve!: (numbers: Float32Array) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Float32Array>((...functions) => { [resolve, reject] = functions })
  return { promise, resolve, reject }
}

/** Every item has as many numbers as any other. */
function handOut<Item> (batch: Entry<Item>[], numbers: Float32Array): void {
  const length = numbers.length / batch.length
  batch.forEach(({ resolve }, index) => { resolve(numbers.slice(index * length, (index + 1) * length)) })
}
