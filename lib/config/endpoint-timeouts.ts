import { RemoteEmbeddingSettings, RerankEndpointSettings } from '../providers/schemas/endpoints.js'
import { FileSchema, type FileConfig } from './schema.js'

const { semantic_timeout_ms: semantic, rerank } = FileSchema.properties.retrieval.properties
const { query_timeout_ms: queryTimeout, timeout_ms: attemptTimeout } = RemoteEmbeddingSettings.properties
const { timeout_ms: rerankTimeout } = RerankEndpointSettings.properties

interface Limits {
  /** The setting of the endpoint and its value. */
  inner: [name: string, ms: unknown]
  /** The setting of `retrieval` and its longest value. */
  outer: [name: string, ms: number]
  /** What the recall goes on without. */
  without: string
}

/**
 * Warns about limits of endpoints that can take effect in no bank. Two limits end a call: the endpoint's own, which
 * counts as a failure of the endpoint, and that of the recall, which goes on without the result and does not count it.
 */
export function * endpointTimeoutWarnings (file: FileConfig): Iterable<string> {
  const { embedding_provider_config: embedding = {}, reranker_config: reranking = {} } = file
  if (file.embedding_provider === 'openai_compatible') {
    const { query_timeout_ms: query = queryTimeout.default, timeout_ms: attempt = attemptTimeout.default } = embedding
    const outer = longestOuter(file, (retrieval) => retrieval?.semantic_timeout_ms, semantic.default)
    // An attempt that takes too long counts as well.
    if (typeof attempt === 'number' && attempt >= outer) {
      yield * warningOf({
        inner: ['embedding_provider_config.query_timeout_ms', query],
        outer: ['semantic_timeout_ms', outer],
        without: 'the embedding of its query',
      })
    }
  }
  if (file.reranker === 'rerank_endpoint') {
    yield * warningOf({
      inner: ['reranker_config.timeout_ms', reranking['timeout_ms'] ?? rerankTimeout.default],
      outer: [
        'rerank.timeout_ms',
        longestOuter(file, (retrieval) => retrieval?.rerank?.timeout_ms, rerank.properties.timeout_ms.default),
      ],
      without: 'the reranker',
    })
  }
}

function * warningOf ({ inner: [innerName, inner], outer: [outerName, outer], without }: Limits): Iterable<string> {
  if (typeof inner !== 'number' || inner < outer) return
  yield `${innerName} is ${inner}, and a recall goes on without ${without} after retrieval.${outerName}, ${outer}: a ` +
    `slow endpoint never opens the circuit breaker; set ${innerName} to less than ${outer}`
}

/** The longest limit of a recall in the file: banks and profiles can have limits of their own. */
function longestOuter (
  { retrieval, banks = {}, profiles = {} }: FileConfig,
  limitOf: (retrieval: FileConfig['retrieval']) => number | undefined,
  byDefault: number,
): number {
  const ofEntries = [...Object.values(banks), ...Object.values(profiles)].map((entry) => limitOf(entry.retrieval) ?? 0)
  return Math.max(limitOf(retrieval) ?? byDefault, ...ofEntries)
}
