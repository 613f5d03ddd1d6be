import type { CallOptions, ClientOptions } from './options.js'
import { Listing, withCursor } from './pages.js'
import { pathOf } from './paths.js'
import { Transport } from './transport.js'
import type * as T from './types.js'

export interface AdminOptions extends Omit<ClientOptions, 'apiKey' | 'token' | 'principal' | 'onBehalfOf'> {
  /** `X-Admin-Token`. Not needed if the gateway has no admin token. */
  adminToken?: string | undefined
}

/** A client of the routes for operators, whatever the auth mode is. */
export class MemoryGatewayAdmin {
  readonly #transport: Transport

  constructor ({ adminToken, headers, ...options }: AdminOptions) {
    const credentials: Record<string, string> = adminToken === undefined ? {} : { 'x-admin-token': adminToken }
    this.#transport = new Transport({ ...options, headers: { ...headers, ...credentials } })
  }

  /** The webhook sources and their state. */
  async listSources (options?: CallOptions): Promise<T.SourcesAnswer> {
    return await this.#get('/v1/admin/sources', {}, options)
  }

  /** The banks of all tenants, or of one. */
  async listBanks (request: T.AdminListBanksRequest = {}, options?: CallOptions): Promise<T.AdminBanksAnswer> {
    return await this.#get('/v1/admin/banks', request, options)
  }

  /** The banks with one id: an entry for each tenant. */
  async getBank (
    { bank_id: bankId, ...query }: T.AdminBankRequest, options?: CallOptions,
  ): Promise<T.AdminBanksAnswer> {
    return await this.#get(pathOf`/v1/admin/banks/${bankId}`, query, options)
  }

  /** The configuration of a bank, as its admins see it. */
  async getBankConfig (
    { bank_id: bankId, ...query }: T.AdminBankRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    return await this.#get(pathOf`/v1/admin/banks/${bankId}/config`, query, options)
  }

  /** Resets what the admins of a bank have set. */
  async resetBankConfig (
    { bank_id: bankId, ...query }: T.AdminBankRequest, options?: CallOptions,
  ): Promise<T.BankConfigAnswer> {
    const path = pathOf`/v1/admin/banks/${bankId}/config`
    return await this.#transport.json({ method: 'DELETE', path, query, safety: 'once' }, options)
  }

  /** Requests, durations and memory of the last hour, in steps of some seconds. */
  async getHistory (request: T.AdminHistoryRequest = {}, options?: CallOptions): Promise<T.AdminHistory> {
    return await this.#get('/v1/admin/history', request, options)
  }

  /** The configuration and start time of the server, and the state of its store and models. */
  async getStatus (options?: CallOptions): Promise<T.AdminStatus> {
    return await this.#get('/v1/admin/status', {}, options)
  }

  /** What anyone may do on each bank of a tenant, and by which rule. */
  getAccess (request: T.AdminAccessRequest = {}, options?: CallOptions): Listing<T.BankAccess, T.AccessPage> {
    const page = (cursor: string | undefined) => (
      this.#get<T.AccessPage>('/v1/admin/access', withCursor(request, cursor), options)
    )
    return new Listing(page, ({ banks }) => banks)
  }

  /** The rules of the configuration file. */
  async getAccessRules (options?: CallOptions): Promise<T.AccessRules> {
    return await this.#get('/v1/admin/access/rules', {}, options)
  }

  /** Whether a caller would be allowed an operation, and why. Nothing is executed. */
  async checkAccess (request: T.AccessCheckRequest, options?: CallOptions): Promise<T.AccessDecision> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/admin/access/check',
      body: JSON.stringify(request),
      headers: { 'content-type': 'application/json' },
      safety: 'read',
    }, options)
  }

  /** Reloads the configuration file. */
  async reloadConfiguration (options?: CallOptions): Promise<T.ReloadAnswer> {
    return await this.#transport.json({
      method: 'POST',
      path: '/v1/admin/reload',
      body: '{}',
      headers: { 'content-type': 'application/json' },
      safety: 'once',
    }, options)
  }

  async #get<Answer> (path: string, query: object, options: CallOptions | undefined): Promise<Answer> {
    return await this.#transport.json({ method: 'GET', path, query, safety: 'read' }, options)
  }
}
