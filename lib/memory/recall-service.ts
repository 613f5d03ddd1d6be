import { invalidField } from '../errors/service-error.js'
import type { RequestContext } from '../identity/context.js'
import type { Strategy } from '../retrieval/candidates.js'
import { explainHits } from '../retrieval/ranking.js'
import type {
  RecallObservation, ReferenceTime, RetrievalRequest, RetrievalSettings, Retrieved,
} from '../retrieval/retriever.js'
import { roundedMs } from '../time/rounded-ms.js'
import type { Filters } from '../stores/vector-store.js'
import type { BankSettings } from '../config/schema.js'
import type { Dependencies, Call } from './dependencies.js'
import { commonSettings, type OpenBank } from './bank-directory.js'
import { modelReranker, refuseUnsupported, rewordings, type AssistedRecall } from './model-assisted-recall.js'
import { clamp, readFilters, readReference, toHit, type WireFilters } from './records.js'
import { RESULTS, type RecallAnswer, type RecallRequest, type Trace } from './schemas.js'

export async function recall (
  deps: Dependencies, request: RecallRequest, { context, signal }: Call,
): Promise<RecallAnswer> {
  const { admission, retriever } = deps
  const search = await openSearch(request, context, deps)
  const { banks } = search
  const settings = { retrieval: narrowed(search.settings.retrieval, request.strategies) }
  if (request.rewrite === true || request.model_rerank === true) {
    refuseUnsupported(deps, request, settings)
  }
  await admission.admit('recall', context, banks)
  const explain = request.explain === true
  const options = { banks, context, settings, signal }
  const rewrites = request.rewrite === true ? await rewritesOf(deps, request.query, options) : []
  const reranker = request.model_rerank === true ? modelReranker(deps, options) : undefined
  const retrieval = { ...retrievalOf(request, { ...search, settings }), rewrites, reranker, signal }
  let rankings: RecallObservation['rankings'] = []
  const retrieved = await retriever.retrieve(retrieval, explain ? (seen) => { rankings = seen.rankings } : undefined)
  const explanations = explain ? explainHits(retrieved.hits, rankings) : undefined
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
async function rewritesOf (deps: Dependencies, query: string, options: AssistedRecall): Promise<string[] | undefined> {
  try {
    return await rewordings(deps, query, options)
  } catch (error) {
    if (options.signal?.aborted === true) throw error
    return undefined
  }
}

/** A request that searches, validated. */
export interface Search {
  readonly banks: readonly OpenBank[]
  /** The settings that apply to these banks together. */
  readonly settings: Pick<BankSettings, 'retrieval' | 'reflect'>
  readonly filters: Filters
  readonly reference: ReferenceTime | undefined
}

/**
 * Checks a search and opens its banks, without duplicates.
 * @throws ServiceError invalid_request unless exactly one of bank_id and banks is given and the query has text;
 * access_denied for the first bank that the caller may not read
 */
export async function openSearch (
  request: WireFilters & { bank_id?: string, banks?: string[], query: string, reference_time?: string },
  context: RequestContext, { directory, live }: Dependencies,
): Promise<Search> {
  if ((request.bank_id === undefined) === (request.banks === undefined)) {
    throw invalidField('', 'Exactly one of bank_id and banks must be given')
  }
  if (request.query.trim() === '') throw invalidField('query', 'must not be blank')
  const banks = await directory.open(context, 'read', [...new Set(request.banks ?? [request.bank_id!])])
  return {
    banks,
    settings: commonSettings(banks, live.current),
    filters: readFilters(request),
    reference: readReference(request),
  }
}

/** What the retriever is asked for, with the bounds of a recall, clamped and limited by the maxima of the banks. */
export function retrievalOf (
  { query, max_results: results = RESULTS.default, min_score: minScore = 0, max_tokens: maxTokens }:
  Pick<RecallRequest, 'query' | 'max_results' | 'max_tokens' | 'min_score'>,
  { banks, settings: { retrieval }, filters, reference }: Pick<Search, 'banks' | 'filters' | 'reference'> & {
    settings: Pick<BankSettings, 'retrieval'>
  },
): RetrievalRequest {
  return {
    query,
    banks: banks.map(({ key }) => key),
    settings: retrievalSettings(retrieval),
    filters,
    limit: clamp(results, RESULTS.min, RESULTS.max),
    minScore,
    maxTokens: tokenBudget(maxTokens, banks, 'recall_max_tokens'),
    reference,
  }
}

/** The settings of a bank as the retriever reads them. */
export function retrievalSettings (
  { weights, fusion, scorers, diversity, bm25, context, semantic_timeout_ms: semanticTimeoutMs, rerank }:
  BankSettings['retrieval'],
): RetrievalSettings {
  const { k1, pivot, b } = bm25
  return {
    weights,
    fusion,
    scorers,
    diversity,
    bm25: { k1, length: b === undefined ? { pivot } : { b }, context },
    semanticTimeoutMs,
    rerank: { candidates: rerank.candidates, timeoutMs: rerank.timeout_ms, weight: rerank.weight },
  }
}

/** The minimum of the request's budget and the banks' maxima; undefined when there is none. */
export function tokenBudget (
  requested: number | undefined, banks: readonly OpenBank[], name: 'recall_max_tokens' | 'reflect_max_tokens',
): number | undefined {
  const limits = [requested, ...banks.map(({ settings }) => settings.homeostasis[name])]
    .filter((limit) => limit !== undefined)
  return limits.length === 0 ? undefined : Math.min(...limits)
}

/** @throws ServiceError invalid_request when the settings use none of the requested strategies */
function narrowed (
  retrieval: BankSettings['retrieval'], strategies: RecallRequest['strategies'],
): BankSettings['retrieval'] {
  if (strategies === undefined) return retrieval
  const weightOf = (strategy: Strategy) => strategies.includes(strategy) ? retrieval.weights[strategy] : 0
  const weights = { lexical: weightOf('lexical'), semantic: weightOf('semantic') }
  if (weights.lexical + weights.semantic === 0) {
    throw invalidField('strategies', 'names no strategy that is enabled (`retrieval.weights`)')
  }
  return { ...retrieval, weights }
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
