import { createPublicKey } from 'node:crypto'
import type { Test } from 'tap'
import { ServiceError } from '../../../lib/base/service-error.js'
import { KeySource } from '../../../plugins/auth/jwt-oidc.js'
import { TokenRefused } from '../../../plugins/auth/token-refused.js'
import { startJwksServer, type JwksServer } from '../../helpers/jwks-server.js'
import { NOW, type RsaKey } from '../../helpers/tokens.js'

export interface Setup { server: JwksServer, keys: KeySource, failures: unknown[], advance: (ms: number) => void }

/** A provider that publishes `published`, and a source of its keys under a clock that the test moves. */
export async function setUp (t: Test, published: RsaKey[], fetchTimeoutMs = 5000): Promise<Setup> {
  let now = NOW
  const server = await startJwksServer(...published)
  t.teardown(() => server.close())
  const failures: unknown[] = []
  const keys = new KeySource(server.url, () => now, { fetchTimeoutMs, onFetchFailed: (cause) => failures.push(cause) })
  return { server, keys, failures, advance: (ms) => { now += ms } }
}

/** The result of a request for a key: `ok`, `refused` or `unavailable <retryAfterSeconds>`. */
export async function ask (keys: KeySource, kid: unknown): Promise<string> {
  try {
    const pem = await keys.pem(kid)
    createPublicKey(pem)
    return 'ok'
  } catch (error) {
    if (error instanceof TokenRefused && error.reason === 'unknown signing key') return 'refused'
    if (error instanceof ServiceError && error.code === 'identity_provider_unavailable') {
      return `unavailable ${error.retryAfterSeconds}`
    }
    throw error
  }
}
