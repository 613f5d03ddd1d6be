import { SCORER_TABLE } from './scorer-table.js'
import type { Barriers, Homeostasis, Reflect, Retrieval, SignalQuality } from './schema.js'

type Filled<T> = T extends readonly unknown[] ? T : T extends object ? { [Key in keyof T]-?: Filled<NonNullable<T[Key]>> } : T

/** The sections that hold for a bank, with every default filled in. What stays optional has no default: unset, it sets no limit. */
export interface BankSections {
  homeostasis: Homeostasis
  barriers: Filled<Barriers>
  signal_quality: Filled<SignalQuality>
  retrieval: Omit<Filled<Retrieval>, 'bm25'> & { bm25: { k1: number, pivot: number, b?: number } }
  reflect: Filled<Reflect>
  mission?: string
  description?: string
}

/** What holds where nobody says anything; the weight of the semantic strategy is the embedding provider's to say. */
export function defaultSections (semanticWeight: number): BankSections {
  const weights = Object.fromEntries(Object.entries(SCORER_TABLE).map(([name, { weight }]) => [name, weight]))
  return {
    homeostasis: {},
    barriers: {
      validation: { max_content_length: 50_000 },
      metadata: { blocked_keys: [], max_metadata_size_bytes: 4096 },
    },
    signal_quality: { dedup: { action: 'off', threshold: 0.9 } },
    retrieval: {
      weights: { lexical: 1, semantic: semanticWeight },
      fusion: 'linear',
      scorers: weights as Record<keyof typeof SCORER_TABLE, number>,
      diversity: 0.2,
      semantic_timeout_ms: 3000,
      rerank: { candidates: 100, timeout_ms: 1500, weight: 0.8 },
      rewrite: { enabled: false, max_queries: 3, timeout_ms: 3000 },
      model_rerank: { enabled: false, candidates: 20, timeout_ms: 5000, weight: 0.8 },
      // Long answers beside short remarks want a length from which on it counts, rather than one share of the average (docs/recall-quality.md).
      bm25: { k1: 0.9, pivot: 25 },
      context: true,
      chunk_max_characters: 2000,
    },
    reflect: { timeout_ms: 60_000, max_evidence: 20, max_evidence_tokens: 6000, min_score: 0.2, min_trust: 'suspect' },
  }
}
