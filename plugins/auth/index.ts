import type { FastifyPluginAsync } from 'fastify'
import type { AuthMode } from '../../lib/config/config.js'
import type { AuthOptions } from './authentication.js'

type AuthModule = Promise<{ default: FastifyPluginAsync<AuthOptions> }>

/** Each mode is loaded when it is selected: the token libraries add 100 ms to the start, which other modes avoid. */
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
