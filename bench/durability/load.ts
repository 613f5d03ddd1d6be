import { setTimeout as delay } from 'node:timers/promises'
import type { HttpClient } from './http-client.js'
import { BATCH, KINDS, send, type Contents, type Kind, type Planned, type Write } from './writes.js'

/** Milliseconds that a client waits after an error before it continues. */
const PAUSE_MS = 50

export interface LoadOptions {
  client: HttpClient
  clients: number
  round: number
  contents: Contents
  /** Whether clients continue after an error; otherwise they end, because the server has ended. */
  persistent: boolean
}

/** Clients that retain without pause until they are stopped or the server has ended. */
export class Load {
  readonly writes: Write[] = []
  readonly #options: LoadOptions
  readonly #ended: Promise<unknown>
  #stopped = false
  #keys = 0

  constructor (options: LoadOptions) {
    this.#options = options
    this.#ended = Promise.all(
      Array.from({ length: options.clients }, (_, index) => this.#run(KINDS[index % KINDS.length]!)),
    )
  }

  async stop (): Promise<void> {
    this.#stopped = true
    await this.#ended
  }

  get clients (): number {
    return this.#options.clients
  }

  count (state: Write['outcome']['state']): number {
    return this.writes.filter(({ outcome }) => outcome.state === state).length
  }

  async #run (kind: Kind): Promise<void> {
    const { client, round, persistent } = this.#options
    let last: Write | undefined
    for (let step = 0; !this.#stopped; step++) {
      let planned = this.#plan(kind, step, last)
      while (planned.length > 0) {
        const writes = await Promise.all(planned.map(async (one) => await send(client, round, one)))
        this.writes.push(...writes)
        last = writes[0]
        if (writes.every(({ outcome }) => outcome.state === 'acknowledged')) break
        if (!persistent && writes.some(({ outcome }) => outcome.state === 'broken')) return
        await delay(PAUSE_MS)
        // A correct client repeats the request with the same key until it is answered.
        planned = this.#stopped
          ? []
          : planned.filter(({ key }, index) => key !== undefined && writes[index]!.outcome.state !== 'acknowledged')
      }
    }
  }

  /** The requests that a client sends concurrently. @param last what it sent before */
  #plan (kind: Kind, step: number, last: Write | undefined): Planned[] {
    const { contents, round } = this.#options
    const one = () => contents.several(1, round, kind)
    const batch = () => contents.several(BATCH, round, kind)
    if (kind === 'single') return [{ kind, contents: one() }]
    if (kind === 'batch') return [{ kind, contents: batch() }]
    if (kind === 'keyed') return [{ kind, contents: step % 2 === 0 ? one() : batch(), key: this.#key() }]
    if (kind === 'changing') {
      const changes = step % 3 === 1 && last?.outcome.state === 'acknowledged' ? last.outcome.memoryIds[0] : undefined
      return [{ kind, contents: step % 3 === 2 ? batch() : one(), changes }]
    }
    // The same content is sent twice at the same time: as one memory, as a batch in both orders, or as one request.
    const shared = step % 3 === 0 ? one() : batch()
    if (step % 3 !== 2) return [{ kind, contents: shared }, { kind, contents: shared.toReversed() }]
    const key = this.#key()
    return [{ kind, contents: shared, key }, { kind, contents: shared, key }]
  }

  #key (): string {
    return `round-${this.#options.round}-${++this.#keys}`
  }
}
