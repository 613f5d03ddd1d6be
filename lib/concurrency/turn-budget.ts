/**
 * Milliseconds of work that one turn of the event loop begins, or twice that when nobody has asked for a while. Whoever has more to do goes
 * on in a later turn; between two turns the loop takes in what came from sockets, timers and the database.
 */
const SHARE_MS = 6

/**
 * Shares the event loop out, in time and between callers. Work that may take more than a millisecond asks `isSpent` before each of its
 * pieces and awaits `next` when it is:
 *
 *     if (turns.isSpent) await turns.next(caller)
 *
 * However many requests do so at the same moment, one turn of the loop takes about SHARE_MS and the longest single piece. Those that wait
 * are let go on one piece a caller, in a ring, so that a caller with much to do does not hold up the others.
 */
export class TurnBudget {
  readonly #timer: () => number
  readonly #shareMs: number
  /** Those who wait, by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string, Array<() => void>>()
  /** Since when the time of the turn is counted. */
  #since = -Infinity
  /** Whether the end of the turn is waited for. */
  #isArmed = false

  constructor ({ shareMs = SHARE_MS, timer = () => performance.now() }: { shareMs?: number, timer?: () => number } = {}) {
    this.#shareMs = shareMs
    this.#timer = timer
  }

  /**
   * Whether this turn has done its share, so that `next` is to be awaited before more is begun. It is asked for every request, and to wait
   * for the end of every turn would cost each a round of the loop: so the end is waited for only when a share of time has gone by.
   */
  get isSpent (): boolean {
    const now = this.#timer()
    if (now - this.#since < this.#shareMs) return false
    if (this.#isArmed) return true
    this.#since = now
    this.#arm()
    return false
  }

  /** Settles in a turn that has room, when it is the caller's. @param caller who the work is for (`callerOf`), or what it is on */
  async next (caller: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(caller)
      if (waiting === undefined) this.#waiting.set(caller, [resolve])
      else waiting.push(resolve)
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
    if (this.#waiting.size === 0) return
    this.#arm()
    this.#release()
  }

  /** Lets go on who is next, and more while there is time. */
  readonly #release = () => {
    const first = this.#waiting.entries().next()
    if (first.done === true) return
    const [caller, waiting] = first.value
    this.#waiting.delete(caller)
    const resolve = waiting.shift()
    if (waiting.length > 0) this.#waiting.set(caller, waiting)
    resolve?.()
    queueMicrotask(this.#continue)
  }

  /** A tick comes when all microtasks are done, and so all that the piece which was let go does at once. */
  readonly #continue = () => { process.nextTick(this.#releaseMore) }

  readonly #releaseMore = () => {
    if (this.#timer() - this.#since < this.#shareMs) this.#release()
  }
}

/** There is one event loop, so there is one budget of it for all that a process does. */
export const turns = new TurnBudget()

/**
 * Maps in pieces of a turn.
 * @param caller as in TurnBudget.next
 * @param map about a millisecond or less each; what takes longer asks for its turns itself
 */
export async function mapInTurns<T, R> (items: Iterable<T>, caller: string, map: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    if (turns.isSpent) await turns.next(caller)
    results.push(map(item, results.length))
  }
  return results
}
