import { loadConfig, type LoadOptions, type ProviderConfiguration } from '../../lib/config/load.js'
import type { Config, ProviderChoice } from '../../lib/config/config.js'
import { configsWithoutProvider } from '../../lib/config/report.js'
import { checkAutoSettings, embeddingProviders, languageModels, rerankers } from '../../lib/models/registry.js'
import { checkAddress, checkCombinations } from '../../lib/models/remote/endpoint.js'
import { OperatorSettings } from '../../lib/operations/operator-settings.js'
import {
  checkProviderName, ProviderError, refuseUnknownKeys, type ProviderConfig, type ProviderKind,
} from '../../lib/config/providers/registry.js'
import { PROVIDER_SETTINGS } from '../../lib/config/providers/schemas.js'
import type { AddressSettings } from '../../lib/config/providers/schemas/endpoints.js'
import { settingsCheck } from '../../lib/config/providers/settings.js'
import { vectorStores } from '../../lib/stores/registry.js'
import { databaseUrl, postgresSettings } from '../../lib/stores/sql/providers.js'

/** Providers with the address of an endpoint. */
const REMOTE = new Set(['openai_compatible', 'anthropic', 'rerank_endpoint'])

/**
 * Checks everything in the configuration that can be checked without starting a provider.
 * @throws ConfigurationError
 */
export function checkedConfig (environment: NodeJS.ProcessEnv, options: LoadOptions = {}): Config {
  return loadConfig(environment, {
    ...options,
    // What is missing in an incomplete file may be in its invalid sections.
    checkProviders: (config) => config.isComplete
      ? [...configsWithoutProvider(config.file), ...providerProblems(config), ...weightProblems(config)]
      : providerProblems(config),
  })
}

function providerProblems (config: ProviderConfiguration): string[] {
  const { vectorStore, embeddings, languageModel, reranker } = config.settings
  return [
    ...problemsOf(config, vectorStores, vectorStore),
    ...problemsOf(config, embeddingProviders, embeddings),
    ...problemsOf(config, languageModels, languageModel),
    ...(reranker === undefined ? [] : problemsOf(config, rerankers, reranker)),
  ]
}

/**
 * The name of a provider, and the settings of a registered one; a class of the operator's own checks its own. Settings
 * of a mock that is the default are a problem of `configsWithoutProvider`.
 */
function problemsOf (
  { database, environment, baseDirectory, file }: ProviderConfiguration,
  kind: Pick<ProviderKind<object>, 'key' | 'registered'>, { name, config }: ProviderChoice,
): string[] {
  if (name === 'mock' && !Object.hasOwn(file, kind.key)) return []
  const at = `${kind.key}_config`
  try {
    checkProviderName(kind, name)
    if (!Object.hasOwn(kind.registered, name)) return []
    const settings = checkSettings(kind.key, name, config)
    if (name === 'auto') checkAutoSettings(config)
    if (name === 'postgres') databaseUrl(postgresSettings(config), database)
    if (REMOTE.has(name)) {
      // The schema has checked the types.
      checkAddress(at, settings as unknown as AddressSettings, { baseDirectory, environment })
      checkCombinations(at, name, config)
    }
    return []
  } catch (error) {
    if (error instanceof ProviderError) return [error.message]
    throw error
  }
}

/**
 * @returns the settings with defaults filled in
 * @throws ProviderError, also for a setting of a provider that has none
 */
function checkSettings (key: string, name: string, config: ProviderConfig): ProviderConfig {
  const known = PROVIDER_SETTINGS.find((provider) => provider.key === key && provider.name === name)
  if (known !== undefined) return settingsCheck(`${key}_config`, known.schema)(config)
  refuseUnknownKeys(`${key}_config`, config, [])
  return config
}

/** Weights with which no recall finds anything. */
function weightProblems ({ file, settings }: ProviderConfiguration): string[] {
  const semanticWeight = semanticWeightOf(settings.embeddings)
  return new OperatorSettings(file, {
    semanticWeight,
    hasReranker: settings.reranker !== undefined,
    canExtract: settings.languageModel.name !== 'mock',
  }).problems()
}

/**
 * The default weight of the semantic strategy, as far as it decides whether there is one: the mock has none, and some
 * registered providers have a setting for it. That of an operator's own class is not known here.
 */
function semanticWeightOf ({ name, config }: ProviderChoice): number {
  if (name === 'mock') return 0
  if (!Object.hasOwn(embeddingProviders.registered, name)) return 1
  const { fusion_weight: weight } = config
  return typeof weight === 'number' ? weight : 1
}
