import { refuseUnknownKeys, type ProviderKind } from '../providers.js'
import { EMBEDDING_PROVIDER_METHODS, type EmbeddingProvider } from './embedding-provider.js'
import { LANGUAGE_MODEL_METHODS, type LanguageModel } from './language-model.js'
import { MockEmbeddingProvider } from './mock/embedding-provider.js'
import { MockLanguageModel } from './mock/language-model.js'

export const embeddingProviders: ProviderKind<EmbeddingProvider> = {
  key: 'embedding_provider',
  methods: EMBEDDING_PROVIDER_METHODS,
  registered: {
    mock: (config) => {
      refuseUnknownKeys('embedding_provider_config', config, [])
      return new MockEmbeddingProvider()
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
  },
}
