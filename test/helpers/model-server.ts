import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Length of the server's vectors. */
export const DIMENSIONS = 8

export interface ReceivedRequest {
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  /** Settles when the exchange is over: whether the client left before it had the whole answer. */
  over: Promise<'answered' | 'left'>
}

/** What the server does with a request. */
export type Behaviour = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>

/** Models behind HTTP on the loopback interface: POST /v1/embeddings and /v1/rerank, answered right unless a test says otherwise. */
export class ModelServer {
  readonly requests: ReceivedRequest[] = []
  /** The highest number of requests that were under way together. */
  mostAtOnce = 0
  readonly #server = createServer((request, response) => { void this.#serve(request, response) })
  readonly #script: Behaviour[] = []
  readonly #waiting: Array<() => void> = []
  #usual: Behaviour = correct
  #atOnce = 0

  get url (): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** The texts of the embedding requests, in the order they came. */
  get batches (): string[][] {
    return this.requests.map(({ body }) => body['input'] as string[])
  }

  /** The next requests are met like this, one after the other. */
  next (...behaviours: Behaviour[]): void {
    this.#script.push(...behaviours)
  }

  /** All requests that no script is for are met like this. */
  always (behaviour: Behaviour): void {
    this.#usual = behaviour
  }

  /** Requests are answered right, but not before the returned function is called. */
  hold (): () => void {
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => { release = resolve })
    this.always(async (request, response) => {
      await released
      await correct(request, response)
    })
    return release
  }

  /** So many requests are answered when all of them have come, which shows that they are under way together; those after them take a moment. */
  gather (count: number): void {
    const together = this.requests.length + count
    this.next(...Array.from({ length: count }, (): Behaviour => async (request, response) => {
      await this.received(together)
      await correct(request, response)
    }))
    this.always(slow(3))
  }

  /** Settles when so many requests have come since the start. */
  async received (count: number): Promise<ReceivedRequest> {
    while (this.requests.length < count) await new Promise<void>((resolve) => { this.#waiting.push(resolve) })
    return this.requests[count - 1]!
  }

  async listen (): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Listens no more and breaks every connection. */
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
    // A client that leaves in the middle of its request is no fault of the server's.
    const body = await readBody(incoming).catch(() => '{}')
    const url = new URL(incoming.url ?? '', 'http://server')
    const request: ReceivedRequest = {
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: JSON.parse(body) as Record<string, unknown>,
      over,
    }
    const behaviour = this.#script.shift() ?? this.#usual
    this.requests.push(request)
    for (const told of this.#waiting.splice(0)) told()
    await behaviour(request, response)
    // The next request may come before this one's connection knows that it is through.
    if (response.writableEnded) discount()
  }
}

/** A server that is closed when the test ends. */
export async function startModelServer (t: Test): Promise<ModelServer> {
  const server = new ModelServer()
  await server.listen()
  t.teardown(async () => { await server.close() })
  return server
}

/** The vector that the server makes of a text: the same every time, and far from that of any other text. */
export function vectorOf (text: string, dimensions = DIMENSIONS): number[] {
  const bytes = createHash('sha256').update(text).digest()
  return Array.from({ length: dimensions }, (_, index) => bytes[index % bytes.length]! / 128 - 1)
}

/** The score that the server gives a text: how many words of the query stand in it. */
export function scoreOf (query: string, text: string): number {
  return query.split(' ').filter((word) => text.includes(word)).length
}

/** What the protocol asks for, whichever of them the request speaks. */
export const correct: Behaviour = ({ body }, response) => {
  if (Array.isArray(body['input'])) sendJson(response, embeddings((body['input'] as string[]).map((text) => vectorOf(text))))
  else if (Array.isArray(body['texts'])) sendJson(response, ranked(String(body['query']), body['texts'] as string[]).map(({ index, score }) => ({ index, score })))
  else sendJson(response, { results: ranked(String(body['query']), body['documents'] as string[]).map(({ index, score }) => ({ index, relevance_score: score })) })
}

/** An answer of embeddings with these vectors. */
export function embeddings (vectors: unknown[]): object {
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'test',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  }
}

/** Best first, as rerankers answer. */
function ranked (query: string, texts: readonly string[]): Array<{ index: number, score: number }> {
  return texts.map((text, index) => ({ index, score: scoreOf(query, text) })).sort((a, b) => b.score - a.score)
}

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

/** A right answer, late. */
export function slow (milliseconds: number): Behaviour {
  return async (request, response) => {
    await new Promise((resolve) => { setTimeout(resolve, milliseconds) })
    await correct(request, response)
  }
}

/** Takes the request and says nothing. */
export const silent: Behaviour = () => {}

/** Closes the connection before a word. */
export const hangUp: Behaviour = (_request, response) => { response.socket?.destroy() }

/** Promises a long answer, sends its beginning and closes the connection. */
export const cutInTheMiddle: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"data":[', () => { response.socket?.destroy() })
}

/** Sends the beginning of an answer and no more. */
export const stallInTheMiddle: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"data":[')
}

/** Sends spaces until the client leaves. */
export const endless: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = Buffer.alloc(256 * 1024, ' ')
  const send = () => {
    while (!response.destroyed) if (!response.write(chunk)) return
  }
  response.on('drain', send)
  send()
}

async function readBody (request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
