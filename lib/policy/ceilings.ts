import type { BankSections } from '../config/schema.js'
import { isAtLeast, readTrust } from '../identity/trust.js'
import { valueAt } from '../validation/json-object.js'
import { withValueAt, type Merged } from './layers.js'

/**
 * How the operator's value bounds that of a bank. at_most: a number that may not be higher. at_least_set: a number that
 * may not be lower, when the operator has set one. only_off: what is off stays off. trust: a level of trust that may
 * only rise. union: a list that may only grow.
 */
type Rule = 'at_most' | 'at_least_set' | 'only_off' | 'trust' | 'union'

/** The settings that are limits; every other one is a bank's own choice. */
export const LIMITS: Readonly<Record<string, Rule>> = {
  'homeostasis.recall_max_tokens': 'at_most',
  'homeostasis.reflect_max_tokens': 'at_most',
  'homeostasis.retain_max_content_bytes': 'at_most',
  'homeostasis.rate_limits.retain_per_minute': 'at_most',
  'homeostasis.rate_limits.recall_per_minute': 'at_most',
  'homeostasis.rate_limits.reflect_per_minute': 'at_most',
  'homeostasis.rate_limits.forget_per_minute': 'at_most',
  'homeostasis.rate_limits.import_per_minute': 'at_most',
  'homeostasis.rate_limits.global_per_minute': 'at_most',
  'homeostasis.quotas.retain_per_day': 'at_most',
  'homeostasis.quotas.import_per_day': 'at_most',
  'homeostasis.quotas.reflect_per_day': 'at_most',
  'homeostasis.quotas.model_calls_per_day': 'at_most',
  'homeostasis.quotas.model_tokens_per_day': 'at_most',
  'barriers.validation.max_content_length': 'at_most',
  'barriers.metadata.max_metadata_size_bytes': 'at_most',
  'barriers.metadata.blocked_keys': 'union',
  'retrieval.weights.semantic': 'only_off',
  'retrieval.semantic_timeout_ms': 'at_most',
  'retrieval.rerank.candidates': 'at_most',
  'retrieval.rerank.timeout_ms': 'at_most',
  'retrieval.rewrite.enabled': 'only_off',
  'retrieval.rewrite.max_queries': 'at_most',
  'retrieval.rewrite.timeout_ms': 'at_most',
  'retrieval.model_rerank.enabled': 'only_off',
  'retrieval.model_rerank.candidates': 'at_most',
  'retrieval.model_rerank.timeout_ms': 'at_most',
  'reflect.timeout_ms': 'at_most',
  'reflect.max_evidence': 'at_most',
  'reflect.max_evidence_tokens': 'at_most',
  'reflect.min_score': 'at_least_set',
  'reflect.min_trust': 'trust',
}

/** A value beyond the operator's. */
interface CeilingViolation {
  path: string
  /** What the operator allows, in words. */
  allowed: string
}

/** The sections of a bank with each limit that is looser than the operator's replaced by the operator's. */
export function withinCeilings (bank: Merged, operator: Merged): Merged {
  return Object.keys(LIMITS).reduce((bounded, path) => {
    const value = boundFor(path, bank, operator)
    if (value === undefined) return bounded
    const from = path.endsWith('blocked_keys') ? bank.origin[path] : operator.origin[path]
    return {
      sections: withValueAt(bounded.sections, path, value),
      origin: from === undefined ? bounded.origin : { ...bounded.origin, [path]: from },
    }
  }, bank)
}

/** The values of a bank that are looser than its operator's. */
export function ceilingViolations (bank: Merged, operator: Merged): CeilingViolation[] {
  return Object.entries(LIMITS).flatMap(([path, rule]) => {
    const bound = boundFor(path, bank, operator)
    return bound === undefined || rule === 'union' ? [] : [{ path, allowed: describe(rule, bound) }]
  })
}

/** The operator's value of each limit that bounds a bank, by its path. */
export function ceilingsOf ({ sections, origin }: Merged): Record<string, unknown> {
  return Object.fromEntries(Object.entries(LIMITS).flatMap(([path, rule]) => {
    const ceiling = valueAt(sections, path)
    const isBound = ceiling !== undefined && !(rule === 'at_least_set' && origin[path] === 'default')
    return isBound ? [[path, ceiling]] : []
  }))
}

/** The settings for an operation on several banks: the tightest of each limit, and all others from `base`. */
export function strictestLimits (base: BankSections, banks: readonly BankSections[]): BankSections {
  return banks.reduce((sections, bank) => {
    // Every value is treated as set, because here a default of one bank limits the others too.
    const origin = Object.fromEntries(Object.keys(LIMITS).map((path) => [path, 'file' as const]))
    return withinCeilings({ sections, origin }, { sections: bank, origin }).sections
  }, base)
}

/**
 * @returns the operator's value where the bank's is looser; the union of two lists where the bank's lacks an element;
 *   undefined where the bank's value is within the limit
 */
function boundFor (path: string, bank: Merged, operator: Merged): unknown {
  const own = valueAt(bank.sections, path)
  const ceiling = valueAt(operator.sections, path)
  if (ceiling === undefined) return undefined
  switch (LIMITS[path]!) {
    case 'at_most': return own === undefined || Number(own) > Number(ceiling) ? ceiling : undefined
    case 'at_least_set':
      return operator.origin[path] !== 'default' && Number(own) < Number(ceiling) ? ceiling : undefined
    case 'only_off': return isOff(ceiling) && !isOff(own) ? ceiling : undefined
    case 'trust': return isAtLeast(readTrust(String(own)), readTrust(String(ceiling))) ? undefined : ceiling
    case 'union': {
      const [ownKeys, ceilingKeys] = [own as readonly string[], ceiling as readonly string[]]
      return ceilingKeys.every((key) => ownKeys.includes(key)) ? undefined : [...new Set([...ceilingKeys, ...ownKeys])]
    }
  }
}

function isOff (value: unknown): boolean {
  return value === false || value === 0 || value === undefined
}

function describe (rule: Rule, bound: unknown): string {
  switch (rule) {
    case 'at_most': return `at most ${String(bound)}`
    case 'at_least_set': return `at least ${String(bound)}`
    case 'trust': return `at least ${String(bound)}`
    case 'only_off': return `${String(bound)}, since it is switched off for this bank`
    case 'union': return String(bound)
  }
}
