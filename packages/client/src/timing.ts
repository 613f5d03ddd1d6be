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

/** Awaits work, or throws the signal's reason as soon as the signal aborts; the work itself continues. */
export async function untilAborted<Result> (
  work: Result | Promise<Result>, signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await work
  let onAbort = () => {}
  const aborted = new Promise<void>((resolve) => { onAbort = resolve })
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  try {
    await Promise.race([aborted, work])
    signal.throwIfAborted()
    return await work
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** The maximum delay of a timer; timers with a longer delay fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** A signal that aborts when the caller's signal aborts or the time limit expires. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #milliseconds: number
  readonly #caller: AbortSignal | undefined
  readonly #onAbort = () => { this.#controller.abort(this.#caller?.reason) }
  #timer: ReturnType<typeof setTimeout> | undefined
  #endsAt = 0
  #isExpired = false

  constructor (milliseconds: number, caller: AbortSignal | undefined) {
    this.#milliseconds = Math.min(milliseconds, MAX_TIMER_MS)
    this.#caller = caller
    if (caller?.aborted === true) this.#onAbort()
    caller?.addEventListener('abort', this.#onAbort)
    this.restart()
  }

  get signal (): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the time limit has expired. */
  get isExpired (): boolean {
    return this.#isExpired
  }

  /** The remaining milliseconds. */
  get remaining (): number {
    return this.#endsAt - performance.now()
  }

  /** Restarts the time limit. */
  restart (): void {
    this.pause()
    this.#endsAt = performance.now() + this.#milliseconds
    this.#timer = setTimeout(() => {
      this.#isExpired = true
      this.#controller.abort()
    }, this.#milliseconds)
  }

  /** Suspends the time limit until `restart`. */
  pause (): void {
    clearTimeout(this.#timer)
  }

  /** Removes the listener of the caller's signal, and the timer, which would keep the process alive. */
  dispose (): void {
    this.pause()
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }
}
