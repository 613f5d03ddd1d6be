import type { Trust } from '../identity/trust.js'
import { parseHostPattern } from './hosts.js'
import { FileSchema, type FileConfig } from './schema.js'
import { type Resolved, withDefaults } from '../validation/defaults.js'

const DEFAULT_CONTENT_PATHS = ['/content', '/text']

type ResolvedFile = Resolved<typeof FileSchema>

/** The name of a provider, with the settings that are passed to it. */
export interface ProviderChoice {
  name: string
  config: Record<string, unknown>
}

/** A grant, with its place in the file. */
interface GrantSettings {
  bankId: string
  principal: string
  permissions: ResolvedFile['access_grants'][number]['permissions']
  origin: string
}

/** A webhook, with defaults filled in. */
export interface SourceSettings {
  targetBank: string
  tenantId: string | null
  /** The principal that retains its events. */
  principal: string
  trust: Exclude<Trust, 'suspect'>
  /** JSON pointers to the content: the first one that leads to a value counts. */
  contentPaths: readonly string[]
  /** How a sender signs, with the headers in lower case. Undefined: anybody may send. */
  signature: { secret: string, header: string, timestampHeader: string | undefined } | undefined
}

/** The endpoint of the Model Context Protocol. */
export interface McpSettings {
  enabled: boolean
  /** Tokens of one answer. */
  answerTokens: number
  /** Messages of one JSON-RPC batch. */
  batchMessages: number
  /** Without a slash at its end. Undefined: the address is taken from the Host header. */
  publicUrl: string | undefined
  /** In canonical form. Undefined: any. */
  allowedHosts: readonly string[] | undefined
  /** Host names of web pages that may send requests, besides loopback names and that of `publicUrl`. */
  allowedOrigins: readonly string[]
}

/** The gateway-wide settings of the file under the code's own names, with every default filled in. */
export interface Settings {
  vectorStore: ProviderChoice
  languageModel: ProviderChoice
  embeddings: ProviderChoice
  /** Undefined: recall does not rerank. */
  reranker: ProviderChoice | undefined
  /** Of the strategies, for all banks. Where the file sets no semantic weight, the embedding provider decides it. */
  weights: { lexical: number, semantic: number | undefined }
  access: {
    enabled: boolean
    defaultPolicy: ResolvedFile['access_control']['default_policy']
    ownerPatterns: readonly string[]
    /** The grants of `access_grants` and of every `banks.<id>.access`, merged. */
    grants: readonly GrantSettings[]
  }
  /** Whether the admins of a bank may grant rights on it. */
  bankGrants: boolean
  /** The API of Hindsight; undefined: it is not served. `principal` is that of callers who send only the API key. */
  hindsight: { principal: string } | undefined
  /** Whether a request may be made on behalf of another principal. */
  onBehalfOf: boolean
  principalTrust: ResolvedFile['identity']['trust']
  circuitBreaker: { threshold: number, recoveryMs: number, halfOpenCalls: number }
  /** What reflect does when the language model is not available. */
  degradedMode: ResolvedFile['escalation']['degraded_mode']
  prices: ResolvedFile['prices']
  mcp: McpSettings
  /** The console. When `enabled` is undefined, it is served only if the server listens on loopback. */
  console: {
    enabled: boolean | undefined
    oidc: ResolvedFile['console']['oidc']
  }
  /** By their ids. */
  sources: Readonly<Record<string, SourceSettings>>
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
    weights: { lexical: all.retrieval.weights.lexical, semantic: all.retrieval.weights.semantic },
    access: {
      enabled: access.enabled,
      defaultPolicy: access.default_policy,
      ownerPatterns: access.owner_patterns,
      grants: [...generalGrants(all), ...grantsOfBanks(all)],
    },
    bankGrants: access.bank_grants,
    hindsight: all.compatibility.hindsight ? { principal: all.compatibility.hindsight_principal } : undefined,
    onBehalfOf: all.identity.obo_enabled,
    principalTrust: all.identity.trust,
    circuitBreaker: {
      threshold: breaker.failure_threshold,
      recoveryMs: breaker.recovery_timeout_seconds * 1000,
      halfOpenCalls: breaker.half_open_max_calls,
    },
    degradedMode,
    prices: all.prices,
    mcp: {
      enabled: all.mcp.enabled,
      answerTokens: all.mcp.answer_tokens,
      batchMessages: all.mcp.batch_messages,
      publicUrl: all.mcp.public_url?.replace(/\/+$/, ''),
      allowedHosts: all.mcp.allowed_hosts?.map((host) => parseHostPattern(host) ?? host),
      allowedOrigins: all.mcp.allowed_origins,
    },
    console: { enabled: all.console.enabled, oidc: all.console.oidc },
    sources: Object.fromEntries(Object.entries(all.sources).map(([id, source]) => [id, sourceSettings(id, source)])),
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

function sourceSettings (id: string, source: ResolvedFile['sources'][string]): SourceSettings {
  const { target_bank: targetBank, tenant_id: tenantId = null, auth, content_path: contentPath } = source
  const { principal = `service:${id}`, trust = auth.type === 'none' ? 'untrusted' : 'trusted' } = source
  return {
    targetBank,
    tenantId,
    principal,
    trust,
    contentPaths: contentPath === undefined ? DEFAULT_CONTENT_PATHS : [contentPath],
    signature: auth.type === 'none'
      ? undefined
      : {
          secret: auth.secret,
          header: auth.header.toLowerCase(),
          timestampHeader: auth.timestamp_header?.toLowerCase(),
        },
  }
}
