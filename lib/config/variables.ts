import { distance } from 'fastest-levenshtein'
import { AUTH_MODES, type AuthMode, type Config } from './config.js'
import type { Environment } from './environment.js'
import { printable } from './problems.js'
import { MAX_BYTES } from './schema.js'

export const LOG_LEVELS = [
  'fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent',
] as const satisfies Config['logLevel'][]

/** The values of SERVICE_AUTH_MODE: `jwt` is another name of `jwt_hs256`. */
export const AUTH_MODE_CHOICES = AUTH_MODES.flatMap((mode): Array<AuthMode | 'jwt'> => (
  mode === 'jwt_hs256' ? [mode, 'jwt'] : [mode]
))

export const SWITCH_ON = ['1', 'true', 'yes'] as const
export const SWITCH_OFF = ['0', 'false', 'no'] as const

/** All environment variables that the service reads. */
export const VARIABLES = [
  {
    name: 'SERVICES_HOST',
    secret: false,
    kind: { type: 'host' },
    default: '127.0.0.1',
    description: 'Address to listen on.',
  },
  {
    name: 'SERVICES_PORT',
    secret: false,
    kind: { type: 'integer', min: 0, max: 65_535 },
    default: '8080',
    description: 'Port to listen on; 0 lets the system choose.',
  },
  {
    name: 'SERVICES_METRICS_PORT',
    secret: false,
    kind: { type: 'integer', min: 0, max: 65_535 },
    description: 'Separate port for GET /metrics, on SERVICES_HOST and without authentication; 0 lets the system ' +
      'choose. In dev mode SERVICES_ALLOWED_HOSTS applies. Unset: SERVICES_PORT serves it, for the admin token.',
  },
  {
    name: 'SERVICES_CONFIG_PATH',
    secret: false,
    kind: { type: 'path' },
    description: 'YAML configuration file; a relative path is relative to the working directory.',
  },
  {
    name: 'SERVICES_MAX_BODY_BYTES',
    secret: false,
    kind: { type: 'integer', min: 1_024, max: MAX_BYTES },
    default: '1048576',
    description: 'Maximum size of a request body in bytes; a larger one gets 413.',
  },
  {
    name: 'SERVICES_HEALTH_TIMEOUT_MS',
    secret: false,
    kind: { type: 'integer', min: 1, max: 60_000 },
    default: '2000',
    description: 'Maximum duration of a readiness check in milliseconds.',
  },
  {
    name: 'SERVICES_SHUTDOWN_TIMEOUT_MS',
    secret: false,
    kind: { type: 'integer', min: 1000, max: 600_000 },
    default: '30000',
    description: 'Milliseconds that requests in flight have to finish when the process stops.',
  },
  {
    name: 'SERVICES_DRAIN_MS',
    secret: false,
    kind: { type: 'integer', min: 0, max: 600_000 },
    default: '0',
    description: 'Milliseconds for which a process that is told to stop still serves everything while `/health` is ' +
      'answered 503, so that load balancers stop using it.',
  },
  {
    name: 'SERVICES_LOG_LEVEL',
    secret: false,
    kind: { type: 'choice', values: LOG_LEVELS },
    default: 'info',
    description: 'Lowest level that is logged.',
  },
  {
    name: 'SERVICE_AUTH_MODE',
    secret: false,
    kind: { type: 'choice', values: AUTH_MODE_CHOICES },
    default: 'dev',
    description: 'How callers authenticate; jwt means jwt_hs256.',
  },
  {
    name: 'SERVICE_ALLOW_DEV_AUTH',
    secret: false,
    kind: { type: 'switch' },
    default: '0',
    mode: 'dev',
    description: 'Whether dev mode, which trusts every caller, may listen on an address that is not loopback.',
  },
  {
    name: 'SERVICES_ALLOWED_HOSTS',
    secret: false,
    kind: { type: 'hosts' },
    mode: 'dev',
    description: 'Comma-separated host names and addresses that dev mode, which trusts every caller, accepts in the ' +
      'Host header, in addition to loopback ones and the address of the connection itself; `*.example.com` matches ' +
      'all subdomains of example.com. A request with another Host gets 403.',
  },
  {
    name: 'SERVICES_CORS_ORIGINS',
    secret: false,
    kind: { type: 'origins' },
    description: 'Comma-separated origins of web pages whose scripts may call the memory routes from another origin ' +
      '(CORS): scheme, host and port, without a path or a wildcard. Unset: none.',
  },
  {
    name: 'SERVICE_API_KEY',
    secret: true,
    kind: { type: 'text' },
    mode: 'api_key',
    required: true,
    description: 'The key that callers send in X-Api-Key.',
  },
  {
    name: 'SERVICE_JWT_SECRET',
    secret: true,
    kind: { type: 'text' },
    mode: 'jwt_hs256',
    required: true,
    description: 'Secret that signs the tokens; fewer than 32 bytes cause a warning.',
  },
  {
    name: 'SERVICE_JWT_AUDIENCE',
    secret: false,
    kind: { type: 'text' },
    mode: 'jwt_hs256',
    description: 'Expected aud claim; unset skips audience validation.',
  },
  {
    name: 'SERVICE_JWT_ISSUER',
    secret: false,
    kind: { type: 'text' },
    mode: 'jwt_hs256',
    description: 'Expected iss claim; unset skips issuer validation.',
  },
  {
    name: 'SERVICE_OIDC_JWKS_URL',
    secret: false,
    kind: { type: 'url' },
    mode: 'jwt_oidc',
    required: true,
    description: 'URL of the key set of the identity provider: at most 64 KiB; its first 50 RSA keys are used.',
  },
  {
    name: 'SERVICE_OIDC_ISSUER',
    secret: false,
    kind: { type: 'text' },
    mode: 'jwt_oidc',
    required: true,
    description: 'Expected iss claim.',
  },
  {
    name: 'SERVICE_OIDC_AUDIENCE',
    secret: false,
    kind: { type: 'text' },
    mode: 'jwt_oidc',
    required: true,
    description: 'Expected aud claim.',
  },
  {
    name: 'SERVICE_OIDC_ACTOR_TYPE',
    secret: false,
    kind: { type: 'word' },
    default: 'user',
    mode: 'jwt_oidc',
    description: 'Actor type of a token that names none; converted to lower case.',
  },
  {
    name: 'SERVICE_ADMIN_TOKEN',
    secret: true,
    kind: { type: 'text' },
    description: 'Token that /v1/admin requires in X-Admin-Token. Unset: these routes are open.',
  },
  {
    name: 'DATABASE_URL',
    secret: true,
    kind: { type: 'text' },
    description: 'Connection URI of the database, for a vector store that uses one.',
  },
  {
    name: 'SERVICES_PG_DSN',
    secret: true,
    kind: { type: 'text' },
    description: 'The same as DATABASE_URL; set only one of them.',
  },
  {
    name: 'MIGRATE_DATABASE_URL',
    secret: true,
    kind: { type: 'text' },
    description: 'URI of the role that owns the tables; migrate prefers it to DATABASE_URL, nothing else uses it.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    secret: false,
    kind: { type: 'text' },
    description: 'http or https URL of an OpenTelemetry collector (OTLP over HTTP, JSON); traces are sent to its ' +
      'path v1/traces. Unset: no tracing. docs/operations.md names the other OTEL_ variables that are read.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    secret: false,
    kind: { type: 'text' },
    description: 'Full URL for traces only; takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT.',
  },
  {
    name: 'OTEL_SDK_DISABLED',
    secret: false,
    kind: { type: 'text' },
    default: 'false',
    description: 'true: no tracing, whatever else is set.',
  },
  {
    name: 'OTEL_TRACES_EXPORTER',
    secret: false,
    kind: { type: 'text' },
    description: 'none: no tracing. Exporters other than otlp are not supported.',
  },
] as const satisfies readonly Variable[]

