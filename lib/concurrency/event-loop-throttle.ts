/**
 * Pieces of work that one turn of the event loop begins; with about a millisecond each, what else waits for the loop hardly notices. Fewer
 * would starve a crowd while the loop has other work: its turns are long then.
 */
const PER_TURN = 4

/**
 * Work that comes in crowds is begun a few pieces a turn of the event loop, first come first served. Without it, hundreds of requests that
 * come in the same moment, or run out of time in the same moment, are worked on in one go, and all else waits for the last of them:
 * liveness, answers of models, other requests' timers.
 */
export class EventLoopThrottle {
  readonly #waiting: Array<() => void> = []
  readonly #perTurn: number
  #runners = 0

  constructor (perTurn = PER_TURN) {
    this.#perTurn = perTurn
  }

  /** Settles when it is the caller's turn. */
  async next (): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      if (this.#runners >= this.#perTurn) return
      this.#runners++
      setImmediate(this.#run)
    })
  }

  /** What one piece does at once (its microtasks) is done before the next immediate, so each runner begins one piece a turn. */
  readonly #run = () => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(this.#run)
    else this.#runners--
  }
}
