import { withDefaults, type Resolved } from '../base/defaults.js'
import { parseHostPattern } from '../base/uri.js'
import { FileSchema, type Bounds, type FileConfig } from './schema.js'

/** How callers authenticate. The lists of answers, of the environment and of `init` derive from this one. */
export const AUTH_MODES = ['dev', 'api_key', 'jwt_hs256', 'jwt_oidc'] as const
export type AuthMode = typeof AUTH_MODES[number]

/** Settings of authentication. A mode whose own setting is missing answers 500 and names it. */
export interface AuthConfig {
  mode: AuthMode
  apiKey?: string | undefined
  jwtSecret?: string | undefined
  jwtAudience?: string | undefined
  jwtIssuer?: string | undefined
  oidcJwksUrl?: string | undefined
  oidcIssuer?: string | undefined
  oidcAudience?: string | undefined
  /** Trimmed and lower-cased. Default `user`. */
  oidcActorType: string
}

/** Everything that the process reads at start, checked and frozen. */
export interface Config {
  host: string
  /** 0 lets the system choose. */
  port: number
  /** A separate port for the metrics, 0 as above. Absent: they are served on `port`, behind the admin token. */
  metricsPort?: number | undefined
  /** The whole URL to which traces are sent. Absent: no tracing. */
  tracesUrl?: string | undefined
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  maxBodyBytes: number
  /** Whether dev mode, which trusts every caller, may serve connections that do not arrive on loopback. */
  allowDevAuth?: boolean | undefined
  /** In dev mode, further host names and addresses allowed in the Host header; `*.` stands for any subdomain. */
  allowedHosts?: readonly string[] | undefined
  /** The exact origins of web pages whose scripts may call the gateway. Absent: none. */
  corsOrigins?: readonly string[] | undefined
  healthTimeoutMs: number
  shutdownTimeoutMs: number
  /** For so long a stopping process still serves, while it is not ready any more. */
  drainMs: number
  auth: AuthConfig
  adminToken?: string | undefined
  /**
   * The key of cursors that clients may not read, 64 hexadecimal digits, derived from the secrets of the process, so
   * that processes with the same secrets share it. Absent without secrets: each process has a key of its own.
   */
  cursorKey?: string | undefined
  /** `variable` is the one that the URI was read from, directly or through its file. */
  database: { url?: string, variable?: 'DATABASE_URL' | 'SERVICES_PG_DSN' }
  file: FileConfig
  /** The settings of the file under the code's own names, with every default filled in. */
  settings: Settings
  /** The section `bounds` of the file with every default filled in; some depend on the variables. */
  bounds: Bounds
  /** The variables that the file's provider settings name (`api_key_env`) and that are set. */
  environment?: Readonly<Record<string, string>> | undefined
  /** Where relative provider paths start: the folder of the configuration file, else the working directory. */
  baseDirectory: string
  /** Sentences for the log about settings that are valid but probably not intended. */
  warnings: string[]
  /** Those of `warnings` that do not apply when an app authenticates its callers in place of the auth mode. */
  callerWarnings?: readonly string[]
}

const DEFAULT_CONTENT_PATHS = ['/content', '/text']

/** The gateway-wide settings of the file under the code's own names, with every default filled in. */
export type Settings = ReturnType<typeof settingsOf>
/** The name of a provider, with the settings that are passed to it. */
export type ProviderChoice = Settings['vectorStore']
export type McpSettings = Settings['mcp']
/** A webhook, with defaults filled in. */
export type SourceSettings = Settings['sources'][string]

/** @param file checked against its schema */
export function settingsOf (file: FileConfig) {
  const all = withDefaults(FileSchema, file)
  const { access_control: access, escalation: { circuit_breaker: breaker, degraded_mode: degradedMode } } = all
  return {
    vectorStore: { name: all.vector_store, config: all.vector_store_config },
    languageModel: { name: all.llm_provider, config: all.llm_provider_config },
    embeddings: { name: all.embedding_provider, config: all.embedding_provider_config },
    /** Undefined: recall does not rerank. */
    reranker: all.reranker === undefined ? undefined : { name: all.reranker, config: all.reranker_config },
    /** Of the strategies, for all banks. Where the file sets no semantic weight, the embedding provider decides it. */
    weights: { lexical: all.retrieval.weights.lexical, semantic: all.retrieval.weights.semantic },
    access: {
      enabled: access.enabled,
      defaultPolicy: access.default_policy,
      ownerPatterns: access.owner_patterns,
      /** The grants of `access_grants` and of every `banks.<id>.access`, each with its place in the file. */
      grants: [
        ...all.access_grants.map(({ bank_id: bankId, principal, permissions }, index) => (
          { bankId, principal, permissions, origin: `access_grants[${index}]` }
        )),
        ...Object.entries(all.banks).flatMap(([bankId, { access: granted = [] }]) => granted.map((grant, index) => (
          { bankId, ...grant, origin: `banks.${bankId}.access[${index}]` }
        ))),
      ],
    },
    /** Whether the admins of a bank may grant rights on it. */
    bankGrants: access.bank_grants,
    /** Whether a request may be made on behalf of another principal. */
    onBehalfOf: all.identity.obo_enabled,
    principalTrust: all.identity.trust,
    circuitBreaker: {
      threshold: breaker.failure_threshold,
      recoveryMs: breaker.recovery_timeout_seconds * 1000,
      halfOpenCalls: breaker.half_open_max_calls,
    },
    /** What reflect does when the language model is not available. */
    degradedMode,
    prices: all.prices,
    /** Where the use of rate limits is counted. */
    limitsStore: {
      type: all.limits_store.type,
      url: all.limits_store.url,
      keyPrefix: all.limits_store.key_prefix,
      timeoutMs: all.limits_store.timeout_ms,
      whenDown: all.limits_store.when_down,
    },
    mcp: {
      enabled: all.mcp.enabled,
      answerTokens: all.mcp.answer_tokens,
      batchMessages: all.mcp.batch_messages,
      /** Without a slash at its end. Undefined: the address is taken from the Host header. */
      publicUrl: all.mcp.public_url?.replace(/\/+$/, ''),
      /** In canonical form. Undefined: any. */
      allowedHosts: all.mcp.allowed_hosts?.map((host) => parseHostPattern(host) ?? host),
      /** Host names of web pages that may send requests, besides loopback names and that of `publicUrl`. */
      allowedOrigins: all.mcp.allowed_origins,
    },
    /** When `enabled` is undefined, it is served only if the server listens on loopback. */
    console: { enabled: all.console.enabled, oidc: all.console.oidc },
    sources: Object.fromEntries(Object.entries(all.sources).map(([id, source]) => [id, sourceSettings(id, source)])),
  }
}

function sourceSettings (id: string, source: Resolved<typeof FileSchema>['sources'][string]) {
  const { target_bank: targetBank, tenant_id: tenantId = null, auth, content_path: contentPath } = source
  const { principal = `service:${id}`, trust = auth.type === 'none' ? 'untrusted' : 'trusted' } = source
  return {
    targetBank,
    tenantId,
    principal,
    trust,
    /** JSON pointers to the content: the first one that leads to a value counts. */
    contentPaths: contentPath === undefined ? DEFAULT_CONTENT_PATHS : [contentPath],
    /** How a sender signs, with the headers in lower case. Undefined: anybody may send. */
    signature: auth.type === 'none'
      ? undefined
      : {
          secret: auth.secret,
          header: auth.header.toLowerCase(),
          timestampHeader: auth.timestamp_header?.toLowerCase(),
        },
  }
}
