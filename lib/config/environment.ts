import { EnvironmentReader, type Environment } from './environment-reader.js'
import { readUtf8 } from './files.js'
import { quote } from './problems.js'
import { isLoopback } from './hosts.js'
import type { AuthMode, Config } from './config.js'
import { readTracesUrl } from './open-telemetry.js'
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
