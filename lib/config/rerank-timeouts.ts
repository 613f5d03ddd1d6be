import { RERANK_ENDPOINT_TIMEOUT_MS } from '../providers/defaults.js'
import { FileSchema, type FileConfig } from './schema.js'

// Two limits end a reranking by an endpoint: `reranker_config.timeout_ms`, which counts as a failure of the endpoint,
// and `retrieval.rerank.timeout_ms`, after which the recall goes on without the reranker, which does not.

const INNER = 'reranker_config.timeout_ms'
const OUTER = 'retrieval.rerank.timeout_ms'
const DEFAULT_OUTER = FileSchema.properties.retrieval.properties.rerank.properties.timeout_ms.default

/** A problem when the limit of the endpoint is set and can take effect in no bank. */
export function * rerankTimeoutProblems (file: FileConfig): Iterable<string> {
  const inner = file.reranker_config?.['timeout_ms']
  const outer = longestOuter(file)
  if (file.reranker !== 'rerank_endpoint' || typeof inner !== 'number' || inner < outer) return
  yield `${INNER}: found ${inner}, allowed is less than ${OUTER} (${outer}), at which a recall goes on without the ` +
    'reranker; otherwise it has no effect, and a slow endpoint never opens the circuit breaker'
}

/** A warning when it is not set and its default can take effect in no bank. */
export function * rerankTimeoutWarnings (file: FileConfig): Iterable<string> {
  const outer = longestOuter(file)
  if (file.reranker !== 'rerank_endpoint' || file.reranker_config?.['timeout_ms'] !== undefined) return
  if (RERANK_ENDPOINT_TIMEOUT_MS < outer) return
  yield `${OUTER} is ${outer}, and ${INNER} is not set and ${RERANK_ENDPOINT_TIMEOUT_MS} by default: a slow endpoint ` +
    `never opens the circuit breaker; set ${INNER} to less than ${outer}`
}

/** The longest limit of a recall in the file: banks and profiles can have limits of their own. */
function longestOuter ({ retrieval, banks = {}, profiles = {} }: FileConfig): number {
  const ofEntries = [...Object.values(banks), ...Object.values(profiles)].map((entry) => (
    entry.retrieval?.rerank?.timeout_ms ?? 0
  ))
  return Math.max(retrieval?.rerank?.timeout_ms ?? DEFAULT_OUTER, ...ofEntries)
}
