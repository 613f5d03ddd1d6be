import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { MemoryGatewayClient, type ClientOptions } from '../src/index.js'

export interface Received {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** An answer with the members that the client expects of any operation of these tests. */
export const ANSWER = {
  stored: true,
  memory_id: 'm-1',
  chunk_count: 1,
  deduplicated: false,
  results: [],
  hits: [],
  total_available: 0,
  truncated: false,
  usage: {},
  deleted_count: 0,
  memory_ids: [],
  bank_id: 'bank',
  memory_count: 0,
  last_retained_at: null,
  config_deleted: false,
  text: 'x',
  tags: [],
  config: {},
  effective: {},
  origin: {},
  ceilings: {},
  principal: 'user:ada',
  actor: null,
  tenant_id: null,
  on_behalf_of: null,
  answer: 'x',
  abstained: false,
  sources: [],
  imported: 1,
}

export type Behaviour = (response: ServerResponse, request: Received) => void | Promise<void>

/** A server on the loopback interface that gives the wrong answers that a test chooses. */
export class HostileServer {
  readonly requests: Received[] = []
  readonly #server = createServer((request, response) => { void this.#serve(request, response) })
  readonly #script: Behaviour[] = []
  #usual: Behaviour = hangUp

  /** Listens until the test ends. */
  static async start (t: Test): Promise<HostileServer> {
    const server = new HostileServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    t.teardown(async () => {
      server.#server.close()
      server.#server.closeAllConnections()
      await once(server.#server, 'close')
    })
    return server
  }

  get url (): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The next requests get these behaviours in order; later ones get the last. */
  meets (...behaviours: Behaviour[]): void {
    this.#script.push(...behaviours)
    this.#usual = behaviours.at(-1) ?? this.#usual
  }

  /** A client that never waits. `waits` has the milliseconds that it would have. */
  client (options: Partial<ClientOptions> = {}): { client: MemoryGatewayClient, waits: number[] } {
    const waits: number[] = []
    const timing = { random: () => 0.5, sleep: async (milliseconds: number) => { waits.push(milliseconds) } }
    return { client: new MemoryGatewayClient({ baseUrl: this.url, timing, ...options }), waits }
  }

  async #serve (incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    const request = { method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body }
    this.requests.push(request)
    await (this.#script.shift() ?? this.#usual)(response, request)
  }
}

export async function readBody (request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  // A client that disconnects in the middle of its request is no fault of the server.
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {}
  return Buffer.concat(chunks)
}

/** Closes the connection without an answer. */
export const hangUp: Behaviour = (response) => { response.socket?.destroy() }

/** Reads the request and sends nothing. */
export const silent: Behaviour = () => {}

export function answering (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  }
}

/** An error as the gateway answers it. */
export function refusing (status: number, code: string, headers: Record<string, string> = {}): Behaviour {
  return answering(
    status, { detail: `The detail of ${code}`, code, request_id: 'r-1' }, { 'x-request-id': 'r-1', ...headers },
  )
}

/** The head and the beginning of an answer, after which the connection is closed or stays open. */
export function beginning (type: string, text: string | Buffer, then: 'cut' | 'silence'): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': type })
    await new Promise<void>((resolve) => { response.write(text, () => { resolve() }) })
    if (then === 'cut') response.socket?.destroy()
  }
}
