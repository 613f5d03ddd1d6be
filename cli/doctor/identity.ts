import type { AuthConfig } from '../../lib/config/config.js'
import { missingVariables } from '../../http/missing-auth-variables.js'
import { fetchJwks } from '../../plugins/auth/jwks-fetch.js'
import { SigningKeys } from '../../plugins/auth/signing-keys.js'
import { clockFinding } from './clock.js'
import { failed, failedWith, ok, type Finding } from './finding.js'

const TIMEOUT_MS = 5000
/** The header Date has a resolution of one second. */
const SECOND = 1000

/** Checks the settings of the auth mode and, with an identity provider, whether its keys can be fetched. */
export async function * identityFindings (auth: AuthConfig): AsyncGenerator<Finding, void> {
  const check = 'authentication'
  const missing = missingVariables(auth)
  if (missing.length > 0) {
    return yield failed(
      check, `SERVICE_AUTH_MODE ${auth.mode} answers every request with 500`, `set ${missing.join(', ')}`,
    )
  }
  const { mode, oidcJwksUrl: url } = auth
  if (mode !== 'jwt_oidc' || url === undefined) return yield ok(check, `SERVICE_AUTH_MODE ${mode}`)
  try {
    const keys = await SigningKeys.of(await fetchJwks(url, TIMEOUT_MS), url)
    if (keys.size === 0) {
      yield failed(
        check, 'the key set has no RSA key of at least 2048 bits for RS256 with a kid',
        'check SERVICE_OIDC_JWKS_URL and the keys of the identity provider',
      )
    } else yield ok(check, `the identity provider has ${keys.size} ${keys.size === 1 ? 'key' : 'keys'}`)
    yield * clockFindings(url)
  } catch (error) {
    yield failedWith(check, error, 'check SERVICE_OIDC_JWKS_URL and the connection to the identity provider')
  }
}

async function * clockFindings (url: string): AsyncGenerator<Finding, void> {
  const sent = Date.now()
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  const received = Date.now()
  await response.body?.cancel()
  const theirs = Date.parse(response.headers.get('date') ?? '')
  if (!Number.isNaN(theirs)) yield clockFinding('clock of the identity provider', theirs, { sent, received }, SECOND)
}
