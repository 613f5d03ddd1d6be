import type { ProviderSettings } from '../lib/config/reference.js'
import { AutoEmbeddingSettings } from '../lib/models/auto.js'
import { LocalEmbeddingSettings } from '../lib/models/local/settings.js'
import { RemoteEmbeddingSettings, RerankEndpointSettings } from '../lib/models/remote/endpoint-settings.js'
import { AnthropicLanguageSettings, OpenAiLanguageSettings } from '../lib/models/remote/language-settings.js'
import { TransformersEmbeddingSettings, TransformersRerankerSettings } from '../lib/models/transformers/settings.js'
import { InMemorySettings } from '../lib/stores/in-memory/capacity.js'
import { PgliteSettings, PostgresSettings } from '../lib/stores/sql/settings.js'

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
