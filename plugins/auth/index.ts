import type { FastifyPluginAsync } from 'fastify'
import type { AuthMode } from '../../lib/config/config.js'
import type { AuthOptions } from './authentication.js'

type AuthModule = Promise<{ default: FastifyPluginAsync<AuthOptions> }>

/** Loaded when it is chosen: what reads tokens takes a tenth of a second that the other modes need not wait for. */
const PLUGINS: Record<AuthMode, () => AuthModule> = {
  dev: async () => await import('./dev.js'),
  api_key: async () => await import('./api-key.js'),
  jwt_hs256: async () => await import('./jwt-hs256.js'),
  jwt_oidc: async () => await import('./jwt-oidc.js'),
}

/** @returns the plugin, for `register`, that guards the scope in which it is registered */
export function authPlugin (mode: AuthMode): AuthModule {
  return PLUGINS[mode]()
}
