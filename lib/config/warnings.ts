import type { Environment } from './environment-reader.js'
import type { EnvironmentSettings } from './environment.js'
import { endpointTimeoutWarnings } from './endpoint-timeouts.js'
import { isLoopback } from './hosts.js'
import { tracingWarnings } from './open-telemetry.js'
import { formatPath } from './paths.js'
import type { FileConfig } from './schema.js'
import type { Variable } from './variable.js'
import { VARIABLES, type VariableName } from './variables.js'

const SECRET_BYTES = 32
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

type KnownVariable = Variable & { name: VariableName }
type IsSet = (name: VariableName) => boolean

/** Warnings about settings that are valid but probably not intended. */
export function collectWarnings (
  settings: EnvironmentSettings, file: FileConfig, isSet: IsSet, environment: Environment,
): string[] {
  return [
    ...collectCallerWarnings(settings, file),
    ...identityWarnings(settings),
    ...VARIABLES.flatMap((variable: KnownVariable) => modeWarning(variable, settings, isSet)),
    ...secretWarnings(settings),
    ...accessWarnings(settings, file),
    ...sourceWarnings(settings, file),
    ...(settings.mode === 'jwt_oidc' ? missingTenantWarnings(file) : []),
    ...databaseWarnings(settings, file, databaseVariable(isSet)),
    ...vectorWarnings(file),
    ...endpointTimeoutWarnings(file),
    ...consoleWarnings(settings, file),
    ...(settings.tracesUrl === undefined ? [] : tracingWarnings(environment)),
  ]
}

/**
 * Warnings about the callers of the auth mode, which do not apply when an app that the gateway is part of authenticates
 * callers of its own.
 */
export function collectCallerWarnings ({ mode, host }: EnvironmentSettings, file: FileConfig): string[] {
  const warnings: string[] = []
  if (mode === 'dev' && !isLoopback(host)) {
    warnings.push('SERVICE_ALLOW_DEV_AUTH: dev mode trusts every caller, and SERVICES_HOST is not a loopback address')
  }
  if (mode === 'dev' && file.access_control?.enabled === true) {
    warnings.push('access_control.enabled: in dev mode, anonymous callers bypass access control')
  }
  if (mode === 'jwt_oidc') return warnings
  for (const [id, { tenant_id: tenant }] of Object.entries(file.sources ?? {})) {
    if (tenant === undefined) continue
    warnings.push(`${formatPath(['sources', id, 'tenant_id'])}: callers have no tenant in SERVICE_AUTH_MODE ` +
      `${mode ?? 'dev'}, so none of them can read what it sends`)
  }
  return warnings
}

/** The variable that names a database, when one is set. */
export function databaseVariable (isSet: IsSet): string | undefined {
  return (['DATABASE_URL', 'SERVICES_PG_DSN'] as const).find(isSet)
}

function * identityWarnings ({ mode, auth, adminToken }: EnvironmentSettings): Iterable<string> {
  if (mode === 'jwt_hs256' && auth.jwtAudience === undefined) {
    yield 'SERVICE_JWT_AUDIENCE is not set: audience validation is skipped'
  }
  if (mode === 'jwt_hs256' && auth.jwtSecret !== undefined && Buffer.byteLength(auth.jwtSecret) < SECRET_BYTES) {
    yield `SERVICE_JWT_SECRET is shorter than ${SECRET_BYTES} bytes: tokens signed with it can be forged by guessing`
  }
  if (auth.oidcJwksUrl !== undefined && isPlainAndRemote(auth.oidcJwksUrl)) {
    yield 'SERVICE_OIDC_JWKS_URL uses http: an attacker on the network can substitute other keys'
  }
  if (adminToken === undefined) yield 'SERVICE_ADMIN_TOKEN is not set: admin routes are unprotected'
}

function isPlainAndRemote (text: string): boolean {
  const url = new URL(text)
  return url.protocol === 'http:' && !isLoopback(url.hostname)
}

function modeWarning (variable: KnownVariable, { mode, allowDevAuth }: EnvironmentSettings, isSet: IsSet): string[] {
  const { name } = variable
  // A required variable that is missing is not a warning but an error, which the app logs.
  if (variable.mode === undefined || mode === undefined || variable.mode === mode) return []
  const isGiven = name === 'SERVICE_ALLOW_DEV_AUTH' ? allowDevAuth : isSet(name)
  return isGiven ? [`${name} is set and has no effect: SERVICE_AUTH_MODE is ${mode}`] : []
}

