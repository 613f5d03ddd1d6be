import { withLowerType, type RequestContext } from './context.js'
import { compilePrincipalPattern, isLiteral, type Matcher } from './patterns.js'
import { lowestTrust, type Trust } from './trust.js'

export interface TrustRule {
  /** A principal, or a prefix before one trailing `*`. */
  principal: string
  trust: Exclude<Trust, 'suspect'>
}

interface CompiledRule {
  principal: string
  trust: Trust
  matches: Matcher
}

/** The trust level of each caller's memories (`identity.trust`). */
export class PrincipalTrust {
  readonly #rules: readonly CompiledRule[]

  constructor (rules: readonly TrustRule[]) {
    this.#rules = rules.map(({ principal, trust }) => (
      { principal, trust, matches: compilePrincipalPattern(principal) }
    )).sort(byPrecedence)
  }

  /**
   * The level of the most specific rule: a literal before a pattern, a longer pattern before a shorter one, and of two
   * equal patterns the lower level; `trusted` without a rule. With an on-behalf-of identity it is the lower level of
   * both principals. Types are compared in lower case, so that no spelling of a type evades a rule. The level never
   * exceeds the context's ceiling.
   */
  of ({ principal, onBehalfOf, trustCeiling = 'trusted' }: RequestContext): Trust {
    const levels = [principal, ...(onBehalfOf === undefined ? [] : [onBehalfOf])].map((name) => this.#ofPrincipal(name))
    return lowestTrust(trustCeiling, ...levels)
  }

  /** @param name undefined for an anonymous caller, whom only a lone `*` matches */
  #ofPrincipal (name: string | undefined): Trust {
    const lowered = name === undefined ? undefined : withLowerType(name)
    const isFor = ({ principal, matches }: CompiledRule) => lowered === undefined ? principal === '*' : matches(lowered)
    return this.#rules.find(isFor)?.trust ?? 'trusted'
  }
}

function byPrecedence (a: TrustRule, b: TrustRule): number {
  return Number(isLiteral(b.principal)) - Number(isLiteral(a.principal)) ||
    b.principal.length - a.principal.length ||
    Number(a.trust === 'trusted') - Number(b.trust === 'trusted')
}
