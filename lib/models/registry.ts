import { refuseUnknownKeys, type ProviderKind } from '../providers/registry.js'
import { EMBEDDING_PROVIDER_METHODS, type EmbeddingProvider } from './embedding-provider.js'
import { LANGUAGE_MODEL_METHODS, type LanguageModel } from './language-model.js'
import { requirePackages } from './packages.js'
import { MockEmbeddingProvider } from './mock/embedding-provider.js'
import { MockLanguageModel } from './mock/language-model.js'
import { RERANKER_METHODS, type Reranker } from './reranker.js'

// All providers but the mocks are loaded when they are selected, because they slow the start, and because an
// installation may lack their packages.

const LANGUAGE_PROTOCOLS = ['@ai-sdk/openai-compatible', '@ai-sdk/provider', 'zod', '@ai-sdk/anthropic'] as const

export const embeddingProviders: ProviderKind<EmbeddingProvider> = {
  key: 'embedding_provider',
  methods: EMBEDDING_PROVIDER_METHODS,
  registered: {
    mock: (config) => {
      refuseUnknownKeys('embedding_provider_config', config, [])
      return new MockEmbeddingProvider()
    },
    auto: async (config, context) => await (await import('./auto.js')).autoEmbeddings(config, context),
    local: async (config, context) => {
      return (await import('./local/embedding-provider.js')).localEmbeddings(config, context)
    },
    transformers: async (config, context) => {
      return await (await import('./transformers/embedding-provider.js')).transformersEmbeddings(config, context)
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
      return (await import('./transformers/reranker.js')).transformersReranker(config, context)
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
