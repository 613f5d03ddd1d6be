import { linkedAbort, unlessAborted } from './aborting.js'

/** The work did not end within its time. */
export class DeadlineExceeded extends Error {
  constructor (timeoutMs: number) {
    super(`Not done within ${timeoutMs} ms`)
    this.name = 'DeadlineExceeded'
  }
}

/** Milliseconds of a monotonic clock. */
export type Timer = () => number

interface DeadlineOptions {
  /** Of the caller: it aborts the work as well, with its own reason. */
  signal?: AbortSignal | undefined
  /** Default: the monotonic clock of the process. */
  timer?: Timer | undefined
  /** The reason when the time is over. Default: DeadlineExceeded. */
  expired?: (() => Error) | undefined
}

/**
 * The time that a task has, passed to everything that it waits for. Call `end` when the task is done. It is our own
 * because AbortSignal.any keeps derived signals in memory.
 */
export class Deadline {
  /** Aborted when the time is over or the caller's signal is. */
  readonly signal: AbortSignal
  /** The whole time in milliseconds, as given at the beginning. */
  readonly timeoutMs: number
  readonly #timer: Timer
  readonly #expiresAt: number
  readonly #end: () => void

  /** @param timeoutMs Infinity: no limit */
  constructor (timeoutMs: number, {
    signal, timer = () => performance.now(), expired = () => new DeadlineExceeded(timeoutMs),
  }: DeadlineOptions = {}) {
    const { controller, unlink } = linkedAbort(signal)
    this.signal = controller.signal
    this.timeoutMs = timeoutMs
    this.#timer = timer
    this.#expiresAt = timer() + timeoutMs
    const expire = () => { controller.abort(expired()) }
    const timeout = timeoutMs === Infinity ? undefined : setTimeout(expire, timeoutMs)
    this.#end = () => {
      clearTimeout(timeout)
      unlink()
    }
  }

  /** Milliseconds that are left, at least 0. */
  remainingMs (): number {
    return Math.max(0, this.#expiresAt - this.#timer())
  }

  /**
   * Waits for the work until the deadline; work that does not stop then continues unobserved.
   * @throws DeadlineExceeded; the caller's reason; what the work throws
   */
  async wait<T> (work: Promise<T>): Promise<T> {
    return await unlessAborted(work, this.signal)
  }

  end (): void {
    this.#end()
  }
}

/**
 * Runs work with a timeout: its signal aborts when the time is over or the caller's signal does, and its result is then
 * ignored.
 * @param expired the error when the time is over. Default: DeadlineExceeded
 * @throws that error; the caller's reason; what the work throws
 */
export async function withTimeLimit<T> (
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  expired?: () => Error,
): Promise<T> {
  const deadline = new Deadline(timeoutMs, { signal, expired })
  try {
    // Work whose caller has left does not start.
    deadline.signal.throwIfAborted()
    return await deadline.wait(work(deadline.signal))
  } finally {
    deadline.end()
  }
}

/** What withTimeout() returns when the time is over first. */
export const TIMED_OUT = Symbol('timed out')

/**
 * Waits for work that cannot be aborted. For work that takes a signal, use withTimeLimit().
 * @param milliseconds Infinity: no limit
 * @returns what the work resolves to, or TIMED_OUT; the work then continues, and its result is ignored
 * @throws what the work throws in time
 */
export async function withTimeout<T> (work: Promise<T>, milliseconds: number): Promise<T | typeof TIMED_OUT> {
  if (milliseconds === Infinity) return await work
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<typeof TIMED_OUT>((resolve) => { timer = setTimeout(resolve, milliseconds, TIMED_OUT) })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
