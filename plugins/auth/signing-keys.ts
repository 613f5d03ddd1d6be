import { createPublicKey } from 'node:crypto'
import buildGetJwks, { type GetJwks } from 'get-jwks'
import { isRecord } from './claims.js'

const MAX_KEYS = 50
const MAX_KID_LENGTH = 200
/** RFC 7518 section 3.3. */
const MIN_MODULUS_BITS = 2048

interface RsaJwk { kty: 'RSA', kid: string, n: string, e: string }

/**
 * The keys of one JWKS document that can sign a token for us. get-jwks selects among them, reading the document from
 * a data: URL: left to the network it has no time or size bound, follows redirects, asks the provider once for every
 * unknown `kid` and serves a withdrawn key from its stale cache for as long as the key is asked for.
 */
export class SigningKeys {
  readonly #kids: Set<string>
  readonly #jwks: GetJwks
  readonly #pems = new Map<string, string | undefined>()

  /** @param document parsed JSON @throws when it is no JWKS */
  constructor (document: unknown) {
    const listed = isRecord(document) ? document['keys'] : undefined
    if (!Array.isArray(listed)) throw new Error('The key set has no "keys"')
    const keys = listed.map(usable).filter((key) => key !== undefined).slice(0, MAX_KEYS)
    this.#kids = new Set(keys.map((key) => key.kid))
    this.#jwks = buildGetJwks({ max: MAX_KEYS, jwksPath: `,${encodeURIComponent(JSON.stringify({ keys }))}` })
  }

  get size (): number {
    return this.#kids.size
  }

  has (kid: string): boolean {
    return this.#kids.has(kid)
  }

  /** @returns the public key as PEM, the same string each time; undefined when there is none or it is too weak */
  async pem (kid: string): Promise<string | undefined> {
    if (!this.#kids.has(kid)) return undefined
    if (!this.#pems.has(kid)) {
      // get-jwks ends a domain with a slash and appends the path: the URL is `data:application/json;src=/,<JSON>`.
      this.#pems.set(kid, toPem(await this.#jwks.getJwk({ domain: 'data:application/json;src=/', alg: 'RS256', kid })))
    }
    return this.#pems.get(kid)
  }
}

/** A `kid` is a look-up word: whether it can be one of a key that we keep. */
export function isKid (kid: unknown): kid is string {
  return typeof kid === 'string' && kid.length > 0 && kid.length <= MAX_KID_LENGTH
}

/** Keeps of a JWK what a public RSA key needs; undefined when it is none for RS256 signatures. */
function usable (jwk: unknown): RsaJwk | undefined {
  if (!isRecord(jwk)) return undefined
  const { kty, use, alg, kid, n, e } = jwk
  if (kty !== 'RSA' || (use !== undefined && use !== 'sig') || (alg !== undefined && alg !== 'RS256')) return undefined
  if (!isKid(kid) || typeof n !== 'string' || typeof e !== 'string') return undefined
  return { kty, kid, n, e }
}

function toPem (jwk: unknown): string | undefined {
  const rsa = usable(jwk)
  if (rsa === undefined) return undefined
  try {
    const key = createPublicKey({ key: { kty: rsa.kty, n: rsa.n, e: rsa.e }, format: 'jwk' })
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
    return bits < MIN_MODULUS_BITS ? undefined : key.export({ type: 'spki', format: 'pem' }).toString()
  } catch {
    return undefined
  }
}
