import fastifyJwt, { type JwtDecodeFunction, type JwtVerifyFunction } from '@fastify/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bearerToken } from './bearer.js'
import { type Claims } from './claims.js'
import { TokenRefused, type TokenRefusalReason } from './token-refused.js'
import { isJsonObject } from '../../lib/base/json-object.js'

declare module 'fastify' {
  interface FastifyRequest {
    hs256JwtDecode: JwtDecodeFunction
    hs256JwtVerify: JwtVerifyFunction
    oidcJwtDecode: JwtDecodeFunction
    oidcJwtVerify: JwtVerifyFunction
  }
}

interface TokenVerifierOptions {
  namespace: 'hs256' | 'oidc'
  /** The one algorithm that is accepted, whatever the header of the token names. */
  algorithm: 'HS256' | 'RS256'
  /** The secret, or a function that finds the public key (PEM) for the `kid` of a token. */
  key: string | ((kid: unknown) => Promise<string>)
}

/**
 * Registers @fastify/jwt for one mode.
 * @returns the claims of the request's bearer token. Its signature is checked, its claims are not, because @fastify/jwt
 *   does not report which claim is wrong and takes no clock (see claims.ts).
 */
export async function tokenVerifier (
  app: FastifyInstance,
  { namespace, algorithm, key }: TokenVerifierOptions,
): Promise<(request: FastifyRequest) => Promise<Claims>> {
  await app.register(fastifyJwt, {
    namespace,
    // Without a private key this service can verify tokens but not sign them.
    secret: {
      public: typeof key === 'string' ? key : (_request: FastifyRequest, token: unknown) => key(headerOf(token)['kid']),
    },
    decode: { complete: true },
    verify: { algorithms: [algorithm], ignoreExpiration: true, ignoreNotBefore: true, extractToken: bearerToken },
  })
  const decodeName = `${namespace}JwtDecode` as const
  const verifyName = `${namespace}JwtVerify` as const

  return async (request) => {
    const decoded = await orRefuse('malformed token', () => request[decodeName]<object>())
    checkHeader(headerOf(decoded), algorithm)
    checkSignatureText(decoded)
    const claims = await orRefuse('bad signature', () => request[verifyName]<object>())
    if (!isJsonObject(claims)) throw new TokenRefused('malformed token')
    return claims
  }
}

/** Runs one step of @fastify/jwt. Its own error codes do not name the fault reliably, so each step has one reason. */
async function orRefuse<T> (reason: TokenRefusalReason, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (isTokenError(error)) throw new TokenRefused(reason, error)
    throw error
  }
}

function isTokenError (error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^FA?ST_JWT_/.test(error.code)
}

function headerOf (token: unknown): Record<string, unknown> {
  const header = isJsonObject(token) ? token['header'] : undefined
  if (!isJsonObject(header)) throw new TokenRefused('malformed token')
  return header
}

function checkHeader (header: Record<string, unknown>, algorithm: string): void {
  if (header['alg'] !== algorithm) throw new TokenRefused('algorithm not allowed')
  // RFC 7515 section 4.1.11: critical extensions must be supported, and none is. RFC 7797 section 7 forbids b64 in a
  // JWT.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw new TokenRefused('unsupported header parameter')
  }
}

/** The last base64url character has unused bits. They must be zero, so that a signature has only one spelling. */
function checkSignatureText (token: object): void {
  const signature = isJsonObject(token) ? token['signature'] : undefined
  if (typeof signature !== 'string' || Buffer.from(signature, 'base64url').toString('base64url') !== signature) {
    throw new TokenRefused('malformed token')
  }
}
