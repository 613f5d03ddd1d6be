import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseHost, parseHostPattern, parseOrigin, isLoopback } from '../base/uri.js'
import { didYouMean } from '../base/wording.js'
import type { AuthMode, Config } from './config.js'
import { quote, quoteAll } from './problems.js'
import { SWITCH_OFF, SWITCH_ON, variable, AUTH_MODE_CHOICES, LOG_LEVELS, type VariableName } from './variables.js'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A secret, or why it cannot be read; neither when it is not set. */
interface Secret {
  value?: string
  problem?: string
}

const EMPTY = 'is set but empty; unset it or give it a value'
const INTEGER = /^\d{1,15}$/
const WORD = /^[^\s:\p{C}\p{Z}]{1,64}$/u

/**
 * Reads single variables. A wrong value is added to `problems` and then treated as unset, so that one run finds every
 * problem.
 */
export class EnvironmentReader {
  readonly #environment: Environment
  readonly #readFile: ReadFile
  readonly #cwd: string
  readonly #problems: string[]

  constructor (environment: Environment, readFile: ReadFile, cwd: string, problems: string[]) {
    this.#environment = environment
    this.#readFile = readFile
    this.#cwd = cwd
    this.#problems = problems
  }

  /** Whether a variable is set, directly or, for a secret, through its file. */
  isSet (name: VariableName): boolean {
    return this.#raw(name) !== undefined || (variable(name).secret && this.#raw(`${name}_FILE`) !== undefined)
  }

  /** The trimmed text of a variable that is not a secret, else its default. */
  text (name: VariableName): string | undefined {
    const found = this.#raw(name)
    if (found === undefined) return variable(name).default
    if (found.trim() !== '') return found.trim()
    this.#problems.push(`${name} ${EMPTY}`)
    return variable(name).default
  }

  /** The trimmed text of an OpenTelemetry variable; by its specification, an empty one counts as unset. */
  lenient (name: VariableName): string | undefined {
    const found = this.#raw(name)?.trim()
    return found === undefined || found === '' ? undefined : found
  }

  integer (name: VariableName): number {
    const { kind, default: fallback } = variable(name)
    if (kind.type !== 'integer') throw new Error(`${name} is not an integer`)
    const { min, max } = kind
    const parse = (text: string) => {
      const value = INTEGER.test(text) ? Number(text) : NaN
      return value >= min && value <= max ? value : undefined
    }
    return this.#parsed(name, parse, `is an integer from ${min} to ${max}`) ?? Number(fallback)
  }

  choice<T extends string> (name: VariableName, values: readonly T[]): T | undefined {
    const parse = (text: string) => values.find((value) => value === text.toLowerCase())
    return this.#parsed(name, parse, `are ${quoteAll(values)}`, values)
  }

  switch (name: VariableName): boolean {
    const parse = (text: string) => [...SWITCH_ON, ...SWITCH_OFF].find((value) => value === text.toLowerCase())
    const found = this.#parsed(name, parse, `are ${quoteAll(SWITCH_ON)} and ${quoteAll(SWITCH_OFF)}`)
    return SWITCH_ON.some((value) => value === found)
  }

  word (name: VariableName): string | undefined {
    const parse = (text: string) => WORD.test(text.toLowerCase()) ? text.toLowerCase() : undefined
    return this.#parsed(name, parse, 'is a word of at most 64 visible characters without ":"')
  }

  host (name: VariableName): string | undefined {
    return this.#parsed(name, parseHost, 'is an IP address or a host name, without a port')
  }

  hosts (name: VariableName): string[] | undefined {
    return this.#list(
      name, parseHostPattern,
      'are IP addresses and host names without a port, with commas between them; *.example.com stands for all names ' +
        'below example.com',
    )
  }

  origins (name: VariableName): string[] | undefined {
    return this.#list(
      name, parseOrigin,
      'are origins such as https://app.example.com:8443, without a path or a wildcard, with commas between them',
    )
  }

  /** Entries with commas between them, each of them once. */
  #list (
    name: VariableName, parse: (entry: string) => string | undefined, allowed: string,
  ): string[] | undefined {
    return this.#parsed(name, (text) => {
      const entries = text.split(',').map((entry) => parse(entry.trim()))
      return entries.includes(undefined) ? undefined : [...new Set(entries.filter((entry) => entry !== undefined))]
    }, allowed)
  }

  /** An http(s) URL with a path and without credentials. The problem does not quote it, as it may contain a secret. */
  url (name: VariableName): string | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const fault = faultOfUrl(text)
    if (fault === undefined) return text
    this.#problems.push(`${name}: found ${fault}, allowed is the http or https URL of a key set, with a path and ` +
      'without credentials')
    return undefined
  }

  /** A secret from the variable or its file, unchanged except for the last line end of the file. */
  secret (name: VariableName): string | undefined {
    const { value, problem } = this.lookUp(name)
    if (problem !== undefined) this.#problems.push(problem)
    return value
  }

  /** As `secret`, for any variable; the caller adds the problem, because it knows the place that names the variable. */
  lookUp (name: string): Secret {
    const value = this.#raw(name)
    const fileName = `${name}_FILE`
    const path = this.#raw(fileName)
    if (value !== undefined && path !== undefined) {
      return { problem: `${name} and ${fileName} are both set; set one of them` }
    }
    if (path !== undefined) return this.#fromFile(fileName, path)
    if (value === undefined) return {}
    return value.trim() === '' ? { problem: `${name} ${EMPTY}` } : { value }
  }

  #fromFile (fileName: string, path: string): Secret {
    if (path.trim() === '') return { problem: `${fileName} ${EMPTY}` }
    try {
      const value = this.#readFile(resolve(this.#cwd, path.trim())).replace(/\r?\n$/, '')
      return value.trim() === ''
        ? { problem: `${fileName}: found an empty file, allowed is a file that holds the value` }
        : { value }
    } catch (error) {
      // The path is not quoted: a user who confuses the two variables has put the secret there.
      return {
        problem: `${fileName}: found a path that cannot be read (${reasonOf(error)}), allowed is a file that ` +
          'holds the value',
      }
    }
  }

  #parsed<T> (
    name: VariableName, parse: (text: string) => T | undefined, allowed: string, options: readonly string[] = [],
  ): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = parse(text)
    if (value === undefined) {
      this.#problems.push(`${name}: found ${quote(text)}, allowed ${allowed}${didYouMean(text, options)}`)
    }
    return value
  }

  // Own properties only: `${constructor}` in the file must not find a property of Object.prototype.
  #raw (name: string): string | undefined {
    return Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined
  }
}

function faultOfUrl (text: string): string | undefined {
  if (!URL.canParse(text)) return 'something that is not a URL'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'a URL of another kind'
  if (url.username !== '' || url.password !== '') return 'a URL with credentials'
  return url.pathname === '/' ? 'a URL without a path' : undefined
}

/** Reads a text file or throws. */
export type ReadFile = (path: string) => string

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'it is not UTF-8 text'],
])

/** Reads UTF-8 strictly: a replaced byte would silently change a secret. */
export function readUtf8 (path: string): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
}

/** Why a file cannot be read. The system's message would quote the path, which may be a misplaced secret. */
export function reasonOf (error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return REASONS.get(code) ?? 'it cannot be read'
}

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
    drainMs: reader.integer('SERVICES_DRAIN_MS'),
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
function readTracesUrl (reader: EnvironmentReader, problems: string[]): string | undefined {
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
