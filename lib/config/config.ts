import type { Bounds } from './bounds.js'
import type { FileConfig } from './schema.js'
import type { Settings } from './settings.js'

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
