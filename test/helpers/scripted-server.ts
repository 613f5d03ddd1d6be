import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  /** Settles when the exchange is over: whether the client left before it had the whole answer. */
  over: Promise<'answered' | 'left'>
}

/** The behaviour of a server for a request. A behaviour for any request can be used with every server. */
export type Behaviour<R extends ReceivedRequest = ReceivedRequest> =
  (request: R, response: ServerResponse) => void | Promise<void>

/** An HTTP server on the loopback interface that records its requests and answers each as a test says. */
export class ScriptedServer<R extends ReceivedRequest = ReceivedRequest> {
  readonly requests: R[] = []
  /** The highest number of requests that were under way together. */
  mostAtOnce = 0
  readonly #server = createServer((request, response) => { void this.#serve(request, response) })
  readonly #script: Array<Behaviour<R>> = []
  readonly #waiting: Array<() => void> = []
  readonly #right: Behaviour<R>
  readonly #understand: (request: ReceivedRequest) => R | undefined
  #usual: Behaviour<R>
  #atOnce = 0

  /**
   * @param right what is done with a request unless a test says otherwise
   * @param understand makes of a request what a test sees; undefined: there is no such path, the answer is 404
   */
  constructor (right: Behaviour<R>, understand: (request: ReceivedRequest) => R | undefined) {
    this.#right = right
    this.#usual = right
    this.#understand = understand
  }

  /** Without a slash at its end. */
  get origin (): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Address that the paths of the API follow. */
  get url (): string {
    return `${this.origin}/v1`
  }

  /** The next requests are met like this, one after the other. */
  next (...behaviours: Array<Behaviour<R>>): void {
    this.#script.push(...behaviours)
  }

  /** All requests that no script is for are met like this. */
  always (behaviour: Behaviour<R>): void {
    this.#usual = behaviour
  }

  /** Requests are met like this, but not before the returned function is called. */
  hold (behaviour: Behaviour<R> = this.#right): () => void {
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => { release = resolve })
    this.always(async (request, response) => {
      await released
      await behaviour(request, response)
    })
    return release
  }

  /**
   * So many requests are answered when all of them have come, which shows that they are under way together; those after
   * them take a moment.
   */
  gather (count: number): void {
    const together = this.requests.length + count
    this.next(...Array.from({ length: count }, (): Behaviour<R> => async (request, response) => {
      await this.received(together)
      await this.#right(request, response)
    }))
    this.always(after(3, this.#right))
  }

  /** Settles when so many requests have come since the start. @returns the last of them */
  async received (count: number): Promise<R> {
    while (this.requests.length < count) await new Promise<void>((resolve) => { this.#waiting.push(resolve) })
    return this.requests[count - 1]!
  }

  async listen (): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Stops listening and closes every connection abruptly. */
  async close (): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #serve (incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce)
    const over = once(response, 'close').then(() => response.writableFinished ? 'answered' as const : 'left' as const)
    let counted = true
    const discount = () => {
      if (counted) this.#atOnce--
      counted = false
    }
    void over.then(discount)
    // A client that disconnects in the middle of its request is no fault of the server.
    const body = await readBody(incoming).catch(() => '{}')
    const url = new URL(incoming.url ?? '', 'http://server')
    const request = this.#understand({
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: JSON.parse(body) as Record<string, unknown>,
      over,
    })
    if (request === undefined) {
      response.writeHead(404).end()
      return
    }
    const behaviour = this.#script.shift() ?? this.#usual
    this.requests.push(request)
    for (const told of this.#waiting.splice(0)) told()
    await behaviour(request, response)
    // The next request may come before this one's connection knows that it is through.
    if (response.writableEnded) discount()
  }
}

/**
 * An address without a listener: connections to it are refused. A port that a server has left may get another one, of a
 * test beside; nobody listens at port 2.
 */
export const UNUSED_URL = 'http://127.0.0.1:2'

export function sendJson (response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

/** An answer that is given without a look at the request. */
export function answering (status: number, body: string | Buffer, headers: Record<string, string> = {}): Behaviour {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }
}

/** Does the same after a delay. */
export function after<R extends ReceivedRequest> (milliseconds: number, behaviour: Behaviour<R>): Behaviour<R> {
  return async (request, response) => {
    await new Promise((resolve) => { setTimeout(resolve, milliseconds) })
    await behaviour(request, response)
  }
}

/** Reads the request and sends nothing. */
export const silent: Behaviour = () => {}

/** Closes the connection without an answer. */
export const hangUp: Behaviour = (_request, response) => { response.socket?.destroy() }

/** Sends a beginning and then the same again and again, as fast as the client takes it, until it leaves. */
export function sendEndlessly (response: ServerResponse, contentType: string, beginning: string, again: Buffer): void {
  response.writeHead(200, { 'content-type': contentType })
  response.write(beginning)
  const send = () => {
    while (!response.destroyed) if (!response.write(again)) return
  }
  response.on('drain', send)
  send()
}

async function readBody (request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