export type VariableName = (typeof VARIABLES)[number]['name']

const BY_NAME: ReadonlyMap<string, Variable> = new Map(VARIABLES.map((variable) => [variable.name, variable]))

/** The table's entry of a known variable. */
export function variable (name: VariableName): Variable {
  const entry = BY_NAME.get(name)
  if (entry === undefined) throw new Error(`No such variable: ${name}`)
  return entry
}

/** All known names, `<NAME>_FILE` of the secrets included. */
export const KNOWN_NAMES: readonly string[] = (
  VARIABLES.flatMap(({ name, secret }) => secret ? [name, `${name}_FILE`] : [name])
)

/** The values that a variable may have. All but secrets are trimmed; the case of choices is ignored. */
export type Kind =
  | { type: 'text' | 'switch' | 'word' | 'host' | 'hosts' | 'origins' | 'url' | 'path' }
  | { type: 'integer', min: number, max: number }
  | { type: 'choice', values: readonly string[] }

/** One environment variable. */
export interface Variable {
  name: string
  /** A secret is never shown, and may also come from the file that `<name>_FILE` names. */
  secret: boolean
  kind: Kind
  default?: string
  description: string
  /** The only auth mode that reads it. */
  mode?: AuthMode
  /** Whether that mode answers 500 without it. */
  required?: boolean
}

