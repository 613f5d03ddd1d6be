import { ServiceError } from '../base/service-error.js'
import { NO_TELEMETRY, type Telemetry } from '../base/telemetry.js'
import type { RequestContext } from './context.js'
import { compileOwners } from './owners.js'
import { compilePattern, compilePrincipalPattern, isLiteral, type Matcher } from './patterns.js'

export const PERMISSIONS = ['read', 'write', 'forget', 'admin'] as const
export type Permission = typeof PERMISSIONS[number]
export type DefaultPolicy = 'owner_only' | 'open' | 'deny'

export interface GrantRule {
  bankId: string
  principal: string
  permissions: ReadonlyArray<Permission | '*'>
  /** The place of the grant in the configuration, for `whoami`. */
  origin: string
}

export interface AccessSettings {
  enabled: boolean
  defaultPolicy: DefaultPolicy
  ownerPatterns: readonly string[]
  grants: readonly GrantRule[]
}

interface Decision {
  allowed: boolean
  /** The grant or policy that allows. */
  grantedBy?: string
}

/** A grant whose patterns are compiled. */
export interface CompiledGrant {
  matchesBank: Matcher
  matchesPrincipal: Matcher
  permissions: ReadonlySet<Permission>
  origin: string
}

/** The compiled grants of the configuration. */
interface Rules {
  settings: AccessSettings
  /** Grants on literal bank ids, by that id; grants with patterns are tried one by one. */
  byBank: ReadonlyMap<string, CompiledGrant[]>
  patterned: readonly CompiledGrant[]
  /** Whether a principal owns a bank by the owner patterns. */
  ownsBank: (principal: string, bankId: string) => boolean
}

/** Decides who may do what on which bank. Grants add up; where none matches, the default policy decides. */
export class AccessControl {
  readonly #telemetry: Pick<Telemetry, 'refused'>
  #rules: Rules

  constructor (settings: AccessSettings, telemetry: Pick<Telemetry, 'refused'> = NO_TELEMETRY) {
    this.#telemetry = telemetry
    this.#rules = compileRules(settings)
  }

  get isEnabled (): boolean {
    return this.#rules.settings.enabled
  }

  /** The grants of the configuration on a bank. */
  grantsOn (bankId: string): GrantRule[] {
    return this.#rules.settings.grants.filter((grant) => compilePattern(grant.bankId)(bankId))
  }

  /** Puts other settings in force, all at once. */
  replace (settings: AccessSettings): void {
    this.#rules = compileRules(settings)
  }

  /**
   * With an on-behalf-of identity both principals need the permission, so acting for another only narrows access.
   * @param bankGrants the grants of the bank's own configuration
   */
  decide (
    context: RequestContext, permission: Permission, bankId: string, bankGrants: readonly CompiledGrant[] = [],
  ): Decision {
    if (!this.#rules.settings.enabled) return { allowed: true, grantedBy: 'access_control disabled' }
    // Only dev mode accepts a caller without a principal, and dev mode has no access control by specification.
    if (context.principal === undefined) return { allowed: true, grantedBy: 'anonymous in dev mode' }
    const own = this.#decideFor(context.principal, permission, bankId, bankGrants)
    if (!own.allowed || context.onBehalfOf === undefined) return own
    const other = this.#decideFor(context.onBehalfOf, permission, bankId, bankGrants)
    if (!other.allowed) return other
    const [first, second] = [own.grantedBy!, other.grantedBy!]
    return { allowed: true, grantedBy: first === second ? first : `${first} and ${second}` }
  }

  /** @throws ServiceError access_denied, naming principal, permission and bank */
  require (
    context: RequestContext, permission: Permission, bankId: string, bankGrants: readonly CompiledGrant[],
  ): void {
    if (this.decide(context, permission, bankId, bankGrants).allowed) return
    this.#telemetry.refused('access')
    throw new ServiceError('access_denied', deniedDetail(context, permission, bankId))
  }

  #decideFor (
    principal: string, permission: Permission, bankId: string, bankGrants: readonly CompiledGrant[],
  ): Decision {
    const { byBank, patterned, ownsBank, settings: { defaultPolicy } } = this.#rules
    const matches = (grant: CompiledGrant) => (
      grant.permissions.has(permission) && grant.matchesBank(bankId) && grant.matchesPrincipal(principal)
    )
    const grant = byBank.get(bankId)?.find(matches) ?? patterned.find(matches) ?? bankGrants.find(matches)
    if (grant !== undefined) return { allowed: true, grantedBy: grant.origin }
    const allowed = defaultPolicy === 'open' ||
      (defaultPolicy === 'owner_only' && ownsBank(principal, bankId))
    return allowed ? { allowed, grantedBy: `default_policy ${defaultPolicy}` } : { allowed }
  }
}

/** The `detail` of access_denied. */
export function deniedDetail (
  { principal, onBehalfOf }: RequestContext, permission: Permission, bankId: string,
): string {
  const behalf = onBehalfOf === undefined ? '' : ` on behalf of '${onBehalfOf}'`
  return `Principal '${principal}'${behalf} is denied '${permission}' on bank '${bankId}'`
}

function compileRules (settings: AccessSettings): Rules {
  const byBank = new Map<string, CompiledGrant[]>()
  const patterned: CompiledGrant[] = []
  for (const grant of settings.grants) {
    const compiled = compileGrant(grant)
    if (!isLiteral(grant.bankId)) patterned.push(compiled)
    else byBank.set(grant.bankId, [...byBank.get(grant.bankId) ?? [], compiled])
  }
  return { settings, byBank, patterned, ownsBank: compileOwners(settings.ownerPatterns) }
}

export function compileGrant (grant: GrantRule): CompiledGrant {
  return {
    matchesBank: compilePattern(grant.bankId),
    matchesPrincipal: compilePrincipalPattern(grant.principal),
    permissions: new Set(grant.permissions.flatMap((permission) => permission === '*' ? PERMISSIONS : [permission])),
    origin: grant.origin,
  }
}
