import { AdminOperations } from './generated/operations.js'
import type { ClientOptions } from './options.js'
import { Transport } from './transport.js'

export interface AdminOptions extends Omit<ClientOptions, 'apiKey' | 'token' | 'principal' | 'onBehalfOf'> {
  /** `X-Admin-Token`. Not needed if the gateway has no admin token. */
  adminToken?: string | undefined
}

/** A client of the routes for operators, whatever the auth mode is. */
export class MemoryGatewayAdmin extends AdminOperations {
  constructor ({ adminToken, headers, ...options }: AdminOptions) {
    const credentials: Record<string, string> = adminToken === undefined ? {} : { 'x-admin-token': adminToken }
    super(new Transport({ ...options, headers: { ...headers, ...credentials } }))
  }
}
