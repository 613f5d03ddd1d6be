import type { Readable, Writable } from 'node:stream'
import {
  deserializeMessage, isJSONRPCNotification, isJSONRPCRequest, JSONRPC_VERSION, ProtocolErrorCode, SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { AccessControl } from '../lib/access/access-control.js'
import { withTimeout } from '../lib/base/deadline.js'
import type { Config } from '../lib/config/config.js'
import { McpSchema } from '../lib/config/schema.js'
import { variable } from '../lib/config/variables.js'
import { stackOf } from '../lib/base/message-of.js'
import { invalidField, ServiceError } from '../lib/base/service-error.js'
import { isBankId, type RequestContext } from '../lib/access/context.js'
import { createMemoryService, warmUp } from '../lib/operations/memory-service.js'
import { BANK_ID_IN_WORDS } from '../lib/base/ids.js'
import { MemoryGatewayError } from '../packages/client/src/index.js'
import { type Caller, localCaller, remoteCaller, type ServerConnection } from './caller.js'
import { Refusals } from './refusals.js'
import { createMcpServer } from './server.js'

type Message = ReturnType<typeof deserializeMessage>
type RequestId = string | number

interface StdioTransportOptions {
  stdin: Readable
  stdout: Writable
  /** A longer message is not kept, and is answered with an error. */
  maxMessageBytes: number
  /** Milliseconds that the open requests have to be answered after the end of the input. */
  answerTimeoutMs: number
  /** Called when the connection has ended, for whatever reason. */
  ended: () => void
}

/**
 * The transport of the SDK, which drops open requests when the input ends and lines that are no messages. This one
 * answers both: what is piped into the program is done, and the process ends after the last answer.
 */
class StdioTransport extends StdioServerTransport {
  readonly #options: StdioTransportOptions
  /** The parts of the line that is not complete yet. */
  #parts: Buffer[] = []
  #bytes = 0
  /** Requests without an answer. */
  readonly #open = new Set<RequestId>()
  #allAnswered: (() => void) | undefined
  #hasInputEnded = false

  constructor (options: StdioTransportOptions) {
    super(options.stdin, options.stdout)
    this.#options = options
    const report = this._onstdouterror
    this._onstdouterror = (error: NodeJS.ErrnoException) => {
      // A client that closed both its ends is no fault.
      if (this.#hasInputEnded && error.code === 'EPIPE') void this.close()
      else report(error)
    }
  }

  override _ondata = (chunk: Buffer): void => {
    let from = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      this.#add(chunk.subarray(from, end))
      this.#readLine()
      from = end + 1
    }
    this.#add(chunk.subarray(from))
  }

  /** The base class closes the connection here. */
  override _onstdinclose = (): void => {
    if (this.#hasInputEnded) return
    this.#hasInputEnded = true
    this.#readLine()
    const answered = new Promise<void>((resolve) => { this.#allAnswered = resolve })
    this.#settle()
    void withTimeout(answered, this.#options.answerTimeoutMs).then(async () => { await this.close() })
  }

  override async send (message: Message): Promise<void> {
    try {
      await super.send(message)
    } finally {
      if (!('method' in message)) this.#settle(message.id)
    }
  }

  override async close (): Promise<void> {
    await super.close()
    this.#parts = []
    this.#open.clear()
    this.#settle()
    this.#options.ended()
  }

  get #isTooLong (): boolean {
    return this.#bytes > this.#options.maxMessageBytes
  }

  #add (part: Buffer): void {
    this.#bytes += part.length
    // Of a message beyond the bound nothing is kept, so that a client cannot fill the memory.
    if (this.#isTooLong) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  #readLine (): void {
    if (this.#isTooLong) {
      this.#bytes = 0
      const { maxMessageBytes } = this.#options
      // Its id is not known, and other calls that run must not lose their answers by it.
      this.#answerFault(null, ProtocolErrorCode.InvalidRequest, `A message has at most ${maxMessageBytes} bytes`)
      this.onerror?.(new Error(`the client has sent a message of more than ${maxMessageBytes} bytes`))
      return
    }
    const line = Buffer.concat(this.#parts).toString('utf8').trim()
    this.#parts = []
    this.#bytes = 0
    if (line === '') return
    try {
      this.#deliver(deserializeMessage(line))
    } catch (error) {
      if (error instanceof SyntaxError) {
        // The id of the message is not known.
        this.#answerFault(null, ProtocolErrorCode.ParseError, 'Parse error: the line is not valid JSON')
        return
      }
      const faulty: unknown = JSON.parse(line)
      if (!isResponse(faulty)) {
        this.#answerFault(idOf(faulty), ProtocolErrorCode.InvalidRequest, 'Invalid request: no message of JSON-RPC 2.0')
      }
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #deliver (message: Message): void {
    if (isJSONRPCRequest(message)) {
      this.#open.add(message.id)
    } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      // A cancelled request is not answered.
      this.#settle(message.params?.['requestId'])
    }
    this.onmessage?.(message)
  }

  #answerFault (id: RequestId | null, code: number, message: string): void {
    this.#options.stdout.write(`${JSON.stringify({ jsonrpc: JSONRPC_VERSION, id, error: { code, message } })}\n`)
  }

  #settle (id?: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#open.delete(id)
    if (this.#open.size === 0) this.#allAnswered?.()
  }
}

/** Whether it was meant as an answer to a request of ours. Answers are not answered, even if they are faulty. */
function isResponse (message: unknown): boolean {
  return typeof message === 'object' && message !== null && !('method' in message) &&
    ('result' in message || 'error' in message)
}

/** @returns null for a message without an id that can be one */
function idOf (message: unknown): RequestId | null {
  if (typeof message !== 'object' || message === null || !('id' in message)) return null
  const { id } = message
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** The number of calls of a client that are executed at a time; further ones wait. */
const CONCURRENCY = 8
/** Maximum bytes of a message. */
const MAX_MESSAGE_BYTES = Number(variable('SERVICES_MAX_BODY_BYTES').default)
/** Tokens of one answer of a server. */
const SERVER_ANSWER_TOKENS = McpSchema.properties.answer_tokens.default
/** Somewhat more than a call of a server may take, so that its refusal is still answered. */
const ANSWER_TIMEOUT_MS = 65_000

/** Forwards every call to a server. */
interface ServerSource {
  source: 'server'
  server: ServerConnection
}

/** Uses a store in this process, for instance a folder with `vector_store: pglite`. */
interface EmbeddedSource {
  source: 'embedded'
  config: Config
  /** The principal of all calls, `<type>:<id>`. Default: the anonymous caller, whom access control does not limit. */
  principal?: string | undefined
}

export type McpStdioOptions = (ServerSource | EmbeddedSource) & {
  /** The version of the gateway. */
  version: string
  /** The only bank that the client may use. Default: calls name their banks. */
  bankId?: string | undefined
  /** Milliseconds in which the calls that run at the end of the input are answered. Default 65,000. */
  answerTimeoutMs?: number
  /** Ends the connection. */
  signal?: AbortSignal
  /** Gets one line for each warning and fault. Default: standard error. Standard output belongs to the protocol. */
  log?: (line: string) => void
  stdin?: Readable
  stdout?: Writable
}

/**
 * Serves the Model Context Protocol over standard input and output, as desktop clients expect.
 * @returns when the client has closed its end and its calls are answered, or the signal was aborted
 * @throws ServiceError for a bank id that is none; ProviderError when a provider cannot be made
 */
export async function runMcpStdio (options: McpStdioOptions): Promise<void> {
  const { bankId, signal, log = (line) => { process.stderr.write(`${line}\n`) } } = options
  if (bankId !== undefined && !isBankId(bankId)) {
    throw invalidField('bank', `must be a text ${BANK_ID_IN_WORDS}`)
  }
  const { caller, answerTokens, close } = await openSource(options, log)
  const refusals = new Refusals(undefined, (error, { aborted }) => {
    // The client has cancelled the call, or the end of the connection has ended it.
    const isGone = aborted || (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    const isKnown = error instanceof ServiceError || error instanceof MemoryGatewayError
    if (!isGone && !isKnown) log(`unexpected fault: ${stackOf(error)}`)
  })
  try {
    await new Promise<void>((resolve) => {
      const transport = new StdioTransport({
        stdin: options.stdin ?? process.stdin,
        stdout: options.stdout ?? process.stdout,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
        ended: resolve,
      })
      const connection = serveStdio(() => createMcpServer({
        caller,
        refusals,
        version: options.version,
        answerTokens,
        concurrency: CONCURRENCY,
        pinned: bankId,
      }), { transport, maxSubscriptions: 0, onerror: (error) => { log(inOneLine(error)) } })
      const stop = () => { void connection.close().then(resolve, resolve) }
      if (signal?.aborted === true) stop()
      else signal?.addEventListener('abort', stop, { once: true })
    })
  } finally {
    await close()
  }
}

interface OpenSource {
  caller: Caller
  answerTokens: number
  close: () => Promise<void>
}

async function openSource (options: McpStdioOptions, warn: (line: string) => void): Promise<OpenSource> {
  if (options.source === 'server') {
    const caller = remoteCaller(options.server)
    return { caller, answerTokens: SERVER_ANSWER_TOKENS, close: async () => {} }
  }
  const { config, principal } = options
  const opening = createMemoryService(config, new AccessControl(config.settings.access), { warn })
  // Meanwhile the thread of PGlite opens the folder.
  warmUp()
  const memory = await opening
  const context: RequestContext = { tenantId: null, principal }
  return {
    caller: localCaller(memory, context),
    answerTokens: config.settings.mcp.answerTokens,
    close: async () => {
      await memory.idle()
      await memory.close()
    },
  }
}

/** The SDK describes a message of another form than JSON-RPC's by a page of JSON. */
function inOneLine ({ name, message }: Error): string {
  return name === 'ZodError' ? 'the client has sent a line that is not a message of JSON-RPC' : message
}
