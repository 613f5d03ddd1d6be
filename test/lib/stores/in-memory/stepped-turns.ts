/** Every piece is a turn of its own, which the test lets go on. */
export class SteppedTurns {
  isExhausted = true
  #waiting: Array<() => void> = []

  /** Pieces of work that wait for their turn. */
  get waiting (): number {
    return this.#waiting.length
  }

  async next (): Promise<void> {
    await new Promise<void>((resolve) => { this.#waiting.push(resolve) })
  }

  /** Lets everything that waits do one piece. @returns whether anything waited */
  async step (): Promise<boolean> {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
    await new Promise<void>((resolve) => { setImmediate(resolve) })
    return waiting.length > 0
  }

  async finish<T> (work: Promise<T>): Promise<T> {
    const state = { isDone: false }
    void work.finally(() => { state.isDone = true }).catch(() => {})
    while (!state.isDone) await this.step()
    return await work
  }

  async drain (): Promise<void> {
    while (await this.step()) ;
  }

  /** Reads at once, while all work in progress is paused. */
  async atOnce<T> (read: () => Promise<T>): Promise<T> {
    this.isExhausted = false
    const result = await read()
    this.isExhausted = true
    return result
  }
}
