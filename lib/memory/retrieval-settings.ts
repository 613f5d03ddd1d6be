import type { BankSections } from '../config/bank-sections.js'
import type { RetrievalSettings } from '../retrieval/retriever.js'

/** The `retrieval` section of a bank as the retriever takes it. */
export function retrievalSettings ({ weights, fusion, scorers, diversity, bm25: { k1, pivot, b }, context, semantic_timeout_ms: semanticTimeoutMs, rerank }: BankSections['retrieval']): RetrievalSettings {
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
