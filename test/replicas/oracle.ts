import { isDeepStrictEqual } from 'node:util'
import { defaultSections } from '../../lib/config/schema.js'

/**
 * What the configuration of a bank means, written a second time from the contract and without a look at
 * lib/operations or lib/access.
 */

export const PERMISSIONS = ['read', 'write', 'forget', 'admin'] as const
export type Permission = typeof PERMISSIONS[number]

export interface Grant {
  principal: string
  permissions: string[]
}

/** Sections of a configuration: a map of maps and values. */
export interface Sections {
  [key: string]: unknown
}

/** A bank's own configuration, as its admins send it. */
export interface Document extends Sections {
  profile?: string
  access?: Grant[]
}

/** As much of a configuration file as concerns banks. */
export interface BankFile {
  access_control: { enabled: true, default_policy: 'owner_only', bank_grants: boolean }
  access_grants: Array<Grant & { bank_id: string }>
  global: Sections
  profiles: Record<string, Sections>
  banks: Record<string, Document>
}

export type Origin = 'default' | 'file' | 'profile' | 'bank'
export type Values = Map<string, { value: unknown, origin: Origin }>

const TRUST = ['suspect', 'untrusted', 'trusted']
const NEVER_HIGHER = [
  'recall_max_tokens', 'reflect_max_tokens', 'retain_max_content_bytes',
  'rate_limits.retain_per_minute', 'rate_limits.recall_per_minute', 'rate_limits.reflect_per_minute',
  'rate_limits.forget_per_minute', 'rate_limits.import_per_minute',
  'rate_limits.global_per_minute',
  'quotas.retain_per_day', 'quotas.import_per_day', 'quotas.reflect_per_day', 'quotas.model_calls_per_day',
  'quotas.model_tokens_per_day',
].map((name) => `homeostasis.${name}`).concat([
  'barriers.validation.max_content_length', 'barriers.metadata.max_metadata_size_bytes',
  'retrieval.semantic_timeout_ms', 'retrieval.rerank.candidates', 'retrieval.rerank.timeout_ms',
  'retrieval.rewrite.max_queries', 'retrieval.rewrite.timeout_ms',
  'retrieval.model_rerank.candidates', 'retrieval.model_rerank.timeout_ms', 'reflect.timeout_ms',
  'reflect.max_evidence', 'reflect.max_evidence_tokens',
])
const NEVER_ON = ['retrieval.weights.semantic', 'retrieval.rewrite.enabled', 'retrieval.model_rerank.enabled']
const BLOCKED_KEYS = 'barriers.metadata.blocked_keys'

/** The values of sections by their paths; a list is one value. */
export function flatten (sections: Sections, prefix = ''): Array<[path: string, value: unknown]> {
  return Object.entries(sections).flatMap(([key, value]) => typeof value === 'object' && value !== null &&
    !Array.isArray(value)
    ? flatten(value as Sections, `${prefix}${key}.`)
    : [[`${prefix}${key}`, value] as [string, unknown]])
}

function lay (below: Values, sections: Sections, origin: Origin): Values {
  return new Map([...below, ...flatten(sections).map(([path, value]) => [path, { value, origin }] as const)])
}

function withoutNames ({ profile: _, access: __, ...sections }: Document): Sections {
  return sections
}

function entryOf (file: BankFile, bank: string): Document | undefined {
  const fitting =
    Object.keys(file.banks).filter((name) => matches(name, bank) && name !== bank).sort((a, b) => b.length - a.length)
  return file.banks[bank] ?? file.banks[fitting[0] ?? '']
}

/** What the file says of a bank. */
function operatorValues (file: BankFile, bank: string): Values {
  const entry = entryOf(file, bank)
  const general = lay(lay(new Map(), { ...defaultSections(0) }, 'default'), file.global, 'file')
  if (entry === undefined) return general
  return lay(lay(general, file.profiles[entry.profile ?? ''] ?? {}, 'profile'), withoutNames(entry), 'file')
}

function isLooser (path: string, wanted: unknown, allowed: { value: unknown, origin: Origin }): boolean {
  if (NEVER_HIGHER.includes(path)) return Number(wanted) > Number(allowed.value)
  if (NEVER_ON.includes(path)) return !allowed.value && Boolean(wanted)
  if (path === 'reflect.min_score') return allowed.origin !== 'default' && Number(wanted) < Number(allowed.value)
  if (path === 'reflect.min_trust') return TRUST.indexOf(String(wanted)) < TRUST.indexOf(String(allowed.value))
  return false
}

