import { canMatchPrincipal } from '../access/context.js'
import { PRINCIPAL_PATTERN_IN_WORDS } from '../base/ids.js'
import { isLoopback } from '../base/uri.js'
import { didYouMean } from '../base/wording.js'
import type { AuthMode } from './config.js'
import { tracingWarnings, type Environment, type EnvironmentSettings } from './environment.js'
import { formatPath, quote } from './problems.js'
import { RemoteEmbeddingSettings, RerankEndpointSettings } from './providers/schemas/endpoints.js'
import { FileSchema, type FileConfig, SIGNATURE_HEADER } from './schema.js'
import { type Variable, VARIABLES, type VariableName } from './variables.js'

/** Those whose default has no settings, with that default. The other defaults, in_memory and auto, have some. */
const DEFAULTS = { llm_provider: FileSchema.properties.llm_provider.default, reranker: undefined }
const PROVIDERS = ['llm_provider', 'reranker'] as const

/**
 * A problem for each valid setting that has no effect, because its operator expects one. A section with
 * `enabled: false` is switched off on purpose, so its settings are accepted.
 * @param databaseVariable the variable that names a database, when one is set
 */
export function unusedSettings (file: FileConfig, databaseVariable: string | undefined): string[] {
  return [
    ...database(file, databaseVariable),
    ...accessControl(file),
    ...languageModel(file),
    ...prices(file),
    ...retrieval(file),
    ...banksAndProfiles(file),
    ...limitsStore(file),
  ]
}

/**
 * A problem for each map of settings whose provider is not set and has no default with settings. The caller is
 * the code that creates providers, so that programs which build the service themselves get the problem too.
 */
export function * configsWithoutProvider (file: FileConfig): Iterable<string> {
  for (const key of PROVIDERS) {
    const config = `${key}_config` as const
    if (file[key] !== undefined || !hasEntries(file[config])) continue
    const fallback = DEFAULTS[key]
    yield fallback === undefined
      ? `${config}: it has no effect without ${key}; set ${key}`
      : `${config}: ${key} is not set, and its default ${fallback} has no settings; set ${key}`
  }
}

function * database ({ vector_store: store }: FileConfig, variable: string | undefined): Iterable<string> {
  if (store === 'pglite' && variable !== undefined) {
    yield `${variable} is set and vector_store is pglite, which keeps memories in vector_store_config.data_dir and ` +
      'uses no connection URI; unset it, or set vector_store: postgres'
  }
}

/** An operator may believe that a default policy protects, although nothing enforces it. */
function * accessControl ({ access_control: control = {} }: FileConfig): Iterable<string> {
  if (control.enabled !== undefined) return
  for (const key of ['default_policy', 'owner_patterns'] as const) {
    if (control[key] !== undefined) yield withoutEnabled('access_control', key)
  }
}

function * languageModel (file: FileConfig): Iterable<string> {
  const { escalation = {}, retrieval = {} } = file
  const isMock = (file.llm_provider ?? DEFAULTS.llm_provider) === 'mock'
  if (isMock && (escalation.degraded_mode !== undefined || hasEntries(escalation.circuit_breaker))) {
    yield 'escalation: llm_provider is mock, which cannot fail, so nothing uses this section; set llm_provider, or ' +
      'remove the section'
  }
  for (const section of ['rewrite', 'model_rerank'] as const) {
    const { enabled, ...details } = retrieval[section] ?? {}
    if (enabled === undefined) for (const key of Object.keys(details)) yield withoutEnabled(`retrieval.${section}`, key)
    if (enabled === true && isMock) {
      yield `retrieval.${section}.enabled: llm_provider is mock, which does not support it; set llm_provider`
    }
  }
}

/** A misspelt model name would leave every cost out. Prices of further models are allowed. */
function * prices (file: FileConfig): Iterable<string> {
  if (!hasEntries(file.prices)) return
  const provider = file.llm_provider ?? DEFAULTS.llm_provider
  // The instance of a class names its model, and it does not exist yet.
  if (provider.includes(':')) return
  const model = provider === 'mock' ? 'mock' : file.llm_provider_config?.['model']
  if (typeof model !== 'string' || Object.hasOwn(file.prices ?? {}, model)) return
  yield provider === 'mock'
    ? 'prices: llm_provider is mock, which costs nothing, so nothing uses them; set llm_provider'
    : `prices: there is no entry for the configured model, ${quote(model)} (llm_provider_config.model)`
}

