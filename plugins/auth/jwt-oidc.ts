import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../../lib/base/service-error.js'
import { isPrincipal, isTenant, type RequestContext, splitPrincipal } from '../../lib/access/context.js'
import type { Clock } from '../../lib/base/clock.js'
import { isJsonObject } from '../../lib/base/json-object.js'
import { type AuthOptions, guardMisconfigured, guardWith } from './authentication.js'
import { withTokenErrors } from './bearer.js'
import { checkAudience, checkIssuer, checkTimes, type Claims, isFilled, subjectOf } from './claims.js'
import { fetchJwks } from './jwks-fetch.js'
import { onBehalfOfHeader, refuseOnBehalfOfHeader } from './on-behalf-of.js'
import { isKid, SigningKeys } from './signing-keys.js'
import { TokenRefused } from './token-refused.js'
import { tokenVerifier } from './token-verifier.js'
import { trimWhitespace } from './whitespace.js'

const SECOND = 1000
/** How long keys are used without asking the provider again; a withdrawn key can keep working for that long. */
const FRESH_MS = 600 * SECOND
/** How long the last keys remain in use while the provider cannot be reached. */
const STALE_MS = 3600 * SECOND
/** The minimum time between two fetches for unknown keys, and between a failed fetch and the next. */
const COOLDOWN_MS = 30 * SECOND

interface KeySourceOptions {
  /** Time limit of one fetch in milliseconds, body included. Default 5000. */
  fetchTimeoutMs?: number
  /** Called for each failed fetch, also while older keys are still in use. */
  onFetchFailed?: (cause: unknown) => void
}

/**
 * The signing keys of an identity provider, by `kid`. Anybody can send a token with any `kid`, so tokens
 * with an unknown one cost the provider at most one fetch in 30 seconds and never displace a good key.
 */
export class KeySource {
  readonly #url: string
  readonly #clock: Clock
  readonly #fetchTimeoutMs: number
  readonly #onFetchFailed: (cause: unknown) => void
  #keys: SigningKeys | undefined
  #fetchedAt: number | undefined
  #failedAt: number | undefined
  #missedAt: number | undefined
  #failure: unknown
  #fetching: Promise<void> | undefined

  constructor (jwksUrl: string, clock: Clock, options: KeySourceOptions = {}) {
    this.#url = jwksUrl
    this.#clock = clock
    this.#fetchTimeoutMs = options.fetchTimeoutMs ?? 5 * SECOND
    this.#onFetchFailed = options.onFetchFailed ?? (() => {})
  }

