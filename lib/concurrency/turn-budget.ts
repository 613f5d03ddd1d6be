import { FairQueue } from './fair-queue.js'
import { systemFlow } from './system-flow.js'

/**
 * The time slice in milliseconds: how long work may start within one turn of the event loop before the rest is
 * postponed to a later turn, so that sockets, timers and the database are served in between. The first slice after an
 * idle period can last up to twice as long, because `isExhausted` measures from the last time it was called.
 */
const SLICE_MS = 2

/**
 * The longest slice. While tasks wait, a slice is as long as what else the event loop has done since the last one, such
 * as reading sockets: with short slices the tasks would have a small share of a process that is busy with others' data.
 */
const MAX_SLICE_MS = 8

/** The most tasks that are resumed in one turn of the event loop. */
const TASKS_PER_TURN = 64

/**
 * Schedules long work cooperatively on the event loop: in time slices, and fairly between callers. Work that may take
 * more than a millisecond is split into steps. Before each step it checks `isExhausted`, and yields when that is true:
 *
 *     if (turns.isExhausted) await turns.next(caller)
 *
 * However many requests do so at the same time, one turn of the event loop takes about SLICE_MS plus the longest single
 * step, or twice the time that it takes for sockets and timers. Waiting tasks are resumed by start-time fair queueing
 * (FairQueue) with each caller as a flow: the caller that has used least is resumed first, so a caller with much work
 * does not delay the others.
 *
 * Node.js accepts one connection in each turn of the event loop (libuv since 1.45). With a slice in every turn,
 * connections that wait to be accepted would wait for as many slices. So a turn that has accepted a connection has no
 * slice, unless MAX_SLICE_MS have passed since the last one: a flood of connections takes half of the time at most.
 */
export class TurnBudget {
  readonly #timer: () => number
  readonly #sliceMs: number
  readonly #waiting = new FairQueue<() => void>()
  /** When the current slice ends. */
  #sliceEndsAt = -Infinity
  /** Whether it is longer than usual, and each task in it may still run only as long as usual. */
  #isLongSlice = false
  /** When tasks were last resumed or measured, if others still waited; otherwise Infinity. */
  #leftAt = Infinity
  /** When the last task was resumed. */
  #resumedAt = 0
  /** Whether an immediate is scheduled that starts the next slice. */
  #isScheduled = false
  /** Whether a connection was accepted since the last slice was due. */
  #hasAccepted = false
  /** The immediates that continue the next slice, and those that are left of the current one. */
  #continuations = 0
  #continuationsLeft = 0

  constructor (
    { sliceMs = SLICE_MS, timer = () => performance.now() }: { sliceMs?: number, timer?: () => number } = {},
  ) {
    this.#sliceMs = sliceMs
    this.#timer = timer
  }

  /**
   * Whether the slice is used up, so that more work must await `next`. Every request checks it, so it schedules an
   * immediate only when a slice of time has passed since the last one started: an immediate in every turn would keep
   * the event loop from waiting for input.
   */
  get isExhausted (): boolean {
    const now = this.#timer()
    const hasTime = now < this.#sliceEndsAt && !(this.#isLongSlice && now - this.#resumedAt >= this.#sliceMs)
    if (hasTime) return false
    if (this.#isScheduled) return true
    this.#beginSlice(now, this.#sliceMs)
    this.#schedule()
    return false
  }

  /**
   * Resolves in a later turn of the event loop, when the caller is next and the slice has time left.
   * @param caller the flow that the time is charged to: who the work is for (`callerOf`), or a
   * `systemFlow` for work that belongs to no single caller
   */
  async next (caller: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(caller, resolve)
      if (!this.#isScheduled) this.#schedule()
      else if (this.#continuations < TASKS_PER_TURN) this.#scheduleContinuation()
    })
  }

  /** The caller of the task that was resumed in this turn of the event loop, until the next one is. */
  get runningCaller (): string | undefined {
    return this.#waiting.servedFlow
  }

  /** Tells that a connection was accepted in this turn of the event loop, so that others may wait to be accepted. */
  connectionAccepted (): void {
    this.#hasAccepted = true
  }

  /**
   * Between two immediates Node.js runs all ticks and microtasks. So each immediate measures everything that the task
   * of the one before it has done, including the reading of a body that has arrived, and resumes the next task.
   */
  #schedule (): void {
    this.#isScheduled = true
    setImmediate(this.#startSlice)
    this.#continuations = 0
    for (let count = Math.min(this.#waiting.length, TASKS_PER_TURN); count > 0; count--) this.#scheduleContinuation()
  }

  #scheduleContinuation (): void {
    this.#continuations++
    setImmediate(this.#continueSlice)
  }

  readonly #startSlice = () => {
    this.#isScheduled = false
    const now = this.#timer()
    if (this.#mayAcceptMore(now)) {
      this.#schedule()
      return
    }
    this.#beginSlice(now, Math.min(Math.max(now - this.#leftAt, this.#sliceMs), MAX_SLICE_MS))
    this.#leftAt = Infinity
    this.#continuationsLeft = this.#continuations
    if (this.#waiting.length === 0) return
    this.#schedule()
    this.#resumeNext()
  }

  /** Whether this turn has no slice, because it has accepted a connection and the next one may accept another. */
  #mayAcceptMore (now: number): boolean {
    const mayBeMore = this.#hasAccepted && this.#waiting.length > 0
    this.#hasAccepted = false
    if (!mayBeMore) return false
    this.#leftAt = Math.min(this.#leftAt, now)
    return now - this.#leftAt < MAX_SLICE_MS
  }

  readonly #continueSlice = () => {
    // This turn has no slice.
    if (this.#continuationsLeft === 0) return
    const now = this.#timer()
    this.#waiting.charge(now - this.#resumedAt)
    this.#continuationsLeft--
    if (this.#waiting.length > 0) this.#leftAt = now
    // Without a further immediate nothing would measure the next task.
    if (this.#continuationsLeft > 0 && now < this.#sliceEndsAt) this.#resumeNext()
  }

  #beginSlice (now: number, ms: number): void {
    this.#sliceEndsAt = now + ms
    this.#isLongSlice = ms > this.#sliceMs
  }

  #resumeNext (): void {
    const resume = this.#waiting.shift()
    if (resume === undefined) return
    this.#resumedAt = this.#timer()
    resume()
  }
}

/** The part of TurnBudget that decides when work must yield to the event loop. */
export type Turns = Pick<TurnBudget, 'isExhausted' | 'next'>

/**
 * The budget for work that does not know who it is for, such as a store's: it is charged to the caller whose task is
 * running, or, if none is running, to the name that it passes. Otherwise one caller would have a share for each such
 * name.
 */
export function chargedToRunningCaller (budget: TurnBudget): Turns {
  return {
    get isExhausted () { return budget.isExhausted },
    next: async (name) => { await budget.next(budget.runningCaller ?? name) },
  }
}

/** The flow of work whose caller is not known. */
export const NO_CALLER = systemFlow('no caller')

/** The one budget of the process, because a process has one event loop. */
export const turns = new TurnBudget()

/**
 * Maps a list and yields to the event loop in between.
 * @param caller as in TurnBudget.next
 * @param map takes about a millisecond or less; a longer one must yield by itself
 */
export async function mapInTurns<T, R> (
  items: Iterable<T>, caller: string, map: (item: T, index: number) => R,
): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    if (turns.isExhausted) await turns.next(caller)
    results.push(map(item, results.length))
  }
  return results
}
