import { Agent } from 'node:http'
import { performance } from 'node:perf_hooks'
import { exchange } from './http-exchange.js'

export interface TimedAnswer {
  body: unknown
  /** Time from before the request is written until the answer is parsed. */
  durationMs: number
}

/** Speaks JSON with one server over one kept-alive connection. A status other than 2xx is an error. */
export class JsonClient {
  readonly #base: URL
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  /** @param url of the server, without a path */
  constructor (url: string) {
    this.#base = new URL(url)
    if (this.#base.protocol !== 'http:') throw new Error(`${url} is not an http:// URL`)
  }

  /** @param body a value, or a string that is JSON already */
  async post (path: string, body: unknown): Promise<TimedAnswer> {
    return await this.#send('POST', path, typeof body === 'string' ? body : JSON.stringify(body))
  }

  async get (path: string): Promise<TimedAnswer> {
    return await this.#send('GET', path)
  }

  close (): void {
    this.#agent.destroy()
  }

  async #send (method: 'GET' | 'POST', path: string, payload?: string): Promise<TimedAnswer> {
    const started = performance.now()
    const { status, text } = await exchange(new URL(path, this.#base), { method, agent: this.#agent, body: payload })
    if (status < 200 || status > 299) throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`)
    const body: unknown = JSON.parse(text)
    return { body, durationMs: performance.now() - started }
  }
}
