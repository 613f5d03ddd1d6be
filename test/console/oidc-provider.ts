import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { rs256, rsaKey } from '../helpers/tokens.js'

const AUDIENCE = 'memory'
export const LIFETIME_SECONDS = 600

export interface OidcProvider {
  origin: string
  /** The environment of a gateway that trusts it. */
  env: Record<string, string>
  /** The configuration of a gateway whose console signs in at it. */
  yaml: string
  /** What it was asked for an authorization code, the last time. */
  asked: () => URLSearchParams | undefined
  /** Answers the next exchange of a code with this nonce in the id token. */
  forgeNonce: (nonce: string) => void
  /** Sends the next reader back with this error. */
  refuse: (error: string) => void
  /** The user whom it signs in from now on. At first alice. */
  takeFor: (subject: string) => void
  /** Makes every token from now on expired. */
  makeTokensOld: () => void
  /** An access token of a caller who does not come by a browser. */
  tokenFor: (subject: string) => string
}

/**
 * An identity provider that signs everybody in at once, and is strict on PKCE, codes and the redirect URI.
 * @param clock the time of the tokens that it makes
 */
export async function startOidcProvider (t: Test, clock: () => number = Date.now): Promise<OidcProvider> {
  const key = rsaKey('first')
  const codes = new Map<string, URLSearchParams>()
  let asked: URLSearchParams | undefined
  let nonce: string | undefined
  let refusal: string | undefined
  let subject = 'alice'
  let delay = 0
  let origin = ''

  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    asked = query
    const code = randomUUID()
    codes.set(code, query)
    const back = new URL(query.get('redirect_uri') ?? '')
    const answer = refusal === undefined ? { code } : { error: refusal, error_description: 'The reader is not known.' }
    for (const [name, value] of Object.entries({ ...answer, state: query.get('state') ?? '', iss: origin })) {
      back.searchParams.set(name, value)
    }
    refusal = undefined
    response.writeHead(302, { location: back.href }).end()
  }
  const claimsOf = (sub: string) => {
    const now = Math.floor(clock() / 1000) - delay
    return { iss: origin, aud: AUDIENCE, sub, tid: 'acme', iat: now, exp: now + LIFETIME_SECONDS }
  }
  const exchange = (form: URLSearchParams, response: ServerResponse) => {
    const query = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url')
    const isRight = query !== undefined && query.get('code_challenge') === challenge &&
      ['client_id', 'redirect_uri'].every((name) => query.get(name) === form.get(name))
    if (!isRight) return send(response, 400, { error: 'invalid_grant' })
    const claims = claimsOf(subject)
    send(response, 200, {
      token_type: 'Bearer',
      access_token: rs256(claims, key),
      id_token: rs256({ ...claims, nonce: nonce ?? query.get('nonce') }, key),
    })
    nonce = undefined
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', origin)
    if (pathname === '/authorize') authorize(searchParams, response)
    else if (pathname === '/keys') send(response, 200, { keys: [key.jwk] })
    else if (pathname === '/.well-known/openid-configuration') {
      send(response, 200, {
        issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`,
      })
    } else if (pathname === '/token' && request.method === 'POST') {
      void bodyOf(request).then((body) => { exchange(new URLSearchParams(body), response) })
    } else send(response, 404, {})
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The provider has no port')
  origin = `http://127.0.0.1:${address.port}`
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    origin,
    env: {
      SERVICE_AUTH_MODE: 'jwt_oidc',
      SERVICE_OIDC_ISSUER: origin,
      SERVICE_OIDC_AUDIENCE: AUDIENCE,
      SERVICE_OIDC_JWKS_URL: `${origin}/keys`,
    },
    yaml: 'console: {oidc: {client_id: memory-console, parameters: {audience: memory}}}',
    asked: () => asked,
    forgeNonce: (value) => { nonce = value },
    refuse: (error) => { refusal = error },
    makeTokensOld: () => { delay = 10 * LIFETIME_SECONDS },
    tokenFor: (sub) => rs256(claimsOf(sub), key),
    takeFor: (sub) => { subject = sub },
  }
}

async function bodyOf (request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

function send (response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
    .end(JSON.stringify(body))
}
