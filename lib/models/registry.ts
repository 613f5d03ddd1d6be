import {
  refuseUnknownKeys, type ProviderKind, ProviderError, type ProviderConfig, type ProviderContext,
} from '../config/providers/registry.js'
import { AutoEmbeddingSettings, LocalEmbeddingSettings } from '../config/providers/schemas/workers.js'
import { settingsCheck } from '../config/providers/settings.js'
import { EMBEDDING_PROVIDER_METHODS, type EmbeddingProvider } from './embedding-provider.js'
import { LANGUAGE_MODEL_METHODS, type LanguageModel } from './language-model.js'
import {
  hasLocalEmbeddings, LOCAL_DIMENSIONS, LOCAL_MODEL, localEmbeddings, type LocalInternals,
} from './local/embedding-provider.js'
import { MockEmbeddingProvider } from './mock/embedding-provider.js'
import { MockLanguageModel } from './mock/language-model.js'
import { requirePackages } from './packages.js'
import { RERANKER_METHODS, type Reranker } from './reranker.js'
import type { TransformersInternals } from './transformers/providers.js'

// Providers other than the mocks and local, which loads its model later, are loaded when they are selected: they slow
// the start, and an installation may lack their packages.

const LANGUAGE_PROTOCOLS = ['@ai-sdk/openai-compatible', '@ai-sdk/provider', 'zod', '@ai-sdk/anthropic'] as const

export const embeddingProviders: ProviderKind<EmbeddingProvider> = {
  key: 'embedding_provider',
  methods: EMBEDDING_PROVIDER_METHODS,
  registered: {
    mock: (config) => {
      refuseUnknownKeys('embedding_provider_config', config, [])
      return new MockEmbeddingProvider()
    },
    auto: async (config, context) => await autoEmbeddings(config, context),
    local: (config, context) => localEmbeddings(config, context),
    transformers: async (config, context) => {
      return await (await import('./transformers/providers.js')).transformersEmbeddings(config, context)
    },
    openai_compatible: async (config, context) => {
      return await (await import('./remote/embedding-provider.js')).makeRemoteEmbeddingProvider(config, context)
    },
  },
}

export const rerankers: ProviderKind<Reranker> = {
  key: 'reranker',
  methods: RERANKER_METHODS,
  registered: {
    rerank_endpoint: async (config, context) => {
      return (await import('./remote/reranker.js')).makeRemoteReranker(config, context)
    },
    transformers: async (config, context) => {
      return (await import('./transformers/providers.js')).transformersReranker(config, context)
    },
  },
}

export const languageModels: ProviderKind<LanguageModel> = {
  key: 'llm_provider',
  methods: LANGUAGE_MODEL_METHODS,
  registered: {
    mock: (config) => {
      refuseUnknownKeys('llm_provider_config', config, [])
      return new MockLanguageModel()
    },
    openai_compatible: async (config, context) => {
      requirePackages('llm_provider: openai_compatible', LANGUAGE_PROTOCOLS)
      return await (await import('./remote/language-model.js')).makeOpenAiLanguageModel(config, context)
    },
    anthropic: async (config, context) => {
      requirePackages('llm_provider: anthropic', LANGUAGE_PROTOCOLS)
      return await (await import('./remote/language-model.js')).makeAnthropicLanguageModel(config, context)
    },
  },
}

const NAME = 'embedding_provider: auto'

const check = settingsCheck('embedding_provider_config', AutoEmbeddingSettings)

/** @throws ProviderError, also for a setting that needs a `model` when there is none */
export function checkAutoSettings (config: ProviderConfig): void {
  check(config)
  const ofModel = Object.keys(config).filter((name) => !Object.hasOwn(LocalEmbeddingSettings.properties, name))
  if (config['model'] !== undefined || ofModel.length === 0) return
  throw new ProviderError(`embedding_provider_config: ${ofModel.join(', ')} may be set only with model`)
}

/**
 * `embedding_provider: auto`: `transformers` when a model is named, else `local` when its packages are installed, else
 * the mock, whose weight is 0. A named model that is not available ends the start, because the vectors of another model
 * would be stored in its place. Only what is chosen is imported, because this is the default of every start.
 * @throws ProviderError as those providers do
 */
export async function autoEmbeddings (
  config: ProviderConfig, context: ProviderContext, internals: TransformersInternals & LocalInternals = {},
): Promise<EmbeddingProvider> {
  const { info, warn } = context
  checkAutoSettings(config)
  if (config['model'] !== undefined) {
    const { transformersEmbeddings } = await import('./transformers/providers.js')
    const provider = await transformersEmbeddings(config, context, internals)
    info?.(`${NAME} chose transformers, because a model is named: ${provider.model}, ${provider.dimensions} dimensions`)
    return provider
  }
  if (hasLocalEmbeddings(internals)) {
    info?.(`${NAME} chose local, because its packages are installed and no model is named: ${LOCAL_MODEL}, ` +
      `${LOCAL_DIMENSIONS} dimensions, English`)
    return localEmbeddings(config, context, internals)
  }
  warn?.(`${NAME} chose none, because the packages of local are not installed and no model is named: recall ` +
    'searches by words only')
  return new MockEmbeddingProvider()
}
