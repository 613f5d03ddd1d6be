import {
  createMcpHandler, isLegacyRequest, type McpHttpHandler, ProtocolErrorCode, type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { unlessAborted } from '../lib/base/aborting.js'
import { withTimeLimit } from '../lib/base/deadline.js'
import { ServiceError } from '../lib/base/service-error.js'
import { isJsonObject, valueAt } from '../lib/base/json-object.js'

/** Maximum characters of an id, a method, the name of a tool and the URI of a resource. */
const MAX_IDENTIFIER = 8192
/** Maximum values of a message, of which its arguments count with their names and not with what is within them. */
export const MAX_MESSAGE_VALUES = 1000
/** How many more values a batch may have for each message after its first. */
const VALUES_OF_FURTHER_MESSAGE = 64
/** Maximum characters of the same texts and names; a client may show itself with an icon in its data. */
const MAX_MESSAGE_CHARACTERS = 262_144

/** What a body may still have. */
interface Room {
  values: number
  characters: number
}

/**
 * Bounds what the SDK reads of messages, all at once, before a tool is called: it validates them by several schemas,
 * each of which visits every value outside of the arguments, and it repeats identifiers and names in its responses.
 * @param messages one message, or those of a batch
 * @throws ServiceError invalid_request
 */
export function checkMessages (messages: readonly unknown[]): void {
  messages.forEach(checkIdentifiers)
  const more = VALUES_OF_FURTHER_MESSAGE * (messages.length - 1)
  const room = { values: MAX_MESSAGE_VALUES + more, characters: MAX_MESSAGE_CHARACTERS }
  for (const message of messages) count(message, room, valueAt(message, 'params.arguments'))
  if (isWithin(room)) return
  throw new ServiceError(
    'invalid_request',
    `A message has at most ${MAX_MESSAGE_VALUES} values and ${MAX_MESSAGE_CHARACTERS} characters besides its arguments`,
  )
}

function checkIdentifiers (message: unknown): void {
  for (const path of ['id', 'method', 'params.name', 'params.uri']) {
    const text = valueAt(message, path)
    if (typeof text === 'string' && text.length > MAX_IDENTIFIER) {
      throw new ServiceError('invalid_request', `The ${path} of a message has at most ${MAX_IDENTIFIER} characters`)
    }
  }
}

/** Takes a value from the room, and reads no more of it than fits. */
function count (value: unknown, room: Room, given: unknown): void {
  room.values -= 1
  if (typeof value === 'string') room.characters -= value.length
  if (typeof value !== 'object' || value === null) return
  for (const name in value) {
    if (isJsonObject(value)) room.characters -= name.length
    if (value === given) room.values -= 1
    else count((value as Record<string, unknown>)[name], room, given)
    if (!isWithin(room)) return
  }
}

function isWithin ({ values, characters }: Room): boolean {
  return values >= 0 && characters >= 0
}

/** The headers of a request that the protocol reads. */
const PROTOCOL_HEADERS = [
  'accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id',
] as const

/** The SDK requires an absolute address but does not use it. */
const ADDRESS = 'http://localhost/mcp'

/** Every operation has shorter limits, so only an answer that never comes takes so long. */
const ANSWER_TIMEOUT_MS = 3_600_000

interface McpExchange {
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parsed body, within the bounds of the gateway. */
  body: unknown
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  makeServer: () => Server
}

/** An HTTP response whose body is complete. */
interface McpResponse {
  status: number
  contentType: string | undefined
  body: string
}

/**
 * Streamable HTTP without sessions, for the revision 2026-07-28 and for those of 2024 and 2025. Every POST has a server
 * of its own and is answered with one JSON body, so nothing is kept between requests and no stream is held open.
 */
export class McpHttp {
  readonly #servers = new WeakMap<Request, () => Server>()
  readonly #modern: McpHttpHandler
  readonly #answerTimeoutMs: number

  /** @param onerror gets the protocol faults of clients */
  constructor (onerror: (error: Error) => void, answerTimeoutMs = ANSWER_TIMEOUT_MS) {
    this.#answerTimeoutMs = answerTimeoutMs
    // Node.js loads these classes on first use, which takes some 30 ms; here no request waits for it.
    void [Request, Response]
    this.#modern = createMcpHandler(({ requestInfo }) => {
      const make = requestInfo === undefined ? undefined : this.#servers.get(requestInfo)
      if (make === undefined) throw new Error('The exchange of an MCP request is not known')
      return make()
    }, { legacy: 'reject', onerror })
  }

  /** @throws the signal's reason when the client disconnects; ServiceError deadline_exceeded */
  async answer (exchange: McpExchange): Promise<McpResponse> {
    const { body } = exchange
    // The stream would stay open as long as the client wishes, and the server has no events to send on it.
    if (isListen(body)) return methodNotFound(body.id)
    const response = await withTimeLimit(this.#answerTimeoutMs, exchange.signal, async (signal) => (
      await this.#answerUntil(signal, exchange)
    ), () => new ServiceError('deadline_exceeded', 'The messages were not answered in time'))
    // The SDK answers a batch with one request like that request alone; JSON-RPC answers a batch with an array.
    return Array.isArray(body) && response.status === 200 && response.body.startsWith('{')
      ? { ...response, body: `[${response.body}]` }
      : response
  }

  async #answerUntil (signal: AbortSignal, { headers, body, makeServer }: McpExchange): Promise<McpResponse> {
    const request = new Request(ADDRESS, { method: 'POST', headers: protocolHeaders(headers), signal })
    if (await isLegacyRequest(request, body)) return await this.#answerLegacy(request, body, makeServer)
    this.#servers.set(request, makeServer)
    return await unlessAborted(this.#modern.fetch(request, { parsedBody: body }).then(complete), signal)
  }

  async #answerLegacy (request: Request, body: unknown, makeServer: () => Server): Promise<McpResponse> {
    const server = makeServer()
    // The SDK never answers a request that another message of its batch cancels, and would wait for that answer.
    server.setNotificationHandler('notifications/cancelled', () => {})
    // Without a generator of session ids, the transport has no sessions.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      return await unlessAborted(transport.handleRequest(request, { parsedBody: body }).then(complete), request.signal)
    } finally {
      // Cancels what the request has begun, if the client has disconnected or the time is over.
      await server.close()
    }
  }

  async close (): Promise<void> {
    await this.#modern.close()
  }
}

function protocolHeaders (headers: McpExchange['headers']): Record<string, string> {
  return Object.fromEntries(PROTOCOL_HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, [value].flat().join(', ')]]
  }))
}

async function complete (response: Response): Promise<McpResponse> {
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? undefined,
    body: await response.text(),
  }
}

function isListen (body: unknown): body is { id: unknown } {
  return typeof body === 'object' && body !== null && 'id' in body && 'method' in body &&
    body.method === 'subscriptions/listen'
}

function methodNotFound (id: unknown): McpResponse {
  const isId = typeof id === 'string' || typeof id === 'number'
  return {
    // As the SDK answers methods that a revision does not have.
    status: 404,
    contentType: 'application/json',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: isId ? id : null,
      error: { code: ProtocolErrorCode.MethodNotFound, message: 'This server has no subscriptions' },
    }),
  }
}
