import type { Route } from 'playwright-core'

/** Delays the requests that a test chooses until it releases them. */
export class Gate {
  readonly #held: Route[] = []
  #wake = () => {}

  readonly hold = (route: Route): void => {
    this.#held.push(route)
    this.#wake()
  }

  /** Waits until this number of requests is delayed. */
  async has (count: number): Promise<void> {
    while (this.#held.length < count) await new Promise<void>((resolve) => { this.#wake = resolve })
  }

  /** Requests that were aborted meanwhile are removed. */
  async release (): Promise<void> {
    for (const route of this.#held.splice(0)) await route.continue().catch(() => {})
  }
}
