import type { AuthConfig } from '../lib/config/config.js'

const REQUIRED = {
  dev: [],
  api_key: [['SERVICE_API_KEY', 'apiKey']],
  jwt_hs256: [['SERVICE_JWT_SECRET', 'jwtSecret']],
  jwt_oidc: [
    ['SERVICE_OIDC_JWKS_URL', 'oidcJwksUrl'],
    ['SERVICE_OIDC_ISSUER', 'oidcIssuer'],
    ['SERVICE_OIDC_AUDIENCE', 'oidcAudience'],
  ],
} as const satisfies Record<AuthConfig['mode'], ReadonlyArray<readonly [variable: string, member: keyof AuthConfig]>>

/** The required variables of the auth mode that are not set. If any is missing, every request is answered with 500. */
export function missingVariables (auth: AuthConfig): string[] {
  return REQUIRED[auth.mode].filter(([, member]) => !auth[member]).map(([variable]) => variable)
}
