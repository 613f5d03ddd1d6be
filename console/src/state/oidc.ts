import { CONSOLE_URL } from '../mount.js'
import { CALLBACK_PAGE } from '../pages.js'
import type { OidcConfig } from './server-config.js'

/** The values that identify a sign-in in progress. They are useless without the code. */
export interface Begun {
  state: string
  nonce: string
  verifier: string
  tokenEndpoint: string
}

/** The values kept while the browser is at the identity provider. */
interface Pending extends Begun {
  /** Where the reader was: path and query within the console. */
  returnTo: string
  remember: boolean
}

const KEY = 'memory-gateway-console-oidc'
const DISCOVERY_MS = 15_000

/** The provider violated the protocol or refused the sign-in; the message is for the reader. */
export class SignInError extends Error {}

export const REDIRECT_URI = new URL(CALLBACK_PAGE, CONSOLE_URL).href

function base64url (bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function randomText (): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

/** The S256 challenge of a verifier (RFC 7636). */
export async function challengeOf (verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return base64url(new Uint8Array(digest))
}

async function jsonOf (url: string, init: RequestInit, what: string): Promise<Record<string, unknown>> {
  let response: Response
  try {
    response = await globalThis.fetch(url, { ...init, signal: AbortSignal.timeout(DISCOVERY_MS), credentials: 'omit' })
  } catch {
    throw new SignInError(`The identity provider does not answer this page (${what}). It must allow the origin ` +
      `${location.origin}, and console.oidc.origins must name its origins beside that of the issuer.`)
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body !== 'object' || body === null) {
    throw new SignInError(`The identity provider answers ${what} with status ${response.status} and no JSON.`)
  }
  const found = body as Record<string, unknown>
  if (!response.ok) {
    const { error, error_description: description } = found
    throw new SignInError(`The identity provider refuses ${what}: ${String(description ?? error ?? response.status)}`)
  }
  return found
}

/** Looks up where the provider signs readers in. @returns that URL, and the values that identify its answer */
export async function prepareSignIn (
  { issuer, client_id: clientId, scope, parameters }: OidcConfig,
): Promise<{ url: URL, begun: Begun }> {
  if (globalThis.crypto.subtle === undefined) {
    throw new SignInError('Sign-in at the identity provider needs HTTPS (or localhost): browsers give cryptography only there.')
  }
  const metadata = await jsonOf(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {}, 'its description')
  const { issuer: said, authorization_endpoint: authorization, token_endpoint: tokenEndpoint } = metadata
  if (said !== issuer) throw new SignInError(`The identity provider calls itself ${String(said)}, not ${issuer}.`)
  if (typeof authorization !== 'string' || typeof tokenEndpoint !== 'string') {
    throw new SignInError('The identity provider does not say where its endpoints are.')
  }
  const [state, nonce, verifier] = [randomText(), randomText(), randomText()]
  const url = new URL(authorization)
  const query = {
    ...parameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope,
    state,
    nonce,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  if (!/^https?:$/.test(url.protocol)) throw new SignInError('The identity provider names an endpoint that is no web page.')
  return { url, begun: { state, nonce, verifier, tokenEndpoint } }
}

/** Navigates to the identity provider. */
export async function beginSignIn (config: OidcConfig, returnTo: string, remember: boolean): Promise<void> {
  const { url, begun } = await prepareSignIn(config)
  const pending: Pending = { ...begun, returnTo, remember }
  // Directly before the navigation: otherwise a second click could navigate with the state of the first.
  sessionStorage.setItem(KEY, JSON.stringify(pending))
  location.assign(url)
}

/** The sign-in that this tab has begun. It is returned only once, whatever the outcome. */
export function takePending (): Pending | undefined {
  const kept = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  // Only this file writes it.
  return kept === null ? undefined : JSON.parse(kept) as Pending
}

/** Exchanges the parameters with which the identity provider sent the reader back for a token. */
export async function tokenOf (config: OidcConfig, params: URLSearchParams, begun: Begun | undefined): Promise<string> {
  if (begun === undefined) throw new SignInError('No sign-in was begun in this tab, or it is over already.')
  const [state, code, issuer] = [params.get('state'), params.get('code'), params.get('iss')]
  if (state !== begun.state) {
    throw new SignInError('The answer of the identity provider is not that of the sign-in that was begun here.')
  }
  if (issuer !== null && issuer !== config.issuer) throw new SignInError('The answer is that of another identity provider.')
  const refused = params.get('error')
  if (refused !== null) throw new SignInError(`The identity provider says: ${params.get('error_description') ?? refused}`)
  if (code === null) throw new SignInError('The identity provider sent no code.')
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    client_id: config.client_id,
    code_verifier: begun.verifier,
  })
  const answer = await jsonOf(begun.tokenEndpoint, { method: 'POST', body }, 'the code')
  const { id_token: idToken } = answer
  // An id token must have been issued for this sign-in; the gateway checks its signature.
  if (typeof idToken === 'string' && claimsOf(idToken)['nonce'] !== begun.nonce) {
    throw new SignInError('The token of the identity provider is not that of the sign-in that was begun here.')
  }
  const token = answer[config.token]
  if (typeof token !== 'string') throw new SignInError(`The identity provider sent no ${config.token}.`)
  return token
}

function claimsOf (token: string): Record<string, unknown> {
  try {
    const text = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === 'object' && claims !== null ? claims as Record<string, unknown> : {}
  } catch {
    return {}
  }
}
