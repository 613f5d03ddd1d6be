import type { RetrievalRequest } from '../retrieval/retriever.js'
import type { BankSettings } from './bank-settings.js'
import type { OpenBank } from './file-settings.js'

/** What is searched for, and the bounds of the answer. */
export interface RetrievalBounds extends Pick<RetrievalRequest, 'query' | 'limit' | 'maxTokens'> {
  readonly minScore: number | undefined
}

/** The parts of a retrieval, as the operations have them. */
interface RetrievalParts
  extends Pick<RetrievalRequest, 'filters' | 'reference' | 'rewrites' | 'reranker' | 'signal'> {
  readonly bounds: RetrievalBounds
  readonly banks: readonly OpenBank[]
  readonly settings: Pick<BankSettings, 'retrieval'>
}

/** The retrieval of a recall, an explain or a reflect. Written out without a spread, which takes microseconds. */
export function retrievalRequest ({
  bounds: { query, limit, minScore = 0, maxTokens }, banks, settings, filters, reference, rewrites, reranker,
  signal,
}: RetrievalParts): RetrievalRequest {
  return {
    query,
    banks: banks.map(({ key }) => key),
    settings: settings.retrieval,
    filters,
    limit,
    minScore,
    maxTokens,
    reference,
    rewrites,
    reranker,
    signal,
  }
}
