import { Type } from 'typebox'
import { sectionOfSettings, setting, type Resolved } from '../../../base/defaults.js'
import { fusionWeight, integer, prefix } from './parts.js'

/** Headers and query parameters by name. */
const texts = (description: string) => (
  setting(Type.Record(Type.String({ minLength: 1 }), Type.String(), { description }), {}, '')
)

const URL_FORM = { pattern: '^https?://', 'x-allowed': 'that is an http or https URL' }

export const baseUrl = Type.String({
  ...URL_FORM,
  description: 'URL to which the paths of the API are appended, such as https://api.openai.com/v1; without ' +
    'user, password and query.',
})

export const baseUrlWithDefault = (url: string) => setting(Type.String({
  ...URL_FORM,
  description: 'URL to which the paths of the API are appended; without user, password and query.',
}), url)

export const concurrency = (description: string) => integer(1, 256, description)

export const waiting = (description: string) => integer(0, 100_000, description)

export const retries = (description: string) => integer(0, 10, description)

/** The key, and what else is sent with each request. @param header what the key is sent as */
export const access = (header: string) => ({
  api_key: Type.Optional(Type.String({
    minLength: 1,
    description: `Key, sent as \`${header}\`. Set at most one of api_key, api_key_env and api_key_file. Default: ` +
      'no key is sent.',
  })),
  api_key_env: Type.Optional(Type.String({ minLength: 1, description: 'Environment variable that contains the key.' })),
  api_key_file: Type.Optional(Type.String({
    minLength: 1, description: 'File that contains the key; a relative path is relative to the configuration file.',
  })),
  headers: texts('Additional HTTP headers, such as api-key for Azure.'),
  query_params: texts('Query parameters of every request, such as api-version for Azure.'),
})

const DEFAULT_CONCURRENCY = 4

/** Settings that embeddings and rerankers share. */
const shared = {
  ...access('Authorization: Bearer'),
  max_waiting: setting(waiting('Maximum number of requests that wait for others to end; further ones fail.'), 256),
  breaker: sectionOfSettings({
    threshold: setting(integer(
      1, 1000,
      'Consecutive failures after which the endpoint is not called for a while: no connection, no ' +
        'answer in time, 5xx, a rejected key, an unusable answer.',
    ), 5),
    recovery_ms: setting(integer(1, 3_600_000, 'Milliseconds until one request tries the endpoint again.'), 10_000),
  }, 'The circuit breaker: when the endpoint counts as unavailable.'),
}

/** `embedding_provider_config` of `embedding_provider: openai_compatible`. */
export const RemoteEmbeddingSettings = Type.Object({
  base_url: baseUrl,
  model: Type.String({ minLength: 1, description: 'Name of the model, as the endpoint knows it.' }),
  ...shared,
  max_concurrency: setting(concurrency('Maximum number of concurrent requests, for queries and for memories ' +
    'separately, so that neither waits for the other.'), DEFAULT_CONCURRENCY),
  dimensions: integer(
    1, 65_536,
    'Number of dimensions of the vectors. Default: the gateway asks the endpoint at start, and does not ' +
      'start without an answer.',
  ),
  send_dimensions: setting(Type.Boolean({
    description: 'Whether `dimensions` is sent to the endpoint, for models that can shorten their vectors.',
  }), false),
  query_prefix: prefix('Text that is put before each query, such as "query: ".'),
  document_prefix: prefix('Text that is put before each memory, such as "passage: ". Changing it requires new ' +
    'vectors (`npm run reembed`).'),
  input_type: setting(Type.Boolean({
    description: 'Whether the parameter input_type (query or document), which Voyage and Cohere expect, is sent. ' +
      'Changing it requires new vectors (`npm run reembed`).',
  }), false),
  batch_size: setting(integer(1, 2048, 'Maximum number of texts in a request.'), 96),
  timeout_ms: setting(integer(10, 600_000, 'Maximum milliseconds of one attempt.'), 10_000),
  query_timeout_ms: setting(integer(
    10, 600_000,
    'Maximum milliseconds for embedding a query, including waiting and retries. Set it to less than ' +
      '`retrieval.semantic_timeout_ms`, or that of a bank or profile of the file; otherwise a slow endpoint never ' +
      'opens the circuit breaker.',
  ), 2000),
  max_retries: setting(retries('Maximum number of retries after no answer, 408, 409, 429 and 5xx.'), 3),
  cache_size: setting(integer(
    0, 10_000_000,
    'Number of vectors that are cached in memory, those of the most recent texts, with 4 bytes per ' +
      'dimension. 0: none.',
  ), 10_000),
  fusion_weight: fusionWeight(100),
}, { additionalProperties: false })

/** The settings with defaults filled in, as `settingsCheck` returns them. */
export type RemoteEmbeddingSettings = Resolved<typeof RemoteEmbeddingSettings>
/** Where requests go and what goes with each. */
export type AddressSettings = Pick<RemoteEmbeddingSettings, keyof ReturnType<typeof access> | 'base_url'>
export type EndpointSettings = Pick<RemoteEmbeddingSettings, keyof typeof shared | 'base_url' | 'max_concurrency'>

/** `reranker_config` of `reranker: rerank_endpoint`. */
export const RerankEndpointSettings = Type.Object({
  base_url: baseUrl,
  model: Type.Optional(Type.String({
    minLength: 1,
    description: 'Name of the model. Required with style cohere. With style tei it is not sent, and only names the ' +
      'model in the log and the metrics.',
  })),
  ...shared,
  max_concurrency: setting(concurrency('Maximum number of concurrent requests.'), DEFAULT_CONCURRENCY),
  style: setting(Type.Enum(['cohere', 'tei'], {
    description: 'Protocol of POST {base_url}/rerank: cohere (Cohere, Jina, Voyage, vLLM) or tei (Text Embeddings ' +
      'Inference, in requests of at most 32 texts).',
  }), 'cohere'),
  timeout_ms: setting(integer(
    10, 600_000,
    'Maximum milliseconds of a reranking, including waiting and retries. A longer one counts as a failure of the ' +
      'endpoint. Set it to less than `retrieval.rerank.timeout_ms`, or that of a bank or profile of the file; ' +
      'otherwise a slow endpoint never opens the circuit breaker.',
  ), 1200),
  max_retries: setting(retries('Maximum number of retries after no answer, 408, 409, 429 and 5xx; a recall waits for ' +
    'them.'), 0),
}, { additionalProperties: false })

export type RerankEndpointSettings = Resolved<typeof RerankEndpointSettings>
