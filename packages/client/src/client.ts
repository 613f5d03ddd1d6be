import { importBody } from './import-body.js'
import type { CallOptions, ClientOptions, WriteOptions } from './options.js'
import { Listing, withCursor } from './pages.js'
import { pathOf } from './paths.js'
import type { Safety } from './retry.js'
import { completeExport, reflectEventsOf } from './streams.js'
import { Transport, type Call } from './transport.js'
import type * as T from './types.js'

const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'
const EVENTS_TYPE = 'text/event-stream'

/**
 * A client of one gateway and one caller. Methods are named after the operations of the gateway's OpenAPI document and
 * throw MemoryGatewayError.
 */
export class MemoryGatewayClient {
  readonly #transport: Transport

  constructor (options: ClientOptions) {
    this.#transport = new Transport(options)
  }

  /** Stores a memory. */
  async retain (request: T.RetainRequest, options?: WriteOptions): Promise<T.RetainAnswer> {
    return await this.#postWithKey('/v1/retain', request, options)
  }

  /** Stores up to 1000 memories, all or none. */
  async retainBatch (request: T.RetainBatchRequest, options?: WriteOptions): Promise<T.RetainBatchAnswer> {
    return await this.#postWithKey('/v1/retain/batch', request, options)
  }

  /** Searches one bank or several. */
  async recall (request: T.RecallRequest, options?: CallOptions): Promise<T.RecallAnswer> {
    return await this.#post('/v1/recall', request, 'read', options)
  }

  /** Explains why a recall returns a memory or does not. */
  async explainRecall (request: T.ExplainRecallRequest, options?: CallOptions): Promise<T.ExplainRecallAnswer> {
    return await this.#post('/v1/recall/explain', request, 'read', options)
  }

  /** Answers a question from memories. */
  async reflect (request: T.ReflectRequest, options?: CallOptions): Promise<T.ReflectAnswer> {
    return await this.#post('/v1/reflect', request, 'read', options)
  }

