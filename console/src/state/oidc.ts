import { CONSOLE_URL } from '../urls.js'
import { CALLBACK_PAGE } from '../pages.js'
import type { OidcConfig } from './server-config.js'

/** The values that identify a sign-in in progress. They are useless without the authorization code. */
export interface AuthorizationAttempt {
  state: string
  nonce: string
  verifier: string
  tokenEndpoint: string
}

/** The values that are stored while the browser is at the identity provider. */
interface PendingSignIn extends AuthorizationAttempt {
  /** The page to which the user returns: its path and query. */
  returnTo: string
  remember: boolean
}

const KEY = 'memory-gateway-console-oidc'
const REQUEST_TIMEOUT_MS = 15_000

/** The provider violated the protocol or refused the sign-in; the message is for the user. */
export class SignInError extends Error {}

export const REDIRECT_URI = new URL(CALLBACK_PAGE, CONSOLE_URL).href

function base64url (bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function randomValue (): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

/** The S256 challenge of a verifier (RFC 7636). */
export async function challengeOf (verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return base64url(new Uint8Array(digest))
}

async function fetchJson (url: string, init: RequestInit, subject: string): Promise<Record<string, unknown>> {
  let response: Response
  try {
    response = await globalThis.fetch(url, {
      ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS), credentials: 'omit',
    })
  } catch {
    throw new SignInError(`The identity provider does not answer this page (${subject}). It must allow the origin ` +
      `${location.origin}, and console.oidc.origins must list its origins other than that of the issuer.`)
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body !== 'object' || body === null) {
    throw new SignInError(`The identity provider answers ${subject} with status ${response.status} and no JSON.`)
  }
  const members = body as Record<string, unknown>
  if (!response.ok) {
    const { error, error_description: description } = members
    throw new SignInError(`The identity provider refuses ${subject}: ` +
      `${String(description ?? error ?? response.status)}`)
  }
  return members
}

/**
 * Creates an authorization request from the provider's discovery document.
 * @returns its URL, and the values that identify its response
 */
export async function createAuthorizationRequest (
  { issuer, client_id: clientId, scope, parameters }: OidcConfig,
): Promise<{ url: URL, attempt: AuthorizationAttempt }> {
  if (globalThis.crypto.subtle === undefined) {
    throw new SignInError('Sign-in at the identity provider needs HTTPS (or localhost): browsers provide ' +
      'cryptography only there.')
  }
  const metadata = await fetchJson(
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {}, 'its discovery document',
  )
  const { issuer: named, authorization_endpoint: authorization, token_endpoint: tokenEndpoint } = metadata
  if (named !== issuer) throw new SignInError(`The identity provider calls itself ${String(named)}, not ${issuer}.`)
  if (typeof authorization !== 'string' || typeof tokenEndpoint !== 'string') {
    throw new SignInError('The identity provider does not name its endpoints.')
  }
  const [state, nonce, verifier] = [randomValue(), randomValue(), randomValue()]
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
  if (!/^https?:$/.test(url.protocol)) {
    throw new SignInError('The authorization endpoint of the identity provider is not an http or https URL.')
  }
  return { url, attempt: { state, nonce, verifier, tokenEndpoint } }
}

/** Navigates to the identity provider. */
export async function redirectToProvider (config: OidcConfig, returnTo: string, remember: boolean): Promise<void> {
  const { url, attempt } = await createAuthorizationRequest(config)
  const pending: PendingSignIn = { ...attempt, returnTo, remember }
  // Directly before the navigation: otherwise a second click could navigate with the state of the first.
  sessionStorage.setItem(KEY, JSON.stringify(pending))
  location.assign(url)
}

/** Returns the sign-in that this tab has started, and removes it, so that no response can be used twice. */
export function takePendingSignIn (): PendingSignIn | undefined {
  const stored = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  // Only this file writes it.
  return stored === null ? undefined : JSON.parse(stored) as PendingSignIn
}

/** Exchanges the response of the identity provider for a token. */
export async function exchangeCode (
  config: OidcConfig, params: URLSearchParams, attempt: AuthorizationAttempt | undefined,
): Promise<string> {
  if (attempt === undefined) throw new SignInError('No sign-in was started in this tab, or it is already complete.')
  const [state, code, issuer] = [params.get('state'), params.get('code'), params.get('iss')]
  if (state !== attempt.state) {
    throw new SignInError('The response of the identity provider does not belong to the sign-in that was started here.')
  }
  if (issuer !== null && issuer !== config.issuer) {
    throw new SignInError('The response comes from another identity provider.')
  }
  const errorCode = params.get('error')
  if (errorCode !== null) {
    throw new SignInError(`The identity provider says: ${params.get('error_description') ?? errorCode}`)
  }
  if (code === null) throw new SignInError('The identity provider sent no authorization code.')
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    client_id: config.client_id,
    code_verifier: attempt.verifier,
  })
  const answer = await fetchJson(attempt.tokenEndpoint, { method: 'POST', body }, 'the authorization code')
  const { id_token: idToken } = answer
  // An id token must have been issued for this sign-in; the gateway checks its signature.
  if (typeof idToken === 'string' && claimsOf(idToken)['nonce'] !== attempt.nonce) {
    throw new SignInError('The token of the identity provider does not belong to the sign-in that was started here.')
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
