import { formatPath } from './paths.js'
import { quote } from './problems.js'
import { FileSchema, type FileConfig } from './schema.js'

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
