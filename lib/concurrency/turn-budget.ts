import { FairQueue } from './fair-queue.js'

/**
 * Milliseconds of work that one turn of the event loop begins, or twice that when nobody has asked for a while. Whoever
 * has more to do goes on in a later turn; between two turns the loop takes in what came from sockets, timers and the
 * database.
 */
const SHARE_MS = 2

/**
 * Ticks in which what was let go may do more at once: a stream takes a tick to hand on what it has read, another to
 * tell its end, and so a request that was let in reads its body.
 */
const TICKS = 4

/**
 * Shares the event loop out, in time and between callers. Work that may take more than a millisecond asks `isSpent`
 * before each of its pieces and awaits `next` when it is:
 *
 *     if (turns.isSpent) await turns.next(caller)
 *
 * However many requests do so at the same moment, one turn of the loop takes about SHARE_MS and the longest single
 * piece. Of those that wait the caller who has used least of the loop is let go on first, so that a caller with much to
 * do does not hold up the others.
 */
export class TurnBudget {
  readonly #timer: () => number
  readonly #shareMs: number
  readonly #waiting = new FairQueue<() => void>()
  /** Since when the time of the turn is counted. */
  #since = -Infinity
  /** When the last piece was let go, and how many ticks it may go on. */
  #begunAt = 0
  #ticks = 0
  /** Whether the end of the turn is waited for. */
  #isArmed = false

  constructor (
    { shareMs = SHARE_MS, timer = () => performance.now() }: { shareMs?: number, timer?: () => number } = {},
  ) {
    this.#shareMs = shareMs
    this.#timer = timer
  }

  /**
   * Whether this turn has done its share, so that `next` is to be awaited before more is begun. It is asked for every
   * request, and to wait for the end of every turn would cost each a round of the loop: so the end is waited for only
   * when a share of time has gone by.
   */
  get isSpent (): boolean {
    const now = this.#timer()
    if (now - this.#since < this.#shareMs) return false
    if (this.#isArmed) return true
    this.#since = now
    this.#arm()
    return false
  }

  /**
   * Settles in a turn that has room, when it is the caller's.
   * @param caller who the work is for (`callerOf`), or what it is on
   */
  async next (caller: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(caller, resolve)
      if (!this.#isArmed) this.#arm()
    })
  }

  #arm (): void {
    this.#isArmed = true
    setImmediate(this.#turn)
  }

  readonly #turn = () => {
    this.#isArmed = false
    this.#since = this.#timer()
    if (this.#waiting.isEmpty) return
    this.#arm()
    this.#release()
  }

  /** Lets go on who is next, and more while there is time. */
  #release (): void {
    const resolve = this.#waiting.shift()
    if (resolve === undefined) return
    this.#begunAt = this.#timer()
    this.#ticks = TICKS
    resolve()
    queueMicrotask(this.#continue)
  }

  /** A tick comes when all microtasks are done, and so all that the piece which was let go does at once. */
  readonly #continue = () => { process.nextTick(this.#releaseMore) }

  readonly #releaseMore = () => {
    if (--this.#ticks > 0) {
      // All ticks that wait come before the microtasks of the first of them.
      queueMicrotask(this.#continue)
      return
    }
    const now = this.#timer()
    this.#waiting.charge(now - this.#begunAt)
    if (now - this.#since < this.#shareMs) this.#release()
  }
}

/** There is one event loop, so there is one budget of it for all that a process does. */
export const turns = new TurnBudget()

/**
 * Maps in pieces of a turn.
 * @param caller as in TurnBudget.next
 * @param map about a millisecond or less each; what takes longer asks for its turns itself
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
