import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { Timer } from '../concurrency/deadline.js'
import { FairQueue } from '../concurrency/fair-queue.js'
import { runTextJob, type TextJob, type TextJobResults } from './text-jobs.js'

/** Milliseconds without work after which the thread ends, which releases its memory. */
const IDLE_MS = 60_000
/** Milliseconds after the loss of a thread in which none is started, so that one fault does not end many. */
const REPLACEMENT_MS = 60_000
/** The thread needs little memory; it ends before a fault takes that of the process. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 }
/**
 * The lower priority of the thread on Linux: where processors are short, it must delay neither the event loop nor a
 * database on the same machine, and still have a tenth of a processor.
 */
const NICE_INCREMENT = 10
/** A thread loads the same files as the process: compiled ones, or, with the same loader, the sources. */
const THIS_FILE = fileURLToPath(import.meta.url)
const JOBS_FILE = fileURLToPath(new URL(`./text-jobs${extname(THIS_FILE)}`, import.meta.url))
const EXEC_ARGV = extname(THIS_FILE) === '.js' ? [] : process.execArgv

interface TextThreadOptions {
  /** Writes to the operator's log. */
  warn: (message: string) => void
  timer: Timer
  idleMs?: number
  /** Options of Node.js for the thread. */
  execArgv?: readonly string[]
  /** Processors that the process may use; with one there is no thread. */
  processors?: number
}

interface WaitingJob {
  job: TextJob
  resolve: (results: TextJobResults | undefined) => void
}

/**
 * A worker thread for long work on texts, which then neither takes the time of the event loop nor fills its heap. It
 * does one job at a time, fairly between callers, and runs only while there is such work. Where it cannot run, callers
 * do the work themselves.
 */
export class TextThread {
  readonly #options: TextThreadOptions
  readonly #queue = new FairQueue<WaitingJob>()
  #pool: Piscina<TextJob, TextJobResults> | undefined
  #starting: Promise<void> | undefined
  /** Settles when all threads that were ended have ended. */
  #ended: Promise<unknown> = Promise.resolve()
  #isReady = false
  #isClosed = false
  #lostAt = -Infinity
  #idleTimer: NodeJS.Timeout | undefined

  constructor (options: TextThreadOptions) {
    this.#options = options
  }

  /** Whether the thread can do a job now. */
  get isReady (): boolean {
    return this.#isReady
  }

  /** Starts the thread unless it is ready. Settles when it is ready or cannot be started, and never rejects. */
  async start (): Promise<void> {
    const { timer, processors = availableParallelism() } = this.#options
    if (this.#isReady || this.#isClosed || processors < 2 || timer() - this.#lostAt < REPLACEMENT_MS) return
    this.#starting ??= this.#open()
    await this.#starting
    this.#starting = undefined
  }

  /**
   * Does a job after those that wait. Never rejects.
   * @param caller as in TurnBudget.next
   * @returns undefined when no thread is ready, or it was lost, or it cannot get the job
   */
  async run (job: TextJob, caller: string): Promise<TextJobResults | undefined> {
    if (!this.#isReady) return undefined
    return await new Promise((resolve) => {
      this.#queue.push(caller, { job, resolve })
      // While a job is in progress, runAll() continues with those that wait.
      if (this.#queue.servedFlow === undefined) void this.#runAll()
    })
  }

  /** Resolves when the thread has ended. Jobs that wait have no result. */
  async close (): Promise<void> {
    this.#isClosed = true
    await this.#starting
    this.#end()
    await this.#ended
  }

  async #open (): Promise<void> {
    let pool: Piscina<TextJob, TextJobResults> | undefined
    try {
      const { Piscina } = await import('piscina')
      const opened = new Piscina<TextJob, TextJobResults>({
        filename: JOBS_FILE,
        name: runTextJob.name,
        minThreads: 0,
        maxThreads: 1,
        idleTimeout: Infinity,
        recordTiming: false,
        resourceLimits: LIMITS,
        niceIncrement: NICE_INCREMENT,
        execArgv: [...this.#options.execArgv ?? EXEC_ARGV],
        env: {},
      })
      pool = this.#pool = opened
      opened.on('error', (error: unknown) => { this.#lose(error, opened) })
      await opened.run({ kind: 'split', texts: [], maxCharacters: 1 })
      this.#isReady = true
      this.#beginIdle()
    } catch (error) {
      this.#lose(error, pool)
    }
  }

  async #runAll (): Promise<void> {
    clearTimeout(this.#idleTimer)
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const startedAt = this.#options.timer()
      next.resolve(await this.#runOne(next.job))
      this.#queue.charge(this.#options.timer() - startedAt)
    }
    this.#beginIdle()
  }

  async #runOne (job: TextJob): Promise<TextJobResults | undefined> {
    const pool = this.#pool
    try {
      return await pool?.run(job)
    } catch (error) {
      // Metadata of an application may contain what the thread cannot get, such as a function.
      if (!(error instanceof DOMException && error.name === 'DataCloneError')) this.#lose(error, pool)
      return undefined
    }
  }

  #beginIdle (): void {
    clearTimeout(this.#idleTimer)
    if (this.#isReady) this.#idleTimer = setTimeout(() => { this.#end() }, this.#options.idleMs ?? IDLE_MS).unref()
  }

  /**
   * The message of the error is not logged: it could contain a text. A pool that was ended rejects its jobs, which is
   * not another loss.
   */
  #lose (error: unknown, pool: Piscina | undefined): void {
    if (this.#isClosed || pool !== this.#pool) return
    const { warn, timer } = this.#options
    this.#lostAt = timer()
    const { code, name } = error instanceof Error ? error as Error & { code?: string } : { name: typeof error }
    warn(`The thread that analyzes long texts was lost (${code ?? name}); the event loop does its work for a minute`)
    this.#end()
  }

  #end (): void {
    clearTimeout(this.#idleTimer)
    const pool = this.#pool
    this.#pool = undefined
    this.#isReady = false
    if (pool !== undefined) this.#ended = Promise.all([this.#ended, pool.destroy()])
  }
}
