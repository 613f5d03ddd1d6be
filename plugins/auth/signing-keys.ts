import { createPublicKey } from 'node:crypto'
import buildGetJwks from 'get-jwks'
import { isJsonObject } from '../../lib/base/json-object.js'

const ALGORITHM = 'RS256'
const MAX_KEYS = 50
const MAX_KID_LENGTH = 200
/** RFC 7518 section 3.3. */
const MIN_MODULUS_BITS = 2048

interface RsaJwk { kty: 'RSA', kid: string, n: string, e: string }

/**
 * The keys of one JWKS document that can verify our tokens, as PEM. get-jwks keeps them in its cache, by algorithm,
 * `kid` and domain. Its own fetch is never used: it has no limit on time or size, follows redirects, asks the provider
 * once for every unknown `kid`, and keeps a withdrawn key for as long as the key is requested
 * (docs/decisions/signing-keys.md).
 */
export class SigningKeys {
  readonly #pems: ReadonlyMap<string, string>

  private constructor (pems: ReadonlyMap<string, string>) {
    this.#pems = pems
  }

  /** @param document parsed JSON @param url where it was read @throws when it is not a JWKS */
  static async of (document: unknown, url: string): Promise<SigningKeys> {
    const listed = isJsonObject(document) ? document['keys'] : undefined
    if (!Array.isArray(listed)) throw new Error('The key set has no "keys"')
    const keys = listed.map(rsaKeyOf).filter((key) => key !== undefined).slice(0, MAX_KEYS)
    const domain = `${new URL(url).origin}/`
    const { cache, generateCacheKey, getJwk } = buildGetJwks({ max: MAX_KEYS })
    // Of two keys with the same kid the first counts, as it does in get-jwks.
    for (const key of keys.toReversed()) {
      cache.set(generateCacheKey(ALGORITHM, key.kid, domain), { ...key, domain, alg: ALGORITHM })
    }
    const pems = new Map<string, string>()
    for (const { kid } of keys) {
      const pem = toPem(await getJwk({ domain, alg: ALGORITHM, kid }))
      // A key that verifies nothing does not count as one.
      if (pem !== undefined) pems.set(kid, pem)
    }
    return new SigningKeys(pems)
  }

  get size (): number {
    return this.#pems.size
  }

  has (kid: string): boolean {
    return this.#pems.has(kid)
  }

  /** @returns the public key as PEM, the same string each time; undefined when there is none */
  pem (kid: string): string | undefined {
    return this.#pems.get(kid)
  }
}

/** Whether a `kid` can identify one of the keys that are kept. */
export function isKid (kid: unknown): kid is string {
  return typeof kid === 'string' && kid.length > 0 && kid.length <= MAX_KID_LENGTH
}

/** @returns the members that a public RSA key needs; undefined when the JWK is not a key for RS256 signatures */
function rsaKeyOf (jwk: unknown): RsaJwk | undefined {
  if (!isJsonObject(jwk)) return undefined
  const { kty, use, key_ops: operations, alg, kid, n, e } = jwk
  if (kty !== 'RSA' || (use !== undefined && use !== 'sig') || (alg !== undefined && alg !== ALGORITHM)) {
    return undefined
  }
  // RFC 7517 section 4.3: a key is only for the operations that it lists.
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined
  if (!isKid(kid) || typeof n !== 'string' || typeof e !== 'string') return undefined
  return { kty, kid, n, e }
}

function toPem (jwk: unknown): string | undefined {
  const rsa = rsaKeyOf(jwk)
  if (rsa === undefined) return undefined
  try {
    const key = createPublicKey({ key: { kty: rsa.kty, n: rsa.n, e: rsa.e }, format: 'jwk' })
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
    return bits < MIN_MODULUS_BITS ? undefined : key.export({ type: 'spki', format: 'pem' }).toString()
  } catch {
    return undefined
  }
}
