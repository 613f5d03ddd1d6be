import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

/** The instant at which tests of tokens take place. */
export const NOW = Date.UTC(2030, 0, 1)

/** @returns a NumericDate so many seconds from NOW */
export function secondsFromNow (seconds: number): number {
  return NOW / 1000 + seconds
}

export interface RsaKey {
  kid: string
  privateKey: KeyObject
  publicPem: string
  /** What a provider publishes of it. */
  jwk: Record<string, unknown>
}

/** Generates an RSA key as an identity provider has it. */
export function rsaKey (kid: string, bits = 2048): RsaKey {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  return {
    kid,
    privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' },
  }
}

/** base64url of JSON; a string is taken as the JSON text itself. */
export function segment (value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

/** Any token: header and payload are objects or JSON text, and `signer` signs it. */
export function makeToken (header: unknown, payload: unknown, signer: (input: string) => Buffer | string): string {
  const input = `${segment(header)}.${segment(payload)}`
  const signature = signer(input)
  return `${input}.${typeof signature === 'string' ? signature : signature.toString('base64url')}`
}

/** A signer for makeToken with HMAC. */
export function hmac (secret: string, hash = 'sha256'): (input: string) => Buffer {
  return (input) => createHmac(hash, secret).update(input).digest()
}

/** A signer for makeToken with RSASSA-PKCS1-v1_5. */
export function rsa (key: RsaKey, hash = 'sha256'): (input: string) => Buffer {
  return (input) => sign(hash, Buffer.from(input), key.privateKey)
}

export function hs256 (payload: unknown, secret: string, header: Record<string, unknown> = {}): string {
  return makeToken({ alg: 'HS256', typ: 'JWT', ...header }, payload, hmac(secret))
}

export function rs256 (payload: unknown, key: RsaKey, header: Record<string, unknown> = {}): string {
  return makeToken({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...header }, payload, rsa(key))
}
