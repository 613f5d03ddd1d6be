import { RERANK_ENDPOINT_TIMEOUT_MS } from '../providers/defaults.js'
import { FileSchema, type FileConfig } from './schema.js'

const DEFAULT_OUTER = FileSchema.properties.retrieval.properties.rerank.properties.timeout_ms.default

/**
 * Warns about a limit of the endpoint that can take effect in no bank. Two limits end a reranking by an endpoint:
 * `reranker_config.timeout_ms`, which counts as a failure of the endpoint, and `retrieval.rerank.timeout_ms`, after
 * which the recall goes on without the reranker, which does not.
 */
export function * rerankTimeoutWarnings (file: FileConfig): Iterable<string> {
  const { timeout_ms: inner = RERANK_ENDPOINT_TIMEOUT_MS } = file.reranker_config ?? {}
  const outer = longestOuter(file)
  if (file.reranker !== 'rerank_endpoint' || typeof inner !== 'number' || inner < outer) return
  yield `reranker_config.timeout_ms is ${inner}, and a recall goes on without the reranker after ` +
    `retrieval.rerank.timeout_ms, ${outer}: a slow endpoint never opens the circuit breaker; set ` +
    `reranker_config.timeout_ms to less than ${outer}`
}

/** The longest limit of a recall in the file: banks and profiles can have limits of their own. */
function longestOuter ({ retrieval, banks = {}, profiles = {} }: FileConfig): number {
  const ofEntries = [...Object.values(banks), ...Object.values(profiles)].map((entry) => (
    entry.retrieval?.rerank?.timeout_ms ?? 0
  ))
  return Math.max(retrieval?.rerank?.timeout_ms ?? DEFAULT_OUTER, ...ofEntries)
}
