import { withDefaults } from './defaults.js'
import { FileSchema, type FileConfig } from './schema.js'
import type { Resolved } from './schema-parts.js'

type ResolvedFile = Resolved<typeof FileSchema>

/** A provider by its name, with the settings that are handed to it. */
export interface ProviderChoice {
  name: string
  config: Record<string, unknown>
}

/** A grant, with its place in the file. */
export interface GrantSettings {
  bankId: string
  principal: string
  permissions: ResolvedFile['access_grants'][number]['permissions']
  origin: string
}

/** What the configuration file says of the whole gateway, in the words of the rooms, with every default filled in. */
export interface Settings {
  vectorStore: ProviderChoice
  languageModel: ProviderChoice
  embeddings: ProviderChoice
  /** Undefined: recall does not rerank. */
  reranker: ProviderChoice | undefined
  access: {
    enabled: boolean
    defaultPolicy: ResolvedFile['access_control']['default_policy']
    ownerPatterns: readonly string[]
    /** The grants of `access_grants` and of every `banks.<id>.access`, merged. */
    grants: readonly GrantSettings[]
  }
  /** Whether the admins of a bank may grant rights on it. */
  bankGrants: boolean
  /** Whether a request may be made on behalf of another principal. */
  onBehalfOf: boolean
  principalTrust: ResolvedFile['identity']['trust']
  circuitBreaker: { threshold: number, recoveryMs: number, halfOpenCalls: number }
  /** What reflect does when the language model cannot be had. */
  degradedMode: ResolvedFile['escalation']['degraded_mode']
  prices: ResolvedFile['prices']
  /** Bytes of all exports that wait in temporary files. */
  spoolBytes: number
}

/** @param file checked against its schema */
export function settingsOf (file: FileConfig): Settings {
  const all = withDefaults(FileSchema, file)
  const { access_control: access, escalation: { circuit_breaker: breaker, degraded_mode: degradedMode } } = all
  return {
    vectorStore: { name: all.vector_store, config: all.vector_store_config },
    languageModel: { name: all.llm_provider, config: all.llm_provider_config },
    embeddings: { name: all.embedding_provider, config: all.embedding_provider_config },
    reranker: all.reranker === undefined ? undefined : { name: all.reranker, config: all.reranker_config },
    access: {
      enabled: access.enabled,
      defaultPolicy: access.default_policy,
      ownerPatterns: access.owner_patterns,
      grants: [...generalGrants(all), ...grantsOfBanks(all)],
    },
    bankGrants: access.bank_grants,
    onBehalfOf: all.identity.obo_enabled,
    principalTrust: all.identity.trust,
    circuitBreaker: {
      threshold: breaker.failure_threshold,
      recoveryMs: breaker.recovery_timeout_seconds * 1000,
      halfOpenCalls: breaker.half_open_max_calls,
    },
    degradedMode,
    prices: all.prices,
    spoolBytes: all.bounds.spool_bytes,
  }
}

function generalGrants ({ access_grants: grants }: ResolvedFile): GrantSettings[] {
  return grants.map(({ bank_id: bankId, principal, permissions }, index) => (
    { bankId, principal, permissions, origin: `access_grants[${index}]` }
  ))
}

function grantsOfBanks ({ banks }: ResolvedFile): GrantSettings[] {
  return Object.entries(banks).flatMap(([bankId, { access = [] }]) => (
    access.map((grant, index) => ({ bankId, ...grant, origin: `banks.${bankId}.access[${index}]` }))
  ))
}
