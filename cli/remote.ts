import { isRecord, numberOf, recordOf, recordsOf, textOf, type Answer } from './answers.js'
import type { Connection } from './connection.js'
import { codeOf, CommandError, messageOf } from './failures.js'
import { readEvents, type ServerEvent } from './server-events.js'

const NDJSON = 'application/x-ndjson'
/** Banks of one page of the listing. */
const PAGE = 200

/** An answer that is no success. */
export class RemoteError extends CommandError {
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: number | undefined

  constructor (status: number, body: Answer) {
    const detail = textOf(body['detail']) ?? `the server answered with status ${status}`
    const code = textOf(body['code'])
    const requestId = textOf(body['request_id'])
    const told = [...(code === undefined ? [] : [code]), ...(requestId === undefined ? [] : [`request ${requestId}`])]
    super(`${detail}${told.length === 0 ? '' : ` (${told.join(', ')})`}${hintOf(status)}`)
    this.status = status
    this.code = code
    this.retryAfter = numberOf(body['retry_after_seconds'])
  }
}

function hintOf (status: number): string {
  return status === 401 ? '\nSet MEMORY_GATEWAY_API_KEY with MEMORY_GATEWAY_PRINCIPAL, or MEMORY_GATEWAY_TOKEN, or a profile; docs/command-line.md says how' : ''
}

interface Sent {
  headers: Record<string, string>
  body?: string
}

export interface ImportOptions {
  onConflict?: 'skip' | 'overwrite'
  config?: 'ignore' | 'apply'
}

/** The few calls of a server that the commands make. Its methods are named as those of the client package. */
export class Remote {
  readonly #connection: Connection
  readonly #signal: AbortSignal

  /** @param signal ends every call */
  constructor (connection: Connection, signal: AbortSignal) {
    this.#connection = connection
    this.#signal = signal
  }

  async retain (body: Answer): Promise<Answer> {
    return await this.#json('POST', '/v1/retain', body)
  }

  async recall (body: Answer): Promise<Answer> {
    return await this.#json('POST', '/v1/recall', body)
  }

  async forget (body: Answer): Promise<Answer> {
    return await this.#json('POST', '/v1/forget', body)
  }

  /** The banks that the caller may read, page after page. */
  async * listBanks (): AsyncGenerator<Answer, void> {
    let cursor: string | undefined
    do {
      const query = new URLSearchParams({ limit: String(PAGE), ...(cursor !== undefined && { cursor }) })
      const page = await this.#json('GET', `/v1/banks?${query.toString()}`)
      yield * recordsOf(page['banks'])
      cursor = textOf(page['next_cursor'])
    } while (cursor !== undefined)
  }

  /** The events of an answer that comes bit by bit. */
  async * reflectStream (body: Answer): AsyncGenerator<ServerEvent, void> {
    const response = await this.#send('POST', '/v1/reflect', {
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
    })
    for await (const event of readEvents(this.#bytes(response))) {
      if (event.event === 'error') throw new RemoteError(response.status, recordOf(event.data))
      yield event
    }
  }

  /** The bytes of a bank as NDJSON. */
  async exportBank (bankId: string): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#send('GET', `/v1/banks/${encodeURIComponent(bankId)}/export`, { headers: { accept: NDJSON } })
    return this.#bytes(response)
  }

  /** @param body NDJSON, a header line and then memories */
  async importBank (bankId: string, body: string, options: ImportOptions = {}): Promise<Answer> {
    const { onConflict = 'skip', config = 'ignore' } = options
    const query = new URLSearchParams({ on_conflict: onConflict, config })
    return await parseAnswer(await this.#send('POST', `/v1/banks/${encodeURIComponent(bankId)}/import?${query.toString()}`, {
      headers: { 'content-type': NDJSON },
      body,
    }))
  }

  async #json (method: string, path: string, body?: Answer): Promise<Answer> {
    if (body === undefined) return await parseAnswer(await this.#send(method, path, { headers: {} }))
    const headers = { 'content-type': 'application/json' }
    return await parseAnswer(await this.#send(method, path, { headers, body: JSON.stringify(body) }))
  }

  async #send (method: string, path: string, { headers, body }: Sent): Promise<Response> {
    const { url } = this.#connection
    const response = await this.#reaching(fetch(`${url}${path}`, {
      method,
      headers: { ...this.#credentials(), ...headers },
      // The key would go along to wherever the server points.
      redirect: 'error',
      signal: this.#signal,
      ...(body !== undefined && { body }),
    }))
    if (!response.ok) throw new RemoteError(response.status, await errorBody(response))
    return response
  }

  /** What the network does to a call, in words. */
  async #reaching<T> (call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      throw this.#unreachable(error)
    }
  }

  async * #bytes (response: Response): AsyncGenerator<Uint8Array, void> {
    try {
      if (response.body !== null) yield * response.body
    } catch (error) {
      throw this.#unreachable(error)
    }
  }

  #unreachable (error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason
    const cause = error instanceof Error ? error.cause : undefined
    const reason = codeOf(cause) ?? (cause === undefined ? messageOf(error) : messageOf(cause))
    const hint = reason === 'ECONNREFUSED' ? '; start it with `memory-gateway serve`, or set MEMORY_GATEWAY_URL' : ''
    return new CommandError(`the connection to ${this.#connection.url} failed (${reason})${hint}`, undefined, error)
  }

  #credentials (): Record<string, string> {
    const { apiKey, token, principal } = this.#connection
    return {
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(principal !== undefined && { 'x-service-principal': principal }),
    }
  }
}

async function parseAnswer (response: Response): Promise<Answer> {
  const value: unknown = await response.json().catch(() => undefined)
  if (!isRecord(value)) throw new CommandError('the answer is not that of a memory gateway; look at MEMORY_GATEWAY_URL')
  return value
}

/** A proxy in between may answer with something else. */
async function errorBody (response: Response): Promise<Answer> {
  return recordOf(await response.json().catch(() => undefined))
}
