import { EnvironmentReader, type Environment, readUtf8 } from './environment-reader.js'
import { quote } from './problems.js'
import { isLoopback } from './hosts.js'
import type { AuthMode, Config } from './config.js'
import { AUTH_MODE_CHOICES, LOG_LEVELS, variable, type VariableName } from './variables.js'

/** The settings of the environment. `mode` is undefined only when its variable is wrong. */
export interface EnvironmentSettings extends
  Omit<Config, 'auth' | 'file' | 'settings' | 'bounds' | 'environment' | 'baseDirectory' | 'warnings'> {
  mode: AuthMode | undefined
  auth: Omit<Config['auth'], 'mode'>
  allowDevAuth: boolean
  configPath: string | undefined
}

/** Reads every variable once. */
export function readSettings (reader: EnvironmentReader, problems: string[]): EnvironmentSettings {
  const settings: EnvironmentSettings = {
    host: reader.host('SERVICES_HOST') ?? fallback('SERVICES_HOST'),
    port: reader.integer('SERVICES_PORT'),
    logLevel: reader.choice('SERVICES_LOG_LEVEL', LOG_LEVELS) ?? 'info',
    maxBodyBytes: reader.integer('SERVICES_MAX_BODY_BYTES'),
    healthTimeoutMs: reader.integer('SERVICES_HEALTH_TIMEOUT_MS'),
    shutdownTimeoutMs: reader.integer('SERVICES_SHUTDOWN_TIMEOUT_MS'),
    configPath: reader.text('SERVICES_CONFIG_PATH'),
    mode: readMode(reader),
    allowDevAuth: reader.switch('SERVICE_ALLOW_DEV_AUTH'),
    auth: readAuth(reader),
    database: readDatabase(reader, problems),
    adminToken: reader.secret('SERVICE_ADMIN_TOKEN'),
    metricsPort: reader.isSet('SERVICES_METRICS_PORT') ? reader.integer('SERVICES_METRICS_PORT') : undefined,
    tracesUrl: readTracesUrl(reader, problems),
    allowedHosts: reader.hosts('SERVICES_ALLOWED_HOSTS'),
    corsOrigins: reader.origins('SERVICES_CORS_ORIGINS'),
  }
  if (settings.metricsPort === settings.port && settings.port !== 0) {
    const found = quote(String(settings.port))
    problems.push(`SERVICES_METRICS_PORT: found ${found}, which is SERVICES_PORT, allowed is another port`)
  }
  if (settings.mode === 'dev' && !isLoopback(settings.host) && !settings.allowDevAuth) {
    problems.push(`SERVICES_HOST: found ${quote(settings.host)} with SERVICE_AUTH_MODE dev, which trusts every ` +
      'caller; allowed are a loopback address, another SERVICE_AUTH_MODE, or SERVICE_ALLOW_DEV_AUTH=1')
  }
  return settings
}

function fallback (name: VariableName): string {
  return variable(name).default ?? ''
}

/**
 * Reads only the settings of authentication: they do not depend on the configuration file, so they can be checked when
 * that has problems.
 * @returns undefined when one of their variables has a problem
 */
export function loadAuth (env: Environment): Config['auth'] | undefined {
  const problems: string[] = []
  const reader = new EnvironmentReader(env, readUtf8, process.cwd(), problems)
  const mode = readMode(reader)
  const auth = readAuth(reader)
  return mode === undefined || problems.length > 0 ? undefined : { mode, ...auth }
}

function readMode (reader: EnvironmentReader): AuthMode | undefined {
  const chosen = reader.choice('SERVICE_AUTH_MODE', AUTH_MODE_CHOICES)
  return chosen === 'jwt' ? 'jwt_hs256' : chosen
}

function readAuth (reader: EnvironmentReader): EnvironmentSettings['auth'] {
  return {
    apiKey: reader.secret('SERVICE_API_KEY'),
    jwtSecret: reader.secret('SERVICE_JWT_SECRET'),
    jwtAudience: reader.text('SERVICE_JWT_AUDIENCE'),
    jwtIssuer: reader.text('SERVICE_JWT_ISSUER'),
    oidcJwksUrl: reader.url('SERVICE_OIDC_JWKS_URL'),
    oidcIssuer: reader.text('SERVICE_OIDC_ISSUER'),
    oidcAudience: reader.text('SERVICE_OIDC_AUDIENCE'),
    oidcActorType: reader.word('SERVICE_OIDC_ACTOR_TYPE') ?? fallback('SERVICE_OIDC_ACTOR_TYPE'),
  }
}

/** The URI of the server's database, from either of its variables. */
export function readDatabase (reader: EnvironmentReader, problems: string[]): Config['database'] {
  const primary = reader.secret('DATABASE_URL')
  const secondary = reader.secret('SERVICES_PG_DSN')
  if (primary !== undefined && secondary !== undefined && primary !== secondary) {
    problems.push('DATABASE_URL and SERVICES_PG_DSN are set to different values; set one of them')
  }
  if (primary !== undefined) return { url: primary, variable: 'DATABASE_URL' }
  return secondary === undefined ? {} : { url: secondary, variable: 'SERVICES_PG_DSN' }
}

const TRACES_PATH = 'v1/traces'
/** What the gateway supports of the variables that the SDK for Node.js does not read by itself. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  OTEL_TRACES_EXPORTER: ['otlp'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['http/json'],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['http/json'],
  OTEL_PROPAGATORS: ['tracecontext', 'baggage'],
}

/**
 * The URL for traces from OpenTelemetry's variables. The SDK itself reads the others (headers, sampling, resource).
 * Source: OpenTelemetry Protocol Exporter specification, "Endpoint URLs for OTLP/HTTP".
 * @returns the whole URL; undefined when there is no tracing
 */
export function readTracesUrl (reader: EnvironmentReader, problems: string[]): string | undefined {
  if (reader.lenient('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  if (reader.lenient('OTEL_TRACES_EXPORTER')?.toLowerCase() === 'none') return undefined
  const traces = collectorUrl(reader, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', problems)
  const all = collectorUrl(reader, 'OTEL_EXPORTER_OTLP_ENDPOINT', problems)
  if (traces !== undefined) return traces.href
  if (all === undefined) return undefined
  all.pathname = all.pathname.endsWith('/') ? `${all.pathname}${TRACES_PATH}` : `${all.pathname}/${TRACES_PATH}`
  return all.href
}

/** Warnings about values that OpenTelemetry defines and that have no effect here. */
export function tracingWarnings (environment: Environment): string[] {
  return Object.entries(SUPPORTED).flatMap(([name, supported]) => {
    const values = (environment[name] ?? '').split(',').map((value) => value.trim().toLowerCase())
    const isRight = values.every((value) => value === '' || supported.includes(value))
    return isRight ? [] : [`${name}: the value has no effect, the gateway supports only ${supported.join(' and ')}`]
  })
}

/** The problem does not quote the value, because it may contain a secret. */
function collectorUrl (reader: EnvironmentReader, name: VariableName, problems: string[]): URL | undefined {
  const text = reader.lenient(name)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isHttp && url.username === '' && url.password === '') return url
  const found = url === undefined ? 'something that is not a URL' : 'a URL of another kind'
  problems.push(`${name}: found ${found}, allowed is the http or https URL of a collector, without credentials`)
  return undefined
}
