import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface RawResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** A connection on which a test writes bytes and reads HTTP/1.1 answers, in order. */
export class RawConnection {
  readonly socket: Socket
  /** Settles when the connection is closed, for whatever reason. */
  readonly closed: Promise<void>
  #received = Buffer.alloc(0)
  #isClosed = false

  private constructor (socket: Socket) {
    this.socket = socket
    socket.on('data', (data: Buffer) => { this.#received = Buffer.concat([this.#received, data]) })
    // A connection that is reset is closed like any other.
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true
        resolve()
      })
    })
  }

  static async open (t: Test, url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const connection = new RawConnection(socket)
    t.teardown(() => { socket.destroy() })
    await once(socket, 'connect')
    return connection
  }

  write (bytes: string | Buffer): void {
    this.socket.write(bytes)
  }

  /** The next whole answer. @throws when the connection ends before it */
  async response (): Promise<RawResponse> {
    for (;;) {
      const found = parse(this.#received)
      if (found !== undefined) {
        this.#received = this.#received.subarray(found.length)
        return found.response
      }
      if (this.#isClosed) throw new Error(`the connection ended after ${JSON.stringify(this.#received.toString())}`)
      await Promise.race([once(this.socket, 'data'), this.closed])
    }
  }

  /** The next answer, or undefined when the connection ends before it. */
  async responseOrEnd (): Promise<RawResponse | undefined> {
    return await this.response().catch(() => undefined)
  }

  /** Received bytes that are not a complete answer yet. */
  get rest (): string {
    return this.#received.toString()
  }
}

/** A request as text. */
export function request (
  method: string, path: string, { headers = {}, body }: { headers?: Record<string, string>, body?: string } = {},
): string {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: 'localhost', ...length, ...headers }).map(([name, value]) => (
    `${name}: ${value}\r\n`
  ))
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

export function post (path: string, body: unknown, headers: Record<string, string> = {}): string {
  return request('POST', path, {
    headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body),
  })
}

export function chunk (data: string): string {
  return `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`
}

function parse (received: Buffer): { response: RawResponse, length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine, ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim(),
  ]))
  const status = Number(statusLine!.split(' ')[1])
  const start = headEnd + 4
  const body = status < 200 || status === 204
    ? { text: '', end: start }
    : headers['transfer-encoding'] === 'chunked'
      ? readChunks(received, start)
      : readLength(received, start, Number(headers['content-length'] ?? 0))
  return body === undefined ? undefined : { response: { status, headers, body: body.text }, length: body.end }
}

function readLength (received: Buffer, start: number, length: number): { text: string, end: number } | undefined {
  const end = start + length
  return received.length < end ? undefined : { text: received.subarray(start, end).toString(), end }
}

function readChunks (received: Buffer, start: number): { text: string, end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = start; ;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(received.subarray(at, lineEnd).toString(), 16)
    const next = lineEnd + 2 + size + 2
    if (received.length < next) return undefined
    if (size === 0) return { text: Buffer.concat(parts).toString(), end: next }
    parts.push(received.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}