/** HTTP strips white space around header values and knows ASCII only, so other secrets do not match. */
function secretWarnings ({ auth, adminToken }: EnvironmentSettings): string[] {
  const sentInHeaders = { SERVICE_API_KEY: auth.apiKey, SERVICE_ADMIN_TOKEN: adminToken }
  return Object.entries(sentInHeaders).flatMap(([name, secret = 'unset']) => [
    ...(secret === secret.trim()
      ? []
      : [`${name} begins or ends with white space, which no header can carry: it will never match`]),
    ...(PRINTABLE_ASCII.test(secret.trim())
      ? []
      : [`${name} has characters outside printable ASCII, which clients do not send alike in a header, or not at ` +
        'all: it may never match']),
  ])
}

function * accessWarnings ({ mode }: EnvironmentSettings, file: FileConfig): Iterable<string> {
  const enabled = file.access_control?.enabled === true
  const grants = [file.access_grants, ...Object.values(file.banks ?? {}).map(({ access }) => access)]
  const granted = grants.some((list = []) => list.length > 0)
  if (enabled && !granted && file.access_control?.default_policy === 'deny') {
    yield 'access_control: the default policy is deny and there are no grants, so no caller may do anything'
  }
  if (!enabled && granted) {
    yield 'access_grants and banks.<id>.access have no effect: access_control.enabled is not true'
  }
  if (file.identity?.obo_enabled === true && mode !== 'jwt_oidc') {
    yield `identity.obo_enabled has no effect: SERVICE_AUTH_MODE is ${mode ?? 'not jwt_oidc'}`
  }
}

function sourceWarnings ({ host }: EnvironmentSettings, file: FileConfig): string[] {
  if (isLoopback(host)) return []
  return Object.entries(file.sources ?? {})
    .filter(([, source]) => source.auth.type === 'none')
    .map(([id]) => (
      `${formatPath(['sources', id, 'auth'])}: type none on an address that is not loopback lets anyone write ` +
        'to the bank'
    ))
}

/** Inside a container a loopback address is the container itself, which rarely runs the database. */
export function loopbackDatabaseWarning (
  { host, database }: EnvironmentSettings, file: FileConfig, isSet: IsSet, inContainer: boolean,
): string[] {
  if (!inContainer || isLoopback(host)) return []
  const dsn = file.vector_store === 'postgres' ? file.vector_store_config?.['dsn'] : undefined
  const name = dsn !== undefined
    ? 'vector_store_config.dsn'
    : isSet('DATABASE_URL') ? 'DATABASE_URL' : 'SERVICES_PG_DSN'
  const url = dsn ?? database.url
  if (typeof url !== 'string' || !URL.canParse(url) || !isLoopback(new URL(url).hostname)) return []
  return [`${name} names a loopback address, and this process runs in a container, where it is the address of the ` +
    'container itself, not of the host or another container. Use the service name of the database, unless the ' +
    'database runs in the same pod']
}

/** Tenants share nothing, so only callers of the source's tenant can read what it sends. */
function missingTenantWarnings ({ sources = {} }: FileConfig): string[] {
  return Object.entries(sources).filter(([, { tenant_id: tenant }]) => tenant === undefined).map(([id]) => (
    `${formatPath(['sources', id])}: there is no tenant_id, so only callers without a tenant can read what it sends`
  ))
}

/** Only for registered stores, because a class of the operator's own may use the variable. */
function * databaseWarnings (
  { configPath, database }: EnvironmentSettings, file: FileConfig, variable: string | undefined,
): Iterable<string> {
  const { vector_store: store = 'in_memory', vector_store_config: config } = file
  if (variable === undefined) return
  if (store === 'in_memory') {
    yield `${variable} is set and not used: vector_store is in_memory, so memories are not kept and are lost when ` +
      'the process ends. To keep them in that database, write "vector_store: postgres" in ' +
      `${configPath === undefined ? 'a' : 'the'} file that SERVICES_CONFIG_PATH names`
  }
  const dsn = store === 'postgres' ? config?.['dsn'] : undefined
  if (dsn !== undefined && dsn !== database.url) {
    yield `${variable} is set and not used: vector_store_config.dsn takes precedence`
  }
}

function * vectorWarnings ({ embedding_provider: provider, retrieval = {} }: FileConfig): Iterable<string> {
  if (provider === 'mock' && (retrieval.weights?.semantic ?? 0) > 0) {
    yield 'retrieval.weights.semantic: embedding_provider is mock, whose vectors represent words and no meaning; set ' +
      'embedding_provider to search by meaning'
  }
}

function * consoleWarnings ({ mode }: EnvironmentSettings, { console: pages }: FileConfig): Iterable<string> {
  if (pages?.oidc !== undefined && mode !== 'jwt_oidc') {
    yield `console.oidc has no effect: SERVICE_AUTH_MODE is ${mode ?? 'not jwt_oidc'}`
  }
}
