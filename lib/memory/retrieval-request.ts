import { callerOf, type RequestContext } from '../identity/context.js'
import type { RetrievalRequest } from '../retrieval/retriever.js'
import type { Filters } from '../stores/vector-store.js'
import type { BankSettings } from './bank-settings.js'
import type { OpenBank } from './file-settings.js'

/** What is searched for, and the bounds of the answer. */
export interface RetrievalBounds extends Pick<RetrievalRequest, 'query' | 'limit' | 'maxTokens'> {
  readonly minScore: number | undefined
}

type RetrievalOptions = Pick<RetrievalRequest, 'reference' | 'rewrites' | 'reranker' | 'signal' | 'budget'>

/** The retrieval of a recall, an explain or a reflect. Written out without a spread, which takes microseconds. */
export function retrievalRequest (
  { query, limit, minScore = 0, maxTokens }: RetrievalBounds, banks: readonly OpenBank[], filters: Filters,
  { retrieval }: Pick<BankSettings, 'retrieval'>, context: RequestContext,
  { reference, rewrites, reranker, signal, budget }: RetrievalOptions,
): RetrievalRequest {
  return {
    caller: callerOf(context),
    query,
    banks: banks.map(({ key }) => key),
    settings: retrieval,
    filters,
    limit,
    minScore,
    maxTokens,
    reference,
    rewrites,
    reranker,
    signal,
    budget,
  }
}
