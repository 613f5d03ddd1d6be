import { Agent, request, type IncomingHttpHeaders } from 'node:http'

/** A server that does not answer for this long counts as ended. */
const LIMIT_MS = 30_000

export interface Exchange {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** A client of one server, with as many connections as concurrent requests. An answer of any status is returned. */
export class HttpClient {
  readonly #base: URL
  readonly #agent = new Agent({ keepAlive: true })

  /** @param url of the server, without a path */
  constructor (url: string) {
    this.#base = new URL(url)
  }

  /** @throws when the connection breaks before the last byte of the answer */
  async post (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Exchange> {
    return await this.#exchange('POST', path, headers, JSON.stringify(body))
  }

  /** @throws as post() */
  async patch (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Exchange> {
    return await this.#exchange('PATCH', path, headers, JSON.stringify(body))
  }

  /** @throws as post() */
  async get (path: string): Promise<Exchange> {
    return await this.#exchange('GET', path, {})
  }

  close (): void {
    this.#agent.destroy()
  }

  async #exchange (method: string, path: string, headers: Record<string, string>, payload?: string): Promise<Exchange> {
    return await new Promise((resolve, reject) => {
      const entity = payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
      const options = { method, agent: this.#agent, headers: { ...entity, ...headers } }
      const outgoing = request(new URL(path, this.#base), options, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => { chunks.push(chunk) })
        incoming.on('end', () => {
          const { statusCode = 0, headers, complete } = incoming
          if (complete) resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString() })
          else reject(new Error('the connection ended in the middle of the answer'))
        })
        incoming.on('error', reject)
      })
      outgoing.setTimeout(LIMIT_MS, () => { outgoing.destroy(new Error(`no answer within ${LIMIT_MS} ms`)) })
      outgoing.on('error', reject)
      outgoing.end(payload)
    })
  }
}
