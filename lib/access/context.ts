import { BANK_ID, PRINCIPAL } from '../base/ids.js'
import type { Trust } from './trust.js'

/** Structured identity of a caller, only in jwt_oidc mode. */
export interface Actor {
  /** Trimmed and lower-cased kind, for example `user` or `agent`. */
  type: string
  /** The `sub` claim, unchanged. */
  id: string
  /** Every claim of the token that is not mapped to a field of the context, as text; complex values as JSON. */
  claims: Record<string, string>
}

/** The identity of the caller. Authentication makes one for each request; every memory operation takes it. */
export interface RequestContext {
  /** `<type>:<id>`; absent for anonymous callers, whom only dev mode knows. */
  principal?: string | undefined
  actor?: Actor
  /** Null when the caller belongs to no tenant. */
  tenantId: string | null
  /** The principal that the caller acts for; it can only narrow what the caller may do. */
  onBehalfOf?: string | undefined
  /** The highest trust of what the request writes. When absent, trust depends on the principals alone. */
  trustCeiling?: Trust
}

/** The identity of a bank: the same name in another tenant is another bank. */
export interface BankKey {
  tenantId: string | null
  bankId: string
}

/** The bank that a caller means by a name: the one of the caller's tenant. */
export function bankOf (context: RequestContext, bankId: string): BankKey {
  return { tenantId: context.tenantId, bankId }
}

/**
 * One string for each caller of a tenant, by which rate limits and streams are counted.
 */
export function callerOf ({ tenantId, principal = '' }: RequestContext): string {
  // A principal has no white space, so the string is unambiguous. Neither part has a control character.
  return `${principal} ${tenantId ?? ''}`
}

const WHOLE_PRINCIPAL = new RegExp(`^${PRINCIPAL}$`, 'u')
const TYPED = /^([^:]*):(.*)$/su

export function isPrincipal (text: string): boolean {
  return WHOLE_PRINCIPAL.test(text)
}

/** Whether a pattern of principals, which is literal or ends in one `*`, can match any. */
export function canMatchPrincipal (pattern: string): boolean {
  return pattern === '*' || isPrincipal(pattern.endsWith('*') ? pattern.slice(0, -1) : pattern)
}

/**
 * Tenants are part of storage keys, so they have no control characters or lone surrogates, which PostgreSQL rejects.
 */
const TENANT = /^[^\p{Cc}\p{Cs}]{1,256}$/u

/** A tenant is any 1 to 256 characters without control characters. */
export function isTenant (text: string): boolean {
  return TENANT.test(text)
}

/** @returns type and id of a `<type>:<id>` principal, both non-empty; undefined for any other form */
export function splitPrincipal (principal: string): { type: string, id: string } | undefined {
  const parts = TYPED.exec(principal)
  if (parts === null || parts[1] === '' || parts[2] === '') return undefined
  return { type: parts[1]!, id: parts[2]! }
}

/** The principal with its type in lower case; one without a type as it is. */
export function withLowerType (principal: string): string {
  const colon = principal.indexOf(':')
  return colon === -1 ? principal : `${principal.slice(0, colon).toLowerCase()}${principal.slice(colon)}`
}

/** The rule for bank ids; in JavaScript `$` matches only at the very end, so a trailing line feed is refused. */
export const BANK_ID_PATTERN = `^${BANK_ID}$`
const WHOLE_BANK_ID = new RegExp(BANK_ID_PATTERN)

export function isBankId (text: string): boolean {
  return WHOLE_BANK_ID.test(text)
}

/** The identity alone, as stores keep and return it. */
export function identityOf ({ tenantId, bankId }: BankKey): BankKey {
  return { tenantId, bankId }
}

/** Between tenant and bank in a bank's key. It sorts before every character of a tenant, as control characters do. */
const KEY_SEPARATOR = '\u001f'

/**
 * One string for a bank that no other tenant and bank can share, because tenants and bank ids have no control
 * characters. The keys of banks sort by tenant, no tenant first, then by bank.
 * @throws TypeError for the tenant '', which would be no tenant
 */
export function bankKeyString ({ tenantId, bankId }: BankKey): string {
  if (tenantId === '') throw new TypeError('A tenant id must not be empty')
  return `${tenantId ?? ''}${KEY_SEPARATOR}${bankId}`
}

/** The bank of a key. */
export function bankOfKey (key: string): BankKey {
  const at = key.indexOf(KEY_SEPARATOR)
  return { tenantId: at === 0 ? null : key.slice(0, at), bankId: key.slice(at + 1) }
}

/** The keys of a tenant's banks: those from the first on, and before the second. */
export function keysOfTenant (tenantId: string | null): { from: string, before: string } {
  return { from: `${tenantId ?? ''}${KEY_SEPARATOR}`, before: `${tenantId ?? ''}\u0020` }
}
