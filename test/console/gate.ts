import type { Route } from 'playwright-core'

/** Holds the requests that a test chooses until it lets them go. */
export class Gate {
  readonly #held: Route[] = []
  #wake = () => {}

  readonly hold = (route: Route): void => {
    this.#held.push(route)
    this.#wake()
  }

  /** Waits until as many are held. */
  async has (count: number): Promise<void> {
    while (this.#held.length < count) await new Promise<void>((resolve) => { this.#wake = resolve })
  }

  /** What was aborted meanwhile is gone. */
  async release (): Promise<void> {
    for (const route of this.#held.splice(0)) await route.continue().catch(() => {})
  }
}
