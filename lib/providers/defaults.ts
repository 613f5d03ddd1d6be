/** The default of `reranker_config.timeout_ms` with `rerank_endpoint`; the checks of the configuration read it too. */
export const RERANK_ENDPOINT_TIMEOUT_MS = 1200
