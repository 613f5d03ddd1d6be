import { Type, type Static } from 'typebox'

export const milliseconds = (minimum: number, maximum: number, description: string) => (
  Type.Optional(Type.Integer({ minimum, maximum, description }))
)

/** Headers and query parameters by name. */
const texts = (description: string) => (
  Type.Optional(Type.Record(Type.String({ minLength: 1 }), Type.String(), { description }))
)

const URL_FORM = { pattern: '^https?://', 'x-allowed': 'that is an http or https URL' }

export const baseUrl = Type.String({
  ...URL_FORM,
  description: 'Address that the paths of the API follow, like https://api.openai.com/v1; without user, ' +
    'password and query.',
})

export const baseUrlWithDefault = (url: string) => Type.Optional(Type.String({
  ...URL_FORM,
  description: `Address that the paths of the API follow; without user, password and query. Default ${url}.`,
}))

export const concurrency = (description: string) => (
  Type.Optional(Type.Integer({ minimum: 1, maximum: 256, description }))
)

export const waiting = (description: string) => (
  Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description }))
)

export const retries = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 10, description }))

/** The key, and what else is sent with each request. @param header what the key is sent as */
export const access = (header: string) => ({
  api_key: Type.Optional(Type.String({
    minLength: 1,
    description: `Key, sent as \`${header}\`. At most one of api_key, api_key_env and api_key_file; default: ` +
      'none is sent.',
  })),
  api_key_env: Type.Optional(Type.String({ minLength: 1, description: 'Environment variable that holds the key.' })),
  api_key_file: Type.Optional(Type.String({
    minLength: 1, description: 'File that holds the key; a relative path starts at the configuration file.',
  })),
  headers: texts('Further HTTP headers, like api-key for Azure.'),
  query_params: texts('Query parameters of every request, like api-version for Azure.'),
})

/** Settings that embeddings and rerankers share. */
const shared = {
  ...access('Authorization: Bearer'),
  max_waiting: waiting('Requests that may wait for others to end; beyond it they fail. Default 256.'),
  breaker: Type.Optional(Type.Object({
    threshold: Type.Optional(Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Faults in a row after which the endpoint is not asked for a while: no connection, no answer in ' +
        'time, 5xx, a refused key, an unusable answer. Default 5.',
    })),
    recovery_ms: milliseconds(1, 3_600_000, 'Milliseconds until one request tries it again. Default 10000.'),
  }, { additionalProperties: false, description: 'When an endpoint counts as down.' })),
}

/** `embedding_provider_config` of `embedding_provider: openai_compatible`. */
export const RemoteEmbeddingSettings = Type.Object({
  base_url: baseUrl,
  model: Type.String({ minLength: 1, description: 'Name of the model, as the endpoint knows it.' }),
  ...shared,
  max_concurrency: concurrency('Requests under way at a time; queries and documents have so many each and never wait ' +
    'for each other. Default 4.'),
  dimensions: Type.Optional(Type.Integer({
    minimum: 1,
    maximum: 65_536,
    description: 'Length of its vectors. Default: the endpoint is asked at the start, and the server does not start ' +
      'without its answer.',
  })),
  send_dimensions: Type.Optional(Type.Boolean({
    description: 'Ask the model for vectors of this length; for models that can shorten theirs. Default false.',
  })),
  query_prefix: Type.Optional(Type.String({
    maxLength: 1000,
    'x-allowed': 'of at most 1000 characters',
    description: 'Text before each query, like "query: ". Default: none.',
  })),
  document_prefix: Type.Optional(Type.String({
    maxLength: 1000,
    'x-allowed': 'of at most 1000 characters',
    description: 'Text before each document, like "passage: ". Changing it requires new vectors (`npm run reembed`). ' +
      'Default: none.',
  })),
  input_type: Type.Optional(Type.Boolean({
    description: 'Send input_type query or document, as Voyage and Cohere want it. Changing it requires new vectors ' +
      '(`npm run reembed`). Default false.',
  })),
  batch_size: Type.Optional(Type.Integer({
    minimum: 1, maximum: 2048, description: 'Texts of a request at most. Default 96.',
  })),
  timeout_ms: milliseconds(10, 600_000, 'Milliseconds that one attempt may take. Default 10000.'),
  query_timeout_ms: milliseconds(
    10, 600_000, 'Milliseconds that the embedding of a query may take, waiting and retries included. Default 2000.',
  ),
  max_retries: retries('Further attempts after no answer, 408, 409, 429 and 5xx. Default 3.'),
  cache_size: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    description: 'Vectors that are kept in memory, those of the texts that came last; 4 bytes a dimension each. 0: ' +
      'none. Default 10000.',
  })),
  fusion_weight: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'Weight of the semantic score beside a lexical weight of 1, unless the configuration says ' +
      'otherwise. Default 1.5.',
  })),
}, { additionalProperties: false })

export type RemoteEmbeddingSettings = Static<typeof RemoteEmbeddingSettings>
/** Where requests go and what goes with each. */
export type AddressSettings = Pick<RemoteEmbeddingSettings, keyof ReturnType<typeof access> | 'base_url'>
export type EndpointSettings = Pick<RemoteEmbeddingSettings, keyof typeof shared | 'base_url' | 'max_concurrency'>

/** `reranker_config` of `reranker: rerank_endpoint`. */
export const RerankEndpointSettings = Type.Object({
  base_url: baseUrl,
  model: Type.Optional(Type.String({
    minLength: 1, description: 'Name of the model; required, but style tei sends none.',
  })),
  ...shared,
  max_concurrency: concurrency('Requests under way at a time. Default 4.'),
  style: Type.Optional(Type.Enum(['cohere', 'tei'], {
    description: 'Protocol of POST {base_url}/rerank: cohere (Cohere, Jina, Voyage, vLLM) or tei (Text Embeddings ' +
      'Inference). Default cohere.',
  })),
  timeout_ms: milliseconds(
    10, 600_000,
    'Milliseconds that a reranking may take, waiting and retries included; to be less than ' +
      'retrieval.rerank.timeout_ms, or the circuit never opens. Default 1200.',
  ),
  max_retries: retries('Further attempts after no answer, 408, 409, 429 and 5xx. Default 0: a request waits for it.'),
}, { additionalProperties: false })

export type RerankEndpointSettings = Static<typeof RerankEndpointSettings>