const OWN_PREFIX = /^SERVICES?_/
const DATABASE_LIKE = /^(DAT|MIGRATE_)/
const DATABASE_NAMES = KNOWN_NAMES.filter((name) => DATABASE_LIKE.test(name))

/**
 * Checks the names of variables, never their values. A name that is nearly that of a known variable is a problem; any
 * other unknown name with one of our prefixes is a warning.
 * @param used the variables that the command reads; names close to others are ignored
 */
export function findUnknownVariables (
  environment: Environment, used: readonly VariableName[] = VARIABLES.map(({ name }) => name),
): { problems: string[], warnings: string[] } {
  const problems: string[] = []
  const warnings: string[] = []
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || KNOWN_NAMES.includes(name)) continue
    const meant = nearMiss(name)
    if (meant !== undefined && !used.some((known) => meant === known || meant === `${known}_FILE`)) continue
    if (meant !== undefined) {
      problems.push(`${printable(name)} is not a known variable; did you mean ${meant}?`)
    } else if (OWN_PREFIX.test(name)) {
      warnings.push(`${printable(name)} is not a known variable and is ignored${hint(name)}`)
    }
  }
  // Many platforms set PORT and wait for the service to listen on it.
  if (environment['PORT'] !== undefined && environment['SERVICES_PORT'] === undefined) {
    warnings.push('PORT is set but ignored: the server takes its port from SERVICES_PORT, which is not set')
  }
  return { problems, warnings }
}

function nearMiss (name: string): string | undefined {
  if (OWN_PREFIX.test(name)) return closest(name, KNOWN_NAMES, () => true)
  return DATABASE_LIKE.test(name) ? closest(name, DATABASE_NAMES, isTypo) : undefined
}

function closest (
  name: string, known: readonly string[], accept: (name: string, known: string) => boolean,
): string | undefined {
  const near = known.filter((candidate) => distance(name, candidate) <= 2 && accept(name, candidate))
  return near.sort((left, right) => distance(name, left) - distance(name, right))[0]
}

/**
 * For names without our prefixes, two changes in one word are mostly another word and not a typing error: DATABASE_SSL,
 * DATABASE_UID and DATALAKE_URL belong to other programs. One change a word, or two letters swapped, is an error.
 */
function isTypo (name: string, known: string): boolean {
  if (distance(name, known) === 1) return true
  const words = name.split('_')
  const knownWords = known.split('_')
  return words.length === knownWords.length && knownWords.every((word, index) => {
    const found = words[index] ?? ''
    return distance(found, word) <= 1 || letters(found) === letters(word)
  })
}

function letters (word: string): string {
  return [...word].sort().join('')
}

function hint (name: string): string {
  const plain = VARIABLES.some((variable) => !variable.secret && `${variable.name}_FILE` === name)
  return plain ? '; only a secret may come from a file' : ''
}