function * retrieval (file: FileConfig): Iterable<string> {
  const { rerank, semantic_timeout_ms: semanticTimeout } = file.retrieval ?? {}
  if (file.reranker === undefined && hasEntries(rerank)) {
    yield 'retrieval.rerank: it has no effect without a reranker; set reranker'
  }
  if (semanticTimeout !== undefined && !searchesVectors(file)) yield semanticTimeoutOfMock('retrieval')
}

function * limitsStore ({ limits_store: { type, ...details } = {} }: FileConfig): Iterable<string> {
  if (type === 'redis') return
  for (const key of Object.keys(details)) yield `limits_store.${key}: it has no effect without type: redis; set that`
}

/** Settings of banks and profiles that have no effect on this server. */
function * banksAndProfiles (file: FileConfig): Iterable<string> {
  const isMock = (file.llm_provider ?? DEFAULTS.llm_provider) === 'mock'
  const entries = [['banks', file.banks ?? {}], ['profiles', file.profiles ?? {}]] as const
  for (const [section, named] of entries) {
    for (const [name, { retrieval = {} }] of Object.entries(named)) {
      const at = formatPath([section, name, 'retrieval'])
      if (file.reranker === undefined && hasEntries(retrieval.rerank)) {
        yield `${at}.rerank: it has no effect without a reranker; set reranker`
      }
      if (retrieval.semantic_timeout_ms !== undefined && !searchesVectors(file)) yield semanticTimeoutOfMock(at)
      for (const helper of ['rewrite', 'model_rerank'] as const) {
        if (isMock && retrieval[helper]?.enabled === true) {
          yield `${at}.${helper}.enabled: llm_provider is mock, which does not support it; set llm_provider`
        }
      }
    }
  }
}

/** No bank or profile can switch on what the general weight leaves off. */
function searchesVectors ({ embedding_provider: provider, retrieval }: FileConfig): boolean {
  return provider !== 'mock' || (retrieval?.weights?.semantic ?? 0) > 0
}

function semanticTimeoutOfMock (section: string): string {
  return `${section}.semantic_timeout_ms: embedding_provider is mock, whose vectors are not searched; set ` +
    'embedding_provider'
}

function withoutEnabled (section: string, key: string): string {
  return unusedUnless(`${section}.enabled`, `${section}.${key}`)
}

function unusedUnless (flag: string, key: string): string {
  return `${key}: it has no effect because ${flag} is not set; set that to true, or to false to keep it for later`
}

function hasEntries (section: object | undefined): boolean {
  return section !== undefined && Object.keys(section).length > 0
}

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

const { semantic_timeout_ms: semantic, rerank } = FileSchema.properties.retrieval.properties
const { query_timeout_ms: queryTimeout, timeout_ms: attemptTimeout } = RemoteEmbeddingSettings.properties
const { timeout_ms: rerankTimeout } = RerankEndpointSettings.properties

interface Limits {
  /** The setting of the endpoint and its value. */
  inner: [name: string, ms: unknown]
  /** The setting of `retrieval` and its longest value. */
  outer: [name: string, ms: number]
  /** What the recall goes on without. */
  without: string
}

/**
 * Warns about limits of endpoints that can take effect in no bank. Two limits end a call: the endpoint's own, which
 * counts as a failure of the endpoint, and that of the recall, which goes on without the result and does not count it.
 */
function * endpointTimeoutWarnings (file: FileConfig): Iterable<string> {
  const { embedding_provider_config: embedding = {}, reranker_config: reranking = {} } = file
  if (file.embedding_provider === 'openai_compatible') {
    const { query_timeout_ms: query = queryTimeout.default, timeout_ms: attempt = attemptTimeout.default } = embedding
    const outer = longestOuter(file, (retrieval) => retrieval?.semantic_timeout_ms, semantic.default)
    // An attempt that takes too long counts as well.
    if (typeof attempt === 'number' && attempt >= outer) {
      yield * warningOf({
        inner: ['embedding_provider_config.query_timeout_ms', query],
        outer: ['semantic_timeout_ms', outer],
        without: 'the embedding of its query',
      })
    }
  }
  if (file.reranker === 'rerank_endpoint') {
    yield * warningOf({
      inner: ['reranker_config.timeout_ms', reranking['timeout_ms'] ?? rerankTimeout.default],
      outer: [
        'rerank.timeout_ms',
        longestOuter(file, (retrieval) => retrieval?.rerank?.timeout_ms, rerank.properties.timeout_ms.default),
      ],
      without: 'the reranker',
    })
  }
}

