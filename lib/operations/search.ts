import type { RequestContext } from '../access/context.js'
import { invalidField } from '../base/service-error.js'
import type { BankSettings } from '../config/schema.js'
import type { ReferenceTime, RetrievalRequest, RetrievalSettings } from '../ranking/retriever.js'
import type { Filters } from '../stores/vector-store.js'
import { commonSettings, type OpenBank } from './bank-directory.js'
import type { Dependencies } from './dependencies.js'
import { clamp, readFilters, readReference, requireLife, type WireFilters } from './records.js'
import { RESULTS, type RecallRequest } from './schemas.js'

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
 * access_denied for the first bank that the caller may not read; not_supported
 */
export async function openSearch (
  request: WireFilters & { bank_id?: string, banks?: string[], query: string, reference_time?: string },
  context: RequestContext, { directory, live, store }: Dependencies,
): Promise<Search> {
  if ((request.bank_id === undefined) === (request.banks === undefined)) {
    throw invalidField('', 'Exactly one of bank_id and banks must be given')
  }
  if (request.query.trim() === '') throw invalidField('query', 'must not be blank')
  const banks = await directory.open(context, 'read', [...new Set(request.banks ?? [request.bank_id!])])
  const filters = readFilters(request)
  requireLife(store, filters)
  return {
    banks,
    settings: commonSettings(banks, live.current),
    filters,
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
