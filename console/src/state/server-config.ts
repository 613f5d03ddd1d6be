import { signal } from '@preact/signals'
import type { AdminStatus } from 'memory-gateway-client'
import { CONSOLE_URL } from '../urls.js'
import { watchedFetch } from './connection.js'

export interface OidcConfig {
  issuer: string
  client_id: string
  scope: string
  token: string
  parameters: Record<string, string>
}

/** The settings that the server sends without credentials: /console/config.json. */
export interface ServerConfig {
  /** `host`: the app that the gateway is part of authenticates the callers. */
  auth_mode: AdminStatus['auth']['mode']
  /** Whether the admin routes require a token. */
  admin_token: boolean
  version: string
  oidc?: OidcConfig
}

export const serverConfig = signal<ServerConfig | undefined>(undefined)

export async function loadServerConfig (): Promise<void> {
  const response = await watchedFetch(new URL('config.json', CONSOLE_URL))
  if (!response.ok) throw new Error(`The server does not say how to sign in: status ${response.status}`)
  // The page and its configuration come from the same server and version.
  serverConfig.value = await response.json() as ServerConfig
}
