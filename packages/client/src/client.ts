import { Conversation } from './conversation.js'
import { CallerOperations } from './generated/operations.js'
import { importBody } from './import-body.js'
import type { CallOptions, ClientOptions, WriteOptions } from './options.js'
import { pathOf } from './paths.js'
import { completeExport, reflectEventsOf } from './streams.js'
import { Transport } from './transport.js'
import type * as T from './types.js'

const LINES_TYPE = 'application/x-ndjson'
const EVENTS_TYPE = 'text/event-stream'

/**
 * A client of one gateway and one caller. Methods are named after the operations of the gateway's OpenAPI document and
 * throw MemoryGatewayError.
 */
export class MemoryGatewayClient extends CallerOperations {
  readonly #transport: Transport

  constructor (options: ClientOptions) {
    const transport = new Transport(options)
    super(transport)
    this.#transport = transport
  }

  /** One conversation of a bank. */
  conversation (bank: string, id: string): Conversation {
    return new Conversation(this, bank, id)
  }

  /** Like `reflect`, as a stream of events: `evidence`, any number of `delta`, `usage`, `done`. */
  async * reflectStream (request: T.ReflectRequest, options?: CallOptions): AsyncGenerator<T.ReflectEvent, void> {
    yield * reflectEventsOf(this.#transport.lines({
      method: 'POST', path: '/v1/reflect', json: request, headers: { accept: EVENTS_TYPE }, safety: 'read',
    }, EVENTS_TYPE, options))
  }

  /** The lines of a bank's export, without their line feeds: a header, then one memory per line. */
  async * exportBank (
    { bank_id: bankId, ...query }: T.ExportBankRequest, options?: CallOptions,
  ): AsyncGenerator<string, void> {
    const path = pathOf`/v1/banks/${bankId}/export`
    yield * completeExport(this.#transport.lines({ method: 'GET', path, query, safety: 'read' }, LINES_TYPE, options))
  }

  /** Imports an export, all of it or nothing. The lines are collected before they are sent. */
  async importBank (
    { bank_id: bankId, lines, ...query }: T.ImportBankRequest, options?: WriteOptions,
  ): Promise<T.ImportBankAnswer> {
    const path = pathOf`/v1/banks/${bankId}/import`
    const body = await importBody(lines, options?.signal)
    const headers = { 'content-type': LINES_TYPE }
    return await this.#transport.json({
      method: 'POST', path, query, body, headers, safety: 'keyed', answer: ['imported'],
    }, options)
  }

  /** Whether the gateway is ready. Never retried, because a probe reports the present state. */
  async health (options?: CallOptions): Promise<T.HealthAnswer> {
    return await this.#transport.json({ method: 'GET', path: '/health', safety: 'never', answer: ['status'] }, options)
  }
}
