import { FairQueue } from './fair-queue.js'

/**
 * The time slice in milliseconds: how long work may start within one turn of the event loop before the rest is
 * postponed to a later turn, so that sockets, timers and the database are served in between. The first slice after an
 * idle period can last up to twice as long, because `isSpent` measures from the last time it was called.
 */
const SLICE_MS = 2

/**
 * How many ticks a resumed task keeps the event loop before its time is measured and the next one is resumed. A stream
 * needs one tick to emit what it has read and another to emit its end, so an admitted request reads its body in these.
 */
const TICKS_PER_TASK = 4

/**
 * Schedules long work cooperatively on the event loop: in time slices, and fairly between callers. Work that may take
 * more than a millisecond is split into pieces. Before each piece it checks `isSpent`, and yields when that is true:
 *
 *     if (turns.isSpent) await turns.next(caller)
 *
 * However many requests do so at the same time, one turn of the event loop takes about SLICE_MS plus the longest single
 * piece. Waiting tasks are resumed by start-time fair queueing (FairQueue) with each caller as a flow: the caller that
 * has used least is resumed first, so a caller with much work does not delay the others.
 */
export class TurnBudget {
  readonly #timer: () => number
  readonly #sliceMs: number
  readonly #waiting = new FairQueue<() => void>()
  /** When the current slice started. */
  #sliceStartedAt = -Infinity
  /** When the last task was resumed, and how many ticks it has left. */
  #resumedAt = 0
  #ticksLeft = 0
  /** Whether an immediate is scheduled that starts the next slice. */
  #isScheduled = false

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
  get isSpent (): boolean {
    const now = this.#timer()
    if (now - this.#sliceStartedAt < this.#sliceMs) return false
    if (this.#isScheduled) return true
    this.#sliceStartedAt = now
    this.#schedule()
    return false
  }

  /**
   * Resolves in a later turn of the event loop, when the caller is next and the slice has time left.
   * @param caller the flow that the time is charged to: who the work is for (`callerOf`), or a name for work that
   * belongs to no single caller
   */
  async next (caller: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(caller, resolve)
      if (!this.#isScheduled) this.#schedule()
    })
  }

  #schedule (): void {
    this.#isScheduled = true
    setImmediate(this.#startSlice)
  }

  readonly #startSlice = () => {
    this.#isScheduled = false
    this.#sliceStartedAt = this.#timer()
    if (this.#waiting.isEmpty) return
    this.#schedule()
    this.#resumeNext()
  }

  #resumeNext (): void {
    const resume = this.#waiting.shift()
    if (resume === undefined) return
    this.#resumedAt = this.#timer()
    this.#ticksLeft = TICKS_PER_TASK
    resume()
    queueMicrotask(this.#awaitTick)
  }

  /** Node.js runs the next tick after all microtasks, so the resumed task has done its synchronous work by then. */
  readonly #awaitTick = () => { process.nextTick(this.#afterTick) }

  readonly #afterTick = () => {
    if (--this.#ticksLeft > 0) {
      // Node.js runs all queued ticks before the microtasks that the first of them queues.
      queueMicrotask(this.#awaitTick)
      return
    }
    const now = this.#timer()
    this.#waiting.charge(now - this.#resumedAt)
    if (now - this.#sliceStartedAt < this.#sliceMs) this.#resumeNext()
  }
}

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
    if (turns.isSpent) await turns.next(caller)
    results.push(map(item, results.length))
  }
  return results
}
