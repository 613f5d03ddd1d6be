import { Agent, get } from 'node:http'
import { performance } from 'node:perf_hooks'
import { exchange } from '../http-exchange.js'

export type Mode = 'plain' | 'stream'

export interface ReflectResult {
  /** Status and code, `200` or `429 overloaded`; for a stream that broke off `200, then deadline_exceeded`. */
  outcome: string
  /** Time from before the request is written until the answer has ended. */
  durationMs: number
}

/** Sends reflect requests over kept-alive connections. */
export class ReflectClient {
  readonly #url: URL
  readonly #agent: Agent

  constructor (url: string, connections: number) {
    this.#url = new URL('/v1/reflect', url)
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
  }

  /** @param body JSON @throws Error for a malformed answer with status 200, and when the connection fails */
  async reflect (body: string, mode: Mode): Promise<ReflectResult> {
    const startedAt = performance.now()
    const { status, text } = await exchange(this.#url, {
      method: 'POST',
      agent: this.#agent,
      headers: { accept: mode === 'stream' ? 'text/event-stream' : 'application/json' },
      body,
    })
    const durationMs = performance.now() - startedAt
    return { outcome: mode === 'stream' && status === 200 ? streamOutcome(text) : outcome(status, text), durationMs }
  }

  /** Opens connections, which the next requests use. */
  async connect (connections: number): Promise<void> {
    await Promise.all(Array.from({ length: connections }, async () => {
      await new Promise<void>((resolve, reject) => {
        get(new URL('/live', this.#url), { agent: this.#agent }, (incoming) => { incoming.resume().on('end', resolve) })
          .on('error', reject)
      })
    }))
  }

  close (): void {
    this.#agent.destroy()
  }
}

function outcome (status: number, text: string): string {
  if (status !== 200) return `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? 'without a code'}`
  if (!text.includes('"abstained":false')) throw new Error(`A reflect had no answer: ${text.slice(0, 500)}`)
  return '200'
}

/** Determines the outcome of a stream from its last event. */
export function streamOutcome (text: string): string {
  const last = text.trimEnd().split('\n\n').at(-1) ?? ''
  if (last.startsWith('event: done\n')) return outcome(200, last)
  const code = last.startsWith('event: error\n') ? /"code":"(\w+)"/.exec(last)?.[1] : undefined
  if (code === undefined) throw new Error(`A stream ended in the middle: ${text.slice(-500)}`)
  return `200, then ${code}`
}
