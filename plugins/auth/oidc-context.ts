import { isPrincipal, isTenant, splitPrincipal, type RequestContext } from '../../lib/identity/context.js'
import { trimWhitespace } from './whitespace.js'
import { isFilled, subjectOf, type Claims } from './claims.js'
import { TokenRefused } from './token-refused.js'
import { isJsonObject } from '../../lib/validation/json-object.js'

/** Claims that are mapped to fields of the context. */
const MAPPED = new Set(['sub', 'service_actor_type', 'service_principal', 'tid', 'tenant_id'])

/** A `:` in a type would be ambiguous: type `a:b` with id `c` and type `a` with id `b:c` give the same principal. */
const ACTOR_TYPE = /^[^\s:\p{C}\p{Z}]+$/u

/**
 * Maps the claims of a verified OIDC token to a request context. With an `act` claim (RFC 8693 section 4.1) the actor
 * acts on behalf of the subject; the calling function decides whether such a token is accepted.
 * @param defaultActorType trimmed and lower-cased
 */
export function contextOfClaims (claims: Claims, defaultActorType: string): RequestContext {
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
