import type { AuthMode } from '../../lib/config/config.js'
import type { RouteScope } from '../route-scopes.js'

type Security = Array<Record<string, string[]>>

export const SECURITY_SCHEMES = {
  principal: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Principal',
    description: 'dev and api_key mode: the principal of the caller, `<type>:<id>`.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'api_key mode: the shared secret.' },
  bearer: {
    type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'jwt_hs256 and jwt_oidc mode: the token.',
  },
  adminToken: {
    type: 'apiKey', in: 'header', name: 'X-Admin-Token', description: 'Required when the server has an admin token.',
  },
  sourceSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Signature-256',
    description: 'HMAC-SHA256 of the raw body; the configuration of a source may name another header, or require ' +
      'no signature.',
  },
} as const

/** The credentials of the memory scope in each auth mode. */
const CALLER_SECURITY: Record<AuthMode | 'host', Security> = {
  dev: [{}, { principal: [] }],
  api_key: [{ apiKey: [], principal: [] }],
  jwt_hs256: [{ bearer: [] }],
  jwt_oidc: [{ bearer: [] }],
  // The app that the gateway is part of authenticates callers in its own way.
  host: [],
}

/** The schemes of an auth mode, and those of the scopes that do not depend on it. */
export function securitySchemesOf (mode: AuthMode | 'host'): Partial<typeof SECURITY_SCHEMES> {
  const { adminToken, sourceSignature, ...ofCallers } = SECURITY_SCHEMES
  const own = new Set(CALLER_SECURITY[mode].flatMap((one) => Object.keys(one)))
  const ofMode = Object.fromEntries(Object.entries(ofCallers).filter(([name]) => own.has(name)))
  return { ...ofMode, adminToken, sourceSignature }
}

/** The credentials of a scope; in the document for all auth modes, those of every mode. */
export function securityOf (scope: RouteScope, mode: AuthMode | 'host' | 'any'): Security {
  switch (scope) {
    case 'memory': return mode === 'any' ? anyOfAll() : CALLER_SECURITY[mode]
    case 'admin': return [{ adminToken: [] }]
    case 'source': return [{ sourceSignature: [] }, {}]
    case 'public': return []
  }
}

function anyOfAll (): Security {
  const texts = new Set(Object.values(CALLER_SECURITY).flat().map((one) => JSON.stringify(one)))
  return [...texts].map((text) => JSON.parse(text) as Record<string, string[]>)
}
