import type { FastifyPluginAsync } from 'fastify'
import type { AuthMode } from '../../lib/config/schema.js'
import apiKey from './api-key.js'
import type { AuthOptions } from './authentication.js'
import dev from './dev.js'
import jwtHs256 from './jwt-hs256.js'
import jwtOidc from './jwt-oidc.js'

const PLUGINS: Record<AuthMode, FastifyPluginAsync<AuthOptions>> = {
  dev,
  api_key: apiKey,
  jwt_hs256: jwtHs256,
  jwt_oidc: jwtOidc,
}

/** @returns the plugin that guards the scope in which it is registered */
export function authPlugin (mode: AuthMode): FastifyPluginAsync<AuthOptions> {
  return PLUGINS[mode]
}