function wantedValues (file: BankFile, bank: string, own: Document): Values {
  return lay(
    lay(operatorValues(file, bank), file.profiles[own.profile ?? ''] ?? {}, 'profile'), withoutNames(own), 'bank',
  )
}

/** The values in force for a bank, whatever it wants. */
export function valuesInForce (file: BankFile, bank: string, own: Document): Values {
  const allowed = operatorValues(file, bank)
  const values = wantedValues(file, bank, own)
  for (const [path, limit] of allowed) {
    const { value, origin } = values.get(path)!
    if (isLooser(path, value, limit)) values.set(path, limit)
    if (path === BLOCKED_KEYS) {
      values.set(path, { origin, value: [...new Set([...limit.value as string[], ...value as string[]])] })
    }
  }
  return values
}

/** A wrong field, what is wrong about it, and its value. */
interface Fault {
  field: string
  about: string
  value: unknown
}

function allFaultsOf (file: BankFile, bank: string, own: Document): Fault[] {
  const at = (field: string) => field.split('.').reduce<unknown>(
    (value, key) => (value as Sections | undefined)?.[key], own,
  )
  const fault = (field: string, about: string): Fault => ({ field, about, value: at(field) })
  const wanted = wantedValues(file, bank, own)
  const loose = [...operatorValues(file, bank)].flatMap(([path, limit]) => {
    const { value, origin } = wanted.get(path)!
    return isLooser(path, value, limit)
      ? [fault(origin === 'profile' ? 'profile' : path, `${path} ${String(limit.value)}`)]
      : []
  })
  const off = ['lexical', 'semantic'].every((name) => wanted.get(`retrieval.weights.${name}`)?.value === 0)
  return [
    ...loose,
    ...off ? [fault('retrieval.weights', 'off')] : [],
    // The server of the test has no reranker.
    ...at('retrieval.rerank') === undefined ? [] : [fault('retrieval.rerank', 'unused')],
    // Nor does it search vectors.
    ...at('retrieval.semantic_timeout_ms') === undefined ? [] : [fault('retrieval.semantic_timeout_ms', 'unused')],
    ...own.access !== undefined && !file.access_control.bank_grants ? [fault('access', 'forbidden')] : [],
    ...own.profile !== undefined && file.profiles[own.profile] === undefined ? [fault('profile', 'unknown')] : [],
  ]
}

/**
 * The fields that are wrong with a configuration whose form is right.
 * @param standing what a patch was merged into: what was wrong with it before, and is as it was, is not told again
 */
export function faultsOf (file: BankFile, bank: string, own: Document, standing?: Document): string[] {
  const before = standing === undefined ? [] : allFaultsOf(file, bank, standing)
  const faults = allFaultsOf(file, bank, own).filter((found) => !before.some((one) => isDeepStrictEqual(one, found)))
  return [...new Set(faults.map(({ field }) => field))].sort()
}

/** The grants of the file on a bank, then those of the bank's own admins. */
export function grantsOn (file: BankFile, bank: string, own: Document): Grant[] {
  const listed = file.access_grants.filter((grant) => matches(grant.bank_id, bank))
  const perBank = Object.entries(file.banks).flatMap(([name, entry]) => matches(name, bank) ? entry.access ?? [] : [])
  const granted = file.access_control.bank_grants ? own.access ?? [] : []
  return [...listed, ...perBank, ...granted].map(({ principal, permissions }) => ({ principal, permissions }))
}

/** What a principal may do on a bank. */
export function permissionsOf (file: BankFile, bank: string, own: Document, principal: string): Permission[] {
  const [type, id] = principal.split(':')
  if (bank === `${type}-${id}` || bank === id) return [...PERMISSIONS]
  const granted = grantsOn(file, bank, own).filter((grant) => matches(grant.principal, principal))
    .flatMap(({ permissions }) => permissions)
  return PERMISSIONS.filter((permission) => granted.includes(permission) || granted.includes('*'))
}

/** The longest ASCII content that the bank takes. */
export function longestContent (values: Values): number {
  const of = (path: string) => Number(values.get(path)?.value ?? Infinity)
  return Math.min(of('barriers.validation.max_content_length'), of('homeostasis.retain_max_content_bytes'))
}

/** A merge patch laid over a configuration. */
export function merged (target: Sections, patch: Sections): Sections {
  const result = { ...target }
  for (const [key, value] of Object.entries(patch)) {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (value === null) delete result[key]
    else result[key] = isMap ? merged((result[key] ?? {}) as Sections, value as Sections) : value
  }
  return result
}

function matches (pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** The profile that the file's entry for a bank chooses. */
export function entryProfile (file: BankFile, id: string): string | undefined {
  return id === 'team-red' ? file.banks['team-*']?.profile : undefined
}
