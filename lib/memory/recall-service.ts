import { invalidField } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import type { Strategy } from '../retrieval/candidates.js'
import { explainHits } from '../retrieval/ranking.js'
import type { RecallObservation, Retrieved } from '../retrieval/retriever.js'
import { roundedMs } from '../time/rounded-ms.js'
import type { Dependencies } from './dependencies.js'
import type { BankSettings } from './bank-settings.js'
import { commonSettings, type OpenBank } from './file-settings.js'
import type { AssistedRecall } from './model-assisted-recall.js'
import type { SearchOptions } from './operation-options.js'
import { clamp, readFilters, readReference, toHit } from './records.js'
import { retrievalRequest, type RetrievalBounds } from './retrieval-request.js'
import { RESULTS, type RecallAnswer, type RecallRequest, type Trace } from './schemas.js'

type RequestedBounds = Pick<RecallRequest, 'query' | 'max_results' | 'max_tokens' | 'min_score'>

/** The recall operation. */
export class RecallService {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  async recall (
    request: RecallRequest, context: RequestContext, { signal }: SearchOptions = {},
  ): Promise<RecallAnswer> {
    const { admission, live, retriever, modelAssistedRecall } = this.#deps
    const banks = await openSearchedBanks(request, context, this.#deps)
    const filters = readFilters(request)
    const reference = readReference(request)
    const settings = narrowed(commonSettings(banks, live.current), request.strategies)
    if (request.rewrite === true || request.model_rerank === true) {
      modelAssistedRecall.refuseUnsupported(request, settings)
    }
    await admission.admit('recall', context, banks)
    const explain = request.explain === true
    const options = { banks, context, settings, signal }
    const rewrites = request.rewrite === true ? await this.#rewrites(request.query, options) : []
    const reranker = request.model_rerank === true ? modelAssistedRecall.reranker(options) : undefined
    const bounds = retrievalBounds(request, banks)
    const retrieval = retrievalRequest({
      bounds, banks, filters, settings, reference, rewrites, reranker, signal,
    })
    let rankings: RecallObservation['rankings'] = []
    const retrieved = await retriever.retrieve(retrieval, explain ? (seen) => { rankings = seen.rankings } : undefined)
    const explanations = explain
      ? explainHits(retrieved.hits, rankings)
      : undefined
    const answer: RecallAnswer = {
      hits: retrieved.hits.map((hit, index) => toHit(hit, explanations?.[index])),
      total_available: retrieved.total,
      truncated: retrieved.truncated,
      usage: { tokens: retrieved.tokens },
    }
    if (rewrites === undefined) answer.degraded = ['rewrite', ...retrieved.degraded]
    else if (retrieved.degraded.length > 0) answer.degraded = [...retrieved.degraded]
    if (explain) answer.trace = toTrace(retrieved)
    return answer
  }

  /** @returns undefined when the model fails or is late */
  async #rewrites (query: string, options: AssistedRecall): Promise<string[] | undefined> {
    try {
      return await this.#deps.modelAssistedRecall.rewrite(query, options)
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      return undefined
    }
  }
}

/** The bounds of a recall, clamped and limited by the banks' ceilings. */
export function retrievalBounds (request: RequestedBounds, banks: readonly OpenBank[]): RetrievalBounds {
  return {
    query: request.query,
    limit: clamp(request.max_results ?? RESULTS.default, RESULTS.min, RESULTS.max),
    minScore: request.min_score,
    maxTokens: tokenBudget(request.max_tokens, banks.map(({ settings }) => settings.tokenBudgets.recall)),
  }
}

/**
 * Checks the query of a search and its choice of banks, and opens the banks, without duplicates.
 * @throws ServiceError invalid_request unless exactly one of bank_id and banks is given and the query has text;
 * access_denied for the first bank that the caller may not read
 */
export async function openSearchedBanks (
  request: { bank_id?: string, banks?: string[], query: string }, context: RequestContext,
  { directory }: Dependencies,
): Promise<OpenBank[]> {
  if ((request.bank_id === undefined) === (request.banks === undefined)) {
    throw invalidField('', 'Exactly one of bank_id and banks must be given')
  }
  if (request.query.trim() === '') throw invalidField('query', 'must not be blank')
  return await directory.open(context, 'read', [...new Set(request.banks ?? [request.bank_id!])])
}

/** The minimum of the request's budget and the banks' maxima; undefined when there is none. */
export function tokenBudget (
  requested: number | undefined, ceilings: ReadonlyArray<number | undefined>,
): number | undefined {
  const limits = [requested, ...ceilings].filter((limit) => limit !== undefined)
  return limits.length === 0 ? undefined : Math.min(...limits)
}

/** @throws ServiceError invalid_request when the settings use none of the requested strategies */
function narrowed<S extends Pick<BankSettings, 'retrieval'>> (settings: S, strategies: RecallRequest['strategies']): S {
  if (strategies === undefined) return settings
  const { retrieval } = settings
  const weightOf = (strategy: Strategy) => strategies.includes(strategy) ? retrieval.weights[strategy] : 0
  const weights = { lexical: weightOf('lexical'), semantic: weightOf('semantic') }
  if (weights.lexical + weights.semantic === 0) {
    throw invalidField('strategies', 'names no strategy that is enabled (`retrieval.weights`)')
  }
  return { ...settings, retrieval: { ...retrieval, weights } }
}

function toTrace ({ stages, strategies }: Retrieved): Trace {
  const begin = stages[0]?.startedAt ?? 0
  return {
    stages: stages.map(({ name, startedAt, durationMs }) => (
      { name, start_ms: roundedMs(startedAt - begin), duration_ms: roundedMs(durationMs) }
    )),
    strategies: [...strategies],
  }
}