  /** Like `reflect`, as a stream of events: `evidence`, any number of `delta`, `usage`, `done`. */
  async * reflectStream (request: T.ReflectRequest, options?: CallOptions): AsyncGenerator<T.ReflectEvent, void> {
    const call = jsonCall('POST', '/v1/reflect', request, 'read')
    call.headers = { ...call.headers, accept: EVENTS_TYPE }
    yield * reflectEventsOf(this.#transport.lines(call, EVENTS_TYPE, options))
  }

  /** Deletes memories. */
  async forget (request: T.ForgetRequest, options?: WriteOptions): Promise<T.ForgetAnswer> {
    return await this.#postWithKey('/v1/forget', request, options)
  }

  /** The banks that the caller may read. */
  listBanks (request: T.ListBanksRequest = {}, options?: CallOptions): Listing<T.Bank, T.BanksPage> {
    return new Listing((cursor) => this.#get('/v1/banks', withCursor(request, cursor), options), ({ banks }) => banks)
  }

  async getBank ({ bank_id: bankId }: T.BankRequest, options?: CallOptions): Promise<T.Bank> {
    return await this.#get(pathOf`/v1/banks/${bankId}`, {}, options)
  }

  async getBankStatistics ({ bank_id: bankId }: T.BankRequest, options?: CallOptions): Promise<T.BankStatistics> {
    return await this.#get(pathOf`/v1/banks/${bankId}/stats`, {}, options)
  }

  /** How many of the present memories were retained on each day. */
  async getBankGrowth (
    { bank_id: bankId, ...query }: T.BankGrowthRequest, options?: CallOptions,
  ): Promise<T.BankGrowth> {
    return await this.#get(pathOf`/v1/banks/${bankId}/growth`, query, options)
  }

  /** Deletes a bank: memories, configuration and history. */
  async deleteBank ({ bank_id: bankId }: T.BankRequest, options?: CallOptions): Promise<T.DeleteBankAnswer> {
    return await this.#transport.json({ method: 'DELETE', path: pathOf`/v1/banks/${bankId}`, safety: 'once' }, options)
  }

  /** The memories of a bank, newest first. */
  listMemories (
    { bank_id: bankId, ...query }: T.ListMemoriesRequest, options?: CallOptions,
  ): Listing<T.Memory, T.MemoriesPage> {
    const path = pathOf`/v1/banks/${bankId}/memories`
    return new Listing((cursor) => this.#get(path, withCursor(query, cursor), options), ({ memories }) => memories)
  }

  async getMemory (
    { bank_id: bankId, memory_id: memoryId }: T.GetMemoryRequest, options?: CallOptions,
  ): Promise<T.Memory> {
    return await this.#get(pathOf`/v1/banks/${bankId}/memories/${memoryId}`, {}, options)
  }

  /** A memory with its neighbours in the same document. */
  async getMemoryNeighbours (
    { bank_id: bankId, memory_id: memoryId, ...query }: T.GetMemoryNeighboursRequest, options?: CallOptions,
  ): Promise<T.MemoryNeighbours> {
    return await this.#get(pathOf`/v1/banks/${bankId}/memories/${memoryId}/neighbours`, query, options)
  }

  /** The settings of a bank itself, those in force, and the origin of each value. */
  async getBankConfig ({ bank_id: bankId }: T.BankRequest, options?: CallOptions): Promise<T.BankConfigAnswer> {
    return await this.#get(pathOf`/v1/banks/${bankId}/config`, {}, options)
  }

  /** Replaces a bank's own settings. */
  async putBankConfig (request: T.PutBankConfigRequest, options?: CallOptions): Promise<T.BankConfigAnswer> {
    return await this.#changeConfig('PUT', request, request.config, JSON_TYPE, options)
  }

  /** Changes some of a bank's own settings. */
  async patchBankConfig (request: T.PatchBankConfigRequest, options?: CallOptions): Promise<T.BankConfigAnswer> {
    return await this.#changeConfig('PATCH', request, request.patch, 'application/merge-patch+json', options)
  }

  /** Resets a bank's own settings. */
  async resetBankConfig (request: T.ResetBankConfigRequest, options?: CallOptions): Promise<T.BankConfigAnswer> {
    return await this.#changeConfig('DELETE', request, undefined, undefined, options)
  }

  /** A page of the last 100 changes, newest first. `next_cursor`, sent as `cursor`, continues after it. */
  async getBankConfigHistory (
    { bank_id: bankId, ...query }: T.BankConfigHistoryRequest, options?: CallOptions,
  ): Promise<T.BankConfigHistory> {
    return await this.#get(pathOf`/v1/banks/${bankId}/config/history`, query, options)
  }

  /** The lines of a bank's export, without their line feeds: a header, then one memory per line. */
  async * exportBank ({ bank_id: bankId }: T.BankRequest, options?: CallOptions): AsyncGenerator<string, void> {
    const path = pathOf`/v1/banks/${bankId}/export`
    yield * completeExport(this.#transport.lines({ method: 'GET', path, safety: 'read' }, LINES_TYPE, options))
  }

  /** Imports an export, all of it or nothing. The lines are collected before they are sent. */
  async importBank (
    { bank_id: bankId, lines, ...query }: T.ImportBankRequest, options: WriteOptions = {},
  ): Promise<T.ImportBankAnswer> {
    const path = pathOf`/v1/banks/${bankId}/import`
    const body = await importBody(lines, options.signal)
    const headers = { 'content-type': LINES_TYPE, 'idempotency-key': options.idempotencyKey ?? createKey() }
    return await this.#transport.json({ method: 'POST', path, query, body, headers, safety: 'keyed' }, options)
  }

  /** The identity of the caller as the gateway sees it, and the permissions on a bank. */
  async whoami (request: T.WhoamiRequest = {}, options?: CallOptions): Promise<T.WhoamiAnswer> {
    return await this.#get('/v1/whoami', request, options)
  }

  /** The permissions of the caller on each bank that it may read, and the rules that grant them. */
  getAccess (request: T.AccessRequest = {}, options?: CallOptions): Listing<T.BankAccess, T.AccessPage> {
    return new Listing((cursor) => this.#get('/v1/access', withCursor(request, cursor), options), ({ banks }) => banks)
  }

  /** Whether the gateway is ready. Never retried, because a probe reports the present state. */
  async health (options?: CallOptions): Promise<T.HealthAnswer> {
    return await this.#transport.json({ method: 'GET', path: '/health', safety: 'never' }, options)
  }

  async #get<Answer> (path: string, query: object, options: CallOptions | undefined): Promise<Answer> {
    return await this.#transport.json({ method: 'GET', path, query, safety: 'read' }, options)
  }

  async #post<Answer> (
    path: string, request: object, safety: Safety, options: CallOptions | undefined,
  ): Promise<Answer> {
    return await this.#transport.json(jsonCall('POST', path, request, safety), options)
  }

  /** A write that the gateway executes once, however often it is sent. */
  async #postWithKey<Answer> (path: string, request: object, options: WriteOptions | undefined): Promise<Answer> {
    const call = jsonCall('POST', path, request, 'keyed')
    call.headers = { ...call.headers, 'idempotency-key': options?.idempotencyKey ?? createKey() }
    return await this.#transport.json(call, options)
  }

  async #changeConfig (
    method: 'PUT' | 'PATCH' | 'DELETE',
    { bank_id: bankId, if_match: ifMatch, if_none_match: ifNoneMatch }: T.ResetBankConfigRequest,
    body: object | undefined, contentType: string | undefined, options: CallOptions | undefined,
  ): Promise<T.BankConfigAnswer> {
    return await this.#transport.json({
      method,
      path: pathOf`/v1/banks/${bankId}/config`,
      headers: { 'content-type': contentType, 'if-match': ifMatch, 'if-none-match': ifNoneMatch },
      safety: 'once',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }, options)
  }
}

function jsonCall (method: Call['method'], path: string, request: object, safety: Safety): Call {
  return { method, path, body: JSON.stringify(request), headers: { 'content-type': JSON_TYPE }, safety }
}

/** A random key of 128 bits. `crypto.randomUUID` does not exist on pages without TLS. */
function createKey (): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
