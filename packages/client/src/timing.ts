import type { Timing } from './options.js'

export const systemTiming: Timing = {
  random: Math.random,
  now: Date.now,
  sleep: async (milliseconds, signal) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      await untilAborted(new Promise<void>((resolve) => { timer = setTimeout(resolve, milliseconds) }), signal)
    } finally {
      clearTimeout(timer)
    }
  },
}

/** The result of the work, or the signal's reason as soon as it aborts; the work itself continues. */
export async function untilAborted<Result> (
  work: Result | Promise<Result>, signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await work
  let leave = () => {}
  const left = new Promise<void>((resolve) => { leave = resolve })
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave)
  try {
    await Promise.race([left, work])
    signal.throwIfAborted()
    return await work
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** The longest delay of a timer; longer timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/** A signal that aborts when the caller's does, and when the time is up. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #milliseconds: number
  readonly #caller: AbortSignal | undefined
  readonly #leave = () => { this.#controller.abort(this.#caller?.reason) }
  #timer: ReturnType<typeof setTimeout> | undefined
  #endsAt = 0
  #isOver = false

  constructor (milliseconds: number, caller: AbortSignal | undefined) {
    this.#milliseconds = Math.min(milliseconds, LONGEST_MS)
    this.#caller = caller
    if (caller?.aborted === true) this.#leave()
    caller?.addEventListener('abort', this.#leave)
    this.restart()
  }

  get signal (): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the time is up. */
  get isOver (): boolean {
    return this.#isOver
  }

  /** Milliseconds that are left. */
  get remaining (): number {
    return this.#endsAt - performance.now()
  }

  /** Restarts the time limit. */
  restart (): void {
    this.pause()
    this.#endsAt = performance.now() + this.#milliseconds
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#controller.abort()
    }, this.#milliseconds)
  }

  /** Suspends the time limit until `restart`. */
  pause (): void {
    clearTimeout(this.#timer)
  }

  /** Removes the listener of the caller's signal, and the timer, which would keep a process alive. */
  end (): void {
    this.pause()
    this.#caller?.removeEventListener('abort', this.#leave)
  }
}
