import type { FileConfig } from '../config/schema.js'
import { SCORER_TABLE } from '../config/scorer-table.js'
import type { RetrieverOptions } from '../retrieval/retriever.js'
import { SCORER_NAMES, type ScorerName, type ScorerWeights } from '../retrieval/scoring/scorers.js'

/** BM25 with the length normalisation that short conversational turns want (Robertson & Zaragoza 2009 for the formula). */
const DEFAULT_BM25 = { k1: 0.9, b: 0.3 }

/** The `retrieval` section of the configuration, with defaults. */
export function retrievalSettings ({ retrieval = {} }: FileConfig): Pick<RetrieverOptions, 'fusion' | 'scorers' | 'diversity' | 'bm25' | 'semanticTimeoutMs' | 'rerank'> {
  const { fusion = 'linear', scorers = {}, diversity = 0.2, bm25, semantic_timeout_ms: semanticTimeoutMs = 3000, rerank = {} } = retrieval
  const table: Record<ScorerName, { weight: number }> = SCORER_TABLE
  return {
    fusion,
    scorers: Object.fromEntries(SCORER_NAMES.map((name) => [name, scorers[name] ?? table[name].weight])) as ScorerWeights,
    diversity,
    bm25: { ...DEFAULT_BM25, ...bm25 },
    semanticTimeoutMs,
    rerank: { candidates: rerank.candidates ?? 100, timeoutMs: rerank.timeout_ms ?? 1500, weight: rerank.weight ?? 0.8 },
  }
}
