import { ServiceError } from '../errors.js'
import type { RequestContext } from '../identity/context.js'
import { NO_TELEMETRY, type Telemetry } from '../telemetry.js'
import { DEFAULT_OWNER_PATTERNS, ownsBank } from './owners.js'
import { compilePattern, compilePrincipalPattern, isLiteral, type Matcher } from './patterns.js'

export const PERMISSIONS = ['read', 'write', 'forget', 'admin'] as const
export type Permission = typeof PERMISSIONS[number]
export type DefaultPolicy = 'owner_only' | 'open' | 'deny'

export interface GrantRule {
  bankId: string
  principal: string
  permissions: ReadonlyArray<Permission | '*'>
  /** Where the grant stands in the configuration, for `whoami`. */
  origin: string
}

export interface AccessSettings {
  enabled: boolean
  defaultPolicy: DefaultPolicy
  ownerPatterns?: readonly string[]
  grants: readonly GrantRule[]
}

export interface Decision {
  allowed: boolean
  /** The grant or policy that allows. */
  grantedBy?: string
}

interface CompiledGrant {
  matchesBank: Matcher
  matchesPrincipal: Matcher
  permissions: ReadonlySet<Permission>
  origin: string
}

/** Who may do what on which bank. Grants are united; the default policy speaks whenever none matches. */
export class AccessControl {
  readonly #settings: AccessSettings
  readonly #telemetry: Pick<Telemetry, 'refused'>
  /** Grants on literal bank ids by that id; the others have to be tried one by one. */
  readonly #byBank = new Map<string, CompiledGrant[]>()
  readonly #patterned: CompiledGrant[] = []

  constructor (settings: AccessSettings, telemetry: Pick<Telemetry, 'refused'> = NO_TELEMETRY) {
    this.#settings = settings
    this.#telemetry = telemetry
    for (const grant of settings.grants) {
      const compiled = compile(grant)
      if (!isLiteral(grant.bankId)) this.#patterned.push(compiled)
      else this.#byBank.set(grant.bankId, [...this.#byBank.get(grant.bankId) ?? [], compiled])
    }
  }

  /** With an on-behalf-of identity both have to be allowed: it narrows, never widens. */
  decide (context: RequestContext, permission: Permission, bankId: string): Decision {
    if (!this.#settings.enabled) return { allowed: true, grantedBy: 'access_control disabled' }
    // Only dev mode lets a caller without a principal in, and the specification gives it no access control.
    if (context.principal === undefined) return { allowed: true, grantedBy: 'anonymous in dev mode' }
    const own = this.#decideFor(context.principal, permission, bankId)
    if (!own.allowed || context.onBehalfOf === undefined) return own
    const other = this.#decideFor(context.onBehalfOf, permission, bankId)
    if (!other.allowed) return other
    return { allowed: true, grantedBy: own.grantedBy === other.grantedBy ? own.grantedBy! : `${own.grantedBy} and ${other.grantedBy}` }
  }

  /** @throws ServiceError access_denied, naming principal, permission and bank */
  require (context: RequestContext, permission: Permission, bankId: string): void {
    if (this.decide(context, permission, bankId).allowed) return
    this.#telemetry.refused('access')
    const behalf = context.onBehalfOf === undefined ? '' : ` on behalf of '${context.onBehalfOf}'`
    throw new ServiceError('access_denied', `Principal '${context.principal}'${behalf} is denied '${permission}' on bank '${bankId}'`)
  }

  #decideFor (principal: string, permission: Permission, bankId: string): Decision {
    const matches = (grant: CompiledGrant) => grant.permissions.has(permission) && grant.matchesBank(bankId) && grant.matchesPrincipal(principal)
    const grant = this.#byBank.get(bankId)?.find(matches) ?? this.#patterned.find(matches)
    if (grant !== undefined) return { allowed: true, grantedBy: grant.origin }
    const { defaultPolicy, ownerPatterns = DEFAULT_OWNER_PATTERNS } = this.#settings
    const allowed = defaultPolicy === 'open' || (defaultPolicy === 'owner_only' && ownsBank(principal, bankId, ownerPatterns))
    return allowed ? { allowed, grantedBy: `default_policy ${defaultPolicy}` } : { allowed }
  }
}

function compile (grant: GrantRule): CompiledGrant {
  return {
    matchesBank: compilePattern(grant.bankId),
    matchesPrincipal: compilePrincipalPattern(grant.principal),
    permissions: new Set(grant.permissions.flatMap((permission) => permission === '*' ? PERMISSIONS : [permission])),
    origin: grant.origin,
  }
}