  /**
   * @param kid from the token's header, not yet validated
   * @returns the RSA public key as PEM
   * @throws TokenRefused when the provider has no such key; ServiceError identity_provider_unavailable when no key
   *   is available
   */
  async pem (kid: unknown): Promise<string> {
    if (!isKid(kid)) throw new TokenRefused('unknown signing key')
    const askedAt = this.#clock()
    if (!this.#isFresh(askedAt) || this.#keys?.has(kid) !== true) {
      const refreshed = this.#refresh(kid)
      if (!this.#isOutage(askedAt) || this.#keysAt(askedAt)?.has(kid) !== true) await refreshed
    }

    const now = this.#clock()
    const keys = this.#keysAt(now)
    if (keys === undefined || keys.size === 0) throw this.#unavailable(now)
    const pem = keys.pem(kid)
    if (pem === undefined) throw new TokenRefused('unknown signing key')
    return pem
  }

  #isFresh (now: number): boolean {
    return isWithin(this.#fetchedAt, now, FRESH_MS)
  }

  /** Whether the last fetch failed, not long ago: a provider that hangs would make every caller wait in vain. */
  #isOutage (now: number): boolean {
    return isWithin(this.#failedAt, now, FRESH_MS)
  }

  /** The last keys, unless they are too old. */
  #keysAt (now: number): SigningKeys | undefined {
    return isWithin(this.#fetchedAt, now, STALE_MS) ? this.#keys : undefined
  }

  /** Waits for a fetch, a new one or one in progress; returns at once during a cooldown. Never rejects. */
  async #refresh (kid: string): Promise<void> {
    if (this.#fetching === undefined) {
      const now = this.#clock()
      if (isWithin(this.#failedAt, now, COOLDOWN_MS)) return
      if (this.#isFresh(now)) {
        if (isWithin(this.#missedAt, now, COOLDOWN_MS)) return
        this.#missedAt = now
      }
      this.#fetching = this.#fetch(kid, now).finally(() => { this.#fetching = undefined })
    }
    await this.#fetching
  }

  /** @param kid from the token that caused the fetch */
  async #fetch (kid: string, startedAt: number): Promise<void> {
    try {
      const keys = await SigningKeys.of(await fetchJwks(this.#url, this.#fetchTimeoutMs), this.#url)
      this.#keys = keys
      this.#fetchedAt = startedAt
      this.#failedAt = undefined
      this.#failure = undefined
      // Set before the fetch ends, so that the cooldown already applies to the next request with an unknown key.
      if (!keys.has(kid)) this.#missedAt = startedAt
    } catch (error) {
      this.#failedAt = startedAt
      this.#failure = error
      this.#onFetchFailed(error)
    }
  }

  #unavailable (now: number): ServiceError {
    const last = Math.max(this.#failedAt ?? 0, this.#missedAt ?? 0)
    const seconds = Math.min(Math.max(Math.ceil((last + COOLDOWN_MS - now) / SECOND), 1), COOLDOWN_MS / SECOND)
    return new ServiceError('identity_provider_unavailable', 'No signing key of the identity provider is available', {
      retryAfterSeconds: seconds,
      cause: this.#failure,
    })
  }
}

/** A clock that was set back gives a negative age. It counts as expired, so that the provider is asked again. */
function isWithin (since: number | undefined, now: number, span: number): boolean {
  if (since === undefined) return false
  const age = now - since
  return age >= 0 && age < span
}

/** Claims that are mapped to fields of the context. */
const MAPPED = new Set(['sub', 'service_actor_type', 'service_principal', 'tid', 'tenant_id'])

/** A `:` in a type would be ambiguous: type `a:b` with id `c` and type `a` with id `b:c` give the same principal. */
const ACTOR_TYPE = /^[^\s:\p{C}\p{Z}]+$/u

/**
 * Maps the claims of a verified OIDC token to a request context. With an `act` claim (RFC 8693 section 4.1) the actor
 * acts on behalf of the subject; the calling function decides whether such a token is accepted.
 * @param defaultActorType trimmed and lower-cased
 */
function contextOfClaims (claims: Claims, defaultActorType: string): RequestContext {
  const subject = subjectOf(claims)
  const type = actorTypeOf(claims) ?? defaultActorType
  const principal = valid(explicitPrincipal(claims) ?? `${type}:${subject}`)
  const shared = { tenantId: tenantOf(claims) }
  const rest = remainingClaims(claims)
  if (!Object.hasOwn(claims, 'act')) return { ...shared, principal, actor: { type, id: subject, claims: rest } }

  // An `act` inside `act` names earlier actors; RFC 8693 forbids access decisions based on it.
  const acting = isJsonObject(claims['act']) ? claims['act']['sub'] : undefined
  if (!isFilled(acting)) throw new TokenRefused('invalid actor')
  const typed = splitPrincipal(acting)
  return {
    ...shared,
    principal: valid(typed === undefined ? `${type}:${acting}` : acting),
    actor: typed === undefined
      ? { type, id: acting, claims: rest }
      : { type: normalizedType(typed.type), id: typed.id, claims: rest },
    onBehalfOf: principal,
  }
}

function normalizedType (text: string): string {
  return trimWhitespace(text).toLowerCase()
}

/**
 * A claim that is blank or not a string counts as absent, because some providers send such values. A string that is not
 * a valid type is refused.
 */
function actorTypeOf (claims: Claims): string | undefined {
  const claim = claims['service_actor_type']
  if (!isFilled(claim)) return undefined
  const type = normalizedType(claim)
  if (!ACTOR_TYPE.test(type)) throw new TokenRefused('invalid actor type')
  return type
}

function valid (principal: string): string {
  if (!isPrincipal(principal)) throw new TokenRefused('invalid principal')
  return principal
}

/** A null or blank claim counts as absent, because some providers send such values; any other non-string is refused. */
function explicitPrincipal (claims: Claims): string | undefined {
  const claim = claims['service_principal']
  if (claim === undefined || claim === null) return undefined
  if (typeof claim !== 'string') throw new TokenRefused('invalid principal')
  return isFilled(claim) ? claim : undefined
}

function tenantOf (claims: Claims): string | null {
  return tenantText(claims['tid']) ?? tenantText(claims['tenant_id']) ?? null
}

/**
 * An invalid claim is refused, because ignoring it would treat the caller as one without a tenant. Integers beyond the
 * safe range are refused, because two of them can parse to the same number and so join two tenants.
 */
function tenantText (claim: unknown): string | undefined {
  if (claim === undefined || claim === null) return undefined
  if (Number.isSafeInteger(claim)) return String(claim)
  if (typeof claim !== 'string') throw new TokenRefused('invalid tenant')
  if (!isFilled(claim)) return undefined
  if (!isTenant(claim)) throw new TokenRefused('invalid tenant')
  return claim
}

/** Every claim that is not mapped, registered ones (RFC 7519 section 4.1) too. */
function remainingClaims (claims: Claims): Record<string, string> {
  const entries = Object.entries(claims)
    .filter(([name]) => !MAPPED.has(name))
    .map(([name, value]) => [name, claimText(value)] as const)
  // fromEntries defines properties instead of assigning them, so a claim `__proto__` does not set the prototype.
  return Object.fromEntries(entries)
}

function claimText (value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Auth mode `jwt_oidc`: an RS256 bearer token of an identity provider, whose keys come from its JWKS URL. */
async function jwtOidc (app: FastifyInstance, { auth, oboEnabled, clock }: AuthOptions): Promise<void> {
  const { oidcJwksUrl, oidcIssuer, oidcAudience, oidcActorType } = auth
  if (!oidcJwksUrl) {
    guardMisconfigured(app, 'SERVICE_OIDC_JWKS_URL is not set')
    return
  }
  if (!oidcIssuer || !oidcAudience) {
    guardMisconfigured(app, 'SERVICE_OIDC_ISSUER and SERVICE_OIDC_AUDIENCE are required')
    return
  }
  const keys = new KeySource(oidcJwksUrl, clock, {
    onFetchFailed: (cause) => app.log.warn({ err: cause }, 'signing keys could not be fetched'),
  })
  const verify = await tokenVerifier(app, { namespace: 'oidc', algorithm: 'RS256', key: (kid) => keys.pem(kid) })

  guardWith(app, withTokenErrors(async (request) => {
    const claims = await verify(request)
    checkIssuer(claims, oidcIssuer)
    checkAudience(claims, oidcAudience)
    checkTimes(claims, clock())
    const delegated = Object.hasOwn(claims, 'act')
    if (delegated && !oboEnabled) throw new TokenRefused('delegated token not accepted')
    const context = contextOfClaims(claims, oidcActorType)
    if (!oboEnabled) {
      refuseOnBehalfOfHeader(request, 'is accepted only with identity.obo_enabled')
      return context
    }
    if (delegated) {
      refuseOnBehalfOfHeader(request, 'cannot be combined with a delegated token')
      return context
    }
    const onBehalfOf = onBehalfOfHeader(request)
    return onBehalfOf === undefined ? context : { ...context, onBehalfOf }
  }, (reason) => `Invalid OIDC token: ${reason}`))
}

export default fp(jwtOidc, { name: 'auth', fastify: '5.x', dependencies: ['errors'] })