function * warningOf ({ inner: [innerName, inner], outer: [outerName, outer], without }: Limits): Iterable<string> {
  if (typeof inner !== 'number' || inner < outer) return
  yield `${innerName} is ${inner}, and a recall goes on without ${without} after retrieval.${outerName}, ${outer}: a ` +
    `slow endpoint never opens the circuit breaker; set ${innerName} to less than ${outer}`
}

/** The longest limit of a recall in the file: banks and profiles can have limits of their own. */
function longestOuter (
  { retrieval, banks = {}, profiles = {} }: FileConfig,
  limitOf: (retrieval: FileConfig['retrieval']) => number | undefined,
  byDefault: number,
): number {
  const ofEntries = [...Object.values(banks), ...Object.values(profiles)].map((entry) => limitOf(entry.retrieval) ?? 0)
  return Math.max(limitOf(retrieval) ?? byDefault, ...ofEntries)
}

/** The parameters that the console sets in the authorization request, which an operator must not. */
const CONSOLE_PARAMETERS = [
  'client_id', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri', 'response_mode', 'response_type',
  'scope', 'state',
]

/** The variables of the environment with which the file must agree. */
interface RelatedVariables {
  mode: AuthMode | undefined
  /** SERVICE_OIDC_ISSUER. */
  issuer: string | undefined
}

/** The problems of the file that its schema cannot express. */
export function fileProblems (file: FileConfig, variables: RelatedVariables): string[] {
  return [
    ...missingProfiles(file), ...grantProblems(file), ...sourceProblems(file), ...consoleProblems(file, variables),
    ...limitsStoreProblems(file),
  ]
}

/** A problem for each bank of the file that chooses a profile which does not exist. */
function missingProfiles ({ banks = {}, profiles = {} }: FileConfig): string[] {
  const names = Object.keys(profiles)
  return Object.entries(banks).flatMap(([bankId, { profile }]) => {
    if (profile === undefined || names.includes(profile)) return []
    const place = formatPath(['banks', bankId, 'profile'])
    return [`${place}: found ${quote(profile)}, allowed is a name under profiles${didYouMean(profile, names)}`]
  })
}

/** A problem for each principal that no caller can have. */
function grantProblems ({ access_grants: grants = [], banks = {}, identity }: FileConfig): string[] {
  const lists = [
    ['access_grants', grants],
    ['identity.trust', identity?.trust ?? []],
    ...Object.entries(banks).map(([id, { access = [] }]) => [formatPath(['banks', id, 'access']), access] as const),
  ] as const
  return lists.flatMap(([list, entries]) => entries.flatMap(({ principal }, index) => (
    canMatchPrincipal(principal) ? [] : [`${list}[${index}].principal: allowed are ${PRINCIPAL_PATTERN_IN_WORDS}`]
  )))
}

function sourceProblems ({ sources = {} }: FileConfig): string[] {
  return Object.entries(sources).flatMap(([id, { auth }]) => {
    if (auth.type !== 'hmac' || auth.timestamp_header === undefined) return []
    const { header = SIGNATURE_HEADER, timestamp_header: timestamp } = auth
    return timestamp.toLowerCase() === header.toLowerCase()
      ? [`${formatPath(['sources', id, 'auth', 'timestamp_header'])}: is also the header of the signature, so ` +
        'no event could be accepted']
      : []
  })
}

/** The URI is not shown, because it may hold a password. */
function * limitsStoreProblems ({ limits_store: { type, url } = {} }: FileConfig): Iterable<string> {
  if (type !== 'redis') return
  if (url === undefined) yield 'limits_store.url: is required with type: redis'
  else if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol) || new URL(url).hostname === '') {
    yield 'limits_store.url: must be a URI like redis://user:password@host:6379/0 (the value is not shown)'
  }
}

function * consoleProblems ({ console }: FileConfig, { mode, issuer }: RelatedVariables): Iterable<string> {
  const { oidc } = console ?? {}
  if (oidc === undefined) return
  for (const name of CONSOLE_PARAMETERS) {
    if (Object.hasOwn(oidc.parameters ?? {}, name)) {
      yield `console.oidc.parameters.${name}: the console sets this parameter itself; remove it`
    }
  }
  if (mode === 'jwt_oidc' && issuer !== undefined && !isHttpUrl(issuer)) {
    yield `SERVICE_OIDC_ISSUER: found ${quote(issuer)}, allowed with console.oidc is the ` +
      'http(s) URL of the identity provider'
  }
}

function isHttpUrl (value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}
