import { request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { OWNER } from './target.js'

/** The time limit for an answer. */
export const ANSWER_LIMIT_MS = 120_000
const MAX_STORED_CHARACTERS = 4096

export interface Sent {
  /** A status, `closed` when the connection was closed without one, or `timeout`. */
  status: string
  /** Of an error. */
  code: string | undefined
  /** The beginning of the answer. */
  text: string
  bytes: number
  milliseconds: number
}

export interface Request {
  method?: string
  path: string
  /** Null: anonymous. Default: the owner. */
  principal?: string | null
  /** A list is sent as one header for each of its values. */
  headers?: Record<string, string | readonly string[]>
  body?: string | Buffer
  limitMs?: number
}

export const JSON_TYPE = { 'content-type': 'application/json' }
export const NDJSON_TYPE = { 'content-type': 'application/x-ndjson' }

/**
 * Sends one request on a new connection and reads the whole answer. It never throws: failures have a status of their
 * own.
 */
export async function send (
  target: { port: number }, { method, path, principal = OWNER, headers = {}, body, limitMs = ANSWER_LIMIT_MS }: Request,
): Promise<Sent> {
  const startedAt = performance.now()
  const got = { status: 'closed', text: '', bytes: 0 }
  await new Promise<void>((resolve) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: target.port,
      path,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      agent: false,
      headers: {
        ...(principal !== null && { 'x-service-principal': principal }),
        ...(body !== undefined && { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    })
    const timer = setTimeout(() => {
      got.status = 'timeout'
      outgoing.destroy()
    }, limitMs)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    outgoing.on('response', (incoming: IncomingMessage) => {
      got.status = String(incoming.statusCode)
      incoming.on('data', (chunk: Buffer) => {
        got.bytes += chunk.length
        if (got.text.length < MAX_STORED_CHARACTERS) {
          got.text += chunk.toString('latin1').slice(0, MAX_STORED_CHARACTERS - got.text.length)
        }
      })
      incoming.on('error', () => {})
      incoming.on('close', () => {
        // A request that was refused early may still be being sent.
        outgoing.destroy()
        end()
      })
    })
    outgoing.on('error', end)
    outgoing.on('close', end)
    outgoing.end(body)
  })
  return { ...got, code: /"code":"([a-z_]+)"/.exec(got.text)?.[1], milliseconds: performance.now() - startedAt }
}

/** Sends a request that has to succeed. @throws Error when the answer is not 2xx */
export async function sendOk (target: { port: number }, given: Request): Promise<Sent> {
  const sent = await send(target, given)
  if (!sent.status.startsWith('2')) {
    throw new Error(`${given.method ?? ''} ${given.path} answered ${sent.status}: ${sent.text.slice(0, 300)}`)
  }
  return sent
}

/** Counts answers by status. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add (...sent: ReadonlyArray<{ status: string }>): void {
    for (const { status } of sent) this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1)
  }

  statuses (): string[] {
    return [...this.#counts.keys()]
  }

  count (status: string): number {
    return this.#counts.get(status) ?? 0
  }

  toString (): string {
    if (this.#counts.size === 0) return '-'
    return [...this.#counts].sort().map(([status, count]) => count === 1 ? status : `${status} x${count}`).join(', ')
  }
}

/** Runs `work` for all items, at most `width` at a time. */
export async function runConcurrently<T> (
  width: number, items: readonly T[], work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, async () => {
    while (next < items.length) {
      const index = next++
      await work(items[index]!, index)
    }
  }))
}

/** A connection on which bytes are written unchanged. */
export function openSocket (target: { port: number }): Socket {
  const socket = connect({ port: target.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  return socket
}

/** The bytes of a request, for openSocket(). */
export function rawRequest ({ method, path, principal = OWNER, headers = {}, body = '' }: Request): string {
  const lines = Object.entries({
    host: '127.0.0.1', ...(principal !== null && { 'x-service-principal': principal }), ...headers,
  }).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`)).join('')
  const length = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return `${method ?? (body === '' ? 'GET' : 'POST')} ${path} HTTP/1.1\r\n${lines}${length}\r\n${body.toString()}`
}

/** The status of the first answer in what a socket has read. */
export function statusIn (text: string): string | undefined {
  return /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]
}
