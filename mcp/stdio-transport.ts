import {
  deserializeMessage, isJSONRPCNotification, isJSONRPCRequest, JSONRPC_VERSION, ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Readable, Writable } from 'node:stream'
import { withTimeout } from '../lib/concurrency/deadline.js'

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
export class StdioTransport extends StdioServerTransport {
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
