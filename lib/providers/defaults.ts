// Defaults of settings of providers that the checks of the configuration also read.

/** `embedding_provider_config.timeout_ms` with `openai_compatible`. */
export const EMBEDDING_TIMEOUT_MS = 10_000

/** `embedding_provider_config.query_timeout_ms` with `openai_compatible`. */
export const QUERY_TIMEOUT_MS = 2000

/** `reranker_config.timeout_ms` with `rerank_endpoint`. */
export const RERANK_ENDPOINT_TIMEOUT_MS = 1200
