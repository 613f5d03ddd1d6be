import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenHost, ListenError } from '../../http/listen-error.js'

export interface MetricsServerOptions {
  host: string
  /** 0 lets the system choose. */
  port: number
  contentType: string
  render: () => Promise<string>
}

const PLAIN = 'text/plain; charset=utf-8'

/** A server for GET /metrics only. */
export class MetricsServer {
  readonly #server: Server

  private constructor (server: Server) {
    this.#server = server
  }

  /** @throws ListenError */
  static async listen ({ host, port, ...page }: MetricsServerOptions): Promise<MetricsServer> {
    const server = createServer({ headersTimeout: 5000, requestTimeout: 10_000 }, (request, response) => {
      void answer(request, response, page)
    })
    server.listen(port, listenHost(host))
    try {
      await once(server, 'listening')
    } catch (error) {
      throw new ListenError('SERVICES_HOST, SERVICES_METRICS_PORT', host, port, error)
    }
    return new MetricsServer(server)
  }

  get url (): string {
    const { address, family, port } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`
  }

  /** Interrupts scrapes in progress, so that a slow scraper does not delay the stop. */
  async close (): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }
}

async function answer (
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  { contentType, render }: Pick<MetricsServerOptions, 'contentType' | 'render'>,
): Promise<void> {
  const send = (status: number, type: string, body: string) => {
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  const known = (method === 'GET' || method === 'HEAD') && url.split('?', 1)[0] === '/metrics'
  if (!known) {
    send(404, PLAIN, 'Here is GET /metrics and nothing else.\n')
    return
  }
  try {
    send(200, contentType, await render())
  } catch {
    send(500, PLAIN, 'The metrics cannot be had.\n')
  }
}
