import type { TObject } from 'typebox'
import { RemoteEmbeddingSettings, RerankEndpointSettings } from './schemas/endpoints.js'
import { AnthropicLanguageSettings, OpenAiLanguageSettings } from './schemas/language-models.js'
import { InMemorySettings, PgliteSettings, PostgresSettings } from './schemas/stores.js'
import {
  AutoEmbeddingSettings, LocalEmbeddingSettings, TransformersEmbeddingSettings, TransformersRerankerSettings,
} from './schemas/workers.js'

/** The settings of a registered provider. */
export interface ProviderSettings {
  /** The key of the file that chooses the provider; its settings are under `<key>_config`. */
  key: 'vector_store' | 'embedding_provider' | 'reranker' | 'llm_provider'
  /** The registered name. */
  name: string
  schema: TObject
}

/** Registered providers with settings, in the order of the reference. */
export const PROVIDER_SETTINGS: readonly ProviderSettings[] = [
  { key: 'vector_store', name: 'in_memory', schema: InMemorySettings },
  { key: 'vector_store', name: 'postgres', schema: PostgresSettings },
  { key: 'vector_store', name: 'pglite', schema: PgliteSettings },
  { key: 'embedding_provider', name: 'auto', schema: AutoEmbeddingSettings },
  { key: 'embedding_provider', name: 'local', schema: LocalEmbeddingSettings },
  { key: 'embedding_provider', name: 'transformers', schema: TransformersEmbeddingSettings },
  { key: 'embedding_provider', name: 'openai_compatible', schema: RemoteEmbeddingSettings },
  { key: 'reranker', name: 'rerank_endpoint', schema: RerankEndpointSettings },
  { key: 'reranker', name: 'transformers', schema: TransformersRerankerSettings },
  { key: 'llm_provider', name: 'openai_compatible', schema: OpenAiLanguageSettings },
  { key: 'llm_provider', name: 'anthropic', schema: AnthropicLanguageSettings },
]
