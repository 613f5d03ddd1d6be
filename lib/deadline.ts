import { setMaxListeners } from 'node:events'

/** The work was not done in its time. */
export class DeadlineExceeded extends Error {
  constructor (timeoutMs: number) {
    super(`Not done within ${timeoutMs} ms`)
    this.name = 'DeadlineExceeded'
  }
}

/** Milliseconds of a clock that only rises. */
export type Timer = () => number

/** The time that a piece of work has, carried into everything that it waits for. End it when the work is done. */
export class Deadline {
  /** Milliseconds that there were at first. */
  readonly timeoutMs: number
  readonly #controller = new AbortController()
  readonly #timer: Timer
  readonly #at: number
  readonly #end: () => void

  /** @param callers aborts the work as well, with its own reason */
  constructor (timeoutMs: number, callers?: AbortSignal, timer: Timer = () => performance.now()) {
    this.timeoutMs = timeoutMs
    this.#timer = timer
    this.#at = timer() + timeoutMs
    // Everything that the work waits for listens to it.
    setMaxListeners(0, this.#controller.signal)
    const leave = () => { this.#controller.abort(callers!.reason) }
    if (callers?.aborted === true) leave()
    callers?.addEventListener('abort', leave, { once: true })
    const timeout = setTimeout(() => { this.#controller.abort(new DeadlineExceeded(timeoutMs)) }, timeoutMs)
    this.#end = () => {
      clearTimeout(timeout)
      callers?.removeEventListener('abort', leave)
    }
  }

  /** Aborted when the time is over or the caller's signal is. */
  get signal (): AbortSignal {
    return this.#controller.signal
  }

  /** Milliseconds that are left, at least 0. */
  leftMs (): number {
    return Math.max(0, this.#at - this.#timer())
  }

  /**
   * Waits for the work as long as there is time; work that goes on all the same is not waited for.
   * @throws DeadlineExceeded; the caller's reason; what the work throws
   */
  async wait<T> (work: Promise<T>): Promise<T> {
    const { signal } = this
    let giveUp = () => {}
    try {
      return await Promise.race([work, new Promise<never>((_resolve, reject) => {
        giveUp = () => { reject(reasonOf(signal)) }
        if (signal.aborted) giveUp()
        else signal.addEventListener('abort', giveUp, { once: true })
      })])
    } finally {
      signal.removeEventListener('abort', giveUp)
      // Nobody listens to it any more; its failure is no fault of the process.
      work.catch(() => {})
    }
  }

  end (): void {
    this.#end()
  }
}

function reasonOf ({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('Aborted')
}
