import { parsedJson } from '../../base/json-object.js'
import type { ProviderConfig, ProviderContext } from '../../config/providers/registry.js'
import { RerankEndpointSettings } from '../../config/providers/schemas/endpoints.js'
import { settingsCheck } from '../../config/providers/settings.js'
import type { ModelStatus } from '../health.js'
import type { Reranker } from '../reranker.js'
import {
  inBatches, openEndpoint, checkCombinations, member, type CalledEndpoint, type RemoteTools,
} from './endpoint.js'
import { ModelCallError } from './model-call-error.js'

const KEY = 'reranker_config'
const SERVICE = 'rerank endpoint'

/** Bytes of an answer besides its scores. Some endpoints return the texts, with up to six bytes for a character. */
const ENVELOPE_BYTES = 1024 * 1024
const ECHO_FACTOR = 6
/** The most texts of a request that Text Embeddings Inference takes by default (`--max-client-batch-size`). */
const TEI_BATCH_SIZE = 32

const check = settingsCheck(KEY, RerankEndpointSettings)

interface Parts {
  endpoint: CalledEndpoint
  url: string
  makeBody: (query: string, texts: readonly string[]) => object
  /** The most texts of one request. */
  batchSize: number
  timeoutMs: number
}

/** Reranking as Cohere, Jina, Voyage, vLLM and Text Embeddings Inference offer it over HTTP. */
class RemoteReranker implements Reranker {
  readonly #parts: Parts

  constructor (parts: Parts) {
    this.#parts = parts
  }

  /** @throws ModelCallError; the reason of the signal once it is aborted */
  async rerank (
    query: string, texts: readonly string[], { signal }: { signal?: AbortSignal },
  ): Promise<number[]> {
    signal?.throwIfAborted()
    return await inBatches(texts, { size: this.#parts.batchSize, signal }, async (batch, signal) => (
      await this.#rerankBatch(query, batch, signal)
    ))
  }

  status (): ModelStatus {
    return this.#parts.endpoint.calls.status()
  }

  async close (): Promise<void> {
    this.#parts.endpoint.calls.close()
  }

  async #rerankBatch (query: string, texts: readonly string[], callers: AbortSignal): Promise<number[]> {
    const { endpoint, url, makeBody, timeoutMs } = this.#parts
    const body = JSON.stringify(makeBody(query, texts))
    const maxBytes = ENVELOPE_BYTES + body.length * ECHO_FACTOR
    const headers = { 'content-type': 'application/json' }
    return await endpoint.calls.call(async (signal) => {
      const answer = await endpoint.post(url, { headers, body, signal }, maxBytes)
      const scores = readScores(answer, texts.length)
      if (scores !== undefined) return scores
      const message = `The ${SERVICE} answered with something else than one score for each text`
      throw new ModelCallError('unusable', message, { status: 200 })
    }, { timeoutMs, attemptTimeoutMs: timeoutMs, priority: 'interactive', signal: callers })
  }
}

/**
 * Makes the reranker `rerank_endpoint`, without calling the endpoint.
 * @throws ProviderError for wrong settings; no secret is shown
 */
export function makeRemoteReranker (
  config: ProviderConfig, context: ProviderContext, tools: RemoteTools = {},
): Reranker {
  const settings = check(config)
  const { model, style, timeout_ms: timeoutMs } = settings
  checkCombinations(KEY, 'rerank_endpoint', settings)
  const limits = { attemptTimeoutMs: timeoutMs, maxRetries: settings.max_retries }
  const endpoint = openEndpoint(KEY, SERVICE, settings, limits, context, tools)
  const url = new URL(`${endpoint.baseUrl}/rerank`)
  url.search = new URLSearchParams(endpoint.queryParams).toString()
  return new RemoteReranker({
    endpoint,
    url: url.href,
    timeoutMs,
    batchSize: style === 'tei' ? TEI_BATCH_SIZE : Infinity,
    // The number of results is not sent: its name differs (top_n, top_k), and the default is all of them.
    makeBody: style === 'tei'
      ? (query, texts) => ({ query, texts })
      : (query, documents) => ({ model, query, documents }),
  })
}

/**
 * `{results: [{index, relevance_score}]}` (Cohere, Jina, vLLM), the same under `data` (Voyage), or `[{index, score}]`
 * (TEI), in any order.
 * @returns undefined unless each of the texts has exactly one finite score
 */
function readScores (answer: string, count: number): number[] | undefined {
  const parsed = parsedJson(answer)
  const results = Array.isArray(parsed) ? parsed : member(parsed, 'results') ?? member(parsed, 'data')
  if (!Array.isArray(results) || results.length !== count) return undefined
  const scores = new Map<unknown, unknown>(results.map((result) => (
    [member(result, 'index'), member(result, 'relevance_score') ?? member(result, 'score')]
  )))
  const ordered = Array.from({ length: count }, (_, index) => scores.get(index))
  return ordered.every((score): score is number => typeof score === 'number' && Number.isFinite(score))
    ? ordered
    : undefined
}
