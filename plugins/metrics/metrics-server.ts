import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorBody, errorHeaders, HttpError, statusOf } from '../../http/error-responses.js'
import { hostNotAllowed, isServedHost } from '../../http/served-hosts.js'
import { listenHost, ListenError } from '../../http/listen-error.js'
import { ServiceError } from '../../lib/errors/service-error.js'
import { requestId } from '../request-log.js'

interface MetricsServerOptions {
  host: string
  /** 0 lets the system choose. */
  port: number
  /** The names in Host that are served besides loopback ones. Default: all, because a scrape needs no rights. */
  allowedHosts?: readonly string[] | undefined
  contentType: string
  render: () => Promise<string>
  /** Gets the cause of a failed scrape, for the log. */
  onFailure: (cause: unknown, requestId: string) => void
}

const METHODS = ['GET', 'HEAD']
/** Its connections take descriptors that the gateway's own port needs, and Prometheus uses one. */
const MAX_CONNECTIONS = 32
/** Milliseconds without a byte sent or read after which a connection is closed. */
const IDLE_TIMEOUT_MS = 10_000

/**
 * A server for GET /metrics only. Its errors have the format of all other routes. Anyone who reaches the port may ask,
 * so its work is bounded: scrapes at the same time share one text, and a connection that sends a request before the
 * answer to its last one is closed.
 */
export class MetricsServer {
  readonly #server: Server

  private constructor (server: Server) {
    this.#server = server
  }

  /** @throws ListenError */
  static async listen ({ host, port, render, ...page }: MetricsServerOptions): Promise<MetricsServer> {
    let running: Promise<string> | undefined
    const shared = async () => await (running ??= render().finally(() => { running = undefined }))
    const server = createServer({ headersTimeout: 5000, requestTimeout: 10_000 }, (request, response) => {
      // A response without the socket waits for an earlier one of its connection.
      if (response.socket === null) request.socket.destroy()
      else void answer(request, response, { ...page, render: shared })
    })
    server.maxConnections = MAX_CONNECTIONS
    server.setTimeout(IDLE_TIMEOUT_MS)
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
  request: IncomingMessage,
  response: ServerResponse,
  { contentType, allowedHosts, render, onFailure }: Omit<MetricsServerOptions, 'host' | 'port'>,
): Promise<void> {
  const id = requestId(request)
  const send = (status: number, body: string, headers: Record<string, string>) => {
    response.writeHead(status, { 'x-request-id': id, 'content-length': Buffer.byteLength(body), ...headers })
    response.end(body)
  }
  try {
    if (allowedHosts !== undefined) checkHost(request, allowedHosts)
    checkTarget(request)
    send(200, await render(), { 'content-type': contentType })
  } catch (error) {
    const known = error instanceof ServiceError ? error : new ServiceError('internal_error', 'Internal server error')
    if (known !== error) onFailure(error, id)
    send(statusOf(known), JSON.stringify(errorBody(known, id)), {
      'content-type': 'application/json; charset=utf-8', ...errorHeaders(known),
    })
  }
}

/** As plugins/host-names.ts. @throws ServiceError host_not_allowed */
function checkHost ({ headers: { host }, socket }: IncomingMessage, allowed: readonly string[]): void {
  const { localAddress } = socket
  if (host !== undefined && !isServedHost(host, localAddress, allowed)) throw hostNotAllowed('SERVICES_ALLOWED_HOSTS')
}

/** @throws ServiceError not_found, method_not_allowed */
function checkTarget ({ method = '', url = '' }: IncomingMessage): void {
  if (url.split('?', 1)[0] !== '/metrics') throw new ServiceError('not_found', 'No such route')
  if (METHODS.includes(method)) return
  throw new HttpError('method_not_allowed', 'Method not allowed', { allow: METHODS.join(', ') })
}
