import type { BankSections } from '../config/bank-schema.js'
import type { Trust } from '../identity/trust.js'
import { bankPolicy, type BankPolicy } from '../policy/bank.js'
import type { RerankOptions } from '../retrieval/ranking.js'
import type { RetrievalSettings } from '../retrieval/retriever.js'

/** The settings that apply to a bank, in the form that the code uses. */
export interface BankSettings extends BankPolicy {
  /** Maximum tokens of an answer, which is also the default of a request; undefined: no maximum. */
  tokenBudgets: { recall: number | undefined, reflect: number | undefined }
  deduplication: BankSections['signal_quality']['dedup']
  /** Contents with more characters are split into passages. */
  maxPassageCharacters: number
  retrieval: RetrievalSettings
  /** Alternative wordings of a query, by the language model. */
  rewrite: { enabled: boolean, maxQueries: number, timeoutMs: number }
  /** Reranking by the language model. */
  modelRerank: RerankOptions & { enabled: boolean }
  reflect: {
    timeoutMs: number
    maxEvidence: number
    maxEvidenceTokens: number
    minScore: number
    minTrust: Trust
  }
  mission: string | undefined
}

/** Sections of the configuration file are shared by all banks without a configuration of their own. */
const known = new WeakMap<BankSections, BankSettings>()

/** The settings of resolved sections; the same object for the same sections. */
export function bankSettings (sections: BankSections): BankSettings {
  let settings = known.get(sections)
  if (settings === undefined) known.set(sections, settings = translate(sections))
  return settings
}

function translate (sections: BankSections): BankSettings {
  const { homeostasis, signal_quality: { dedup }, retrieval, reflect, mission } = sections
  const { rewrite, model_rerank: modelRerank } = retrieval
  return {
    ...bankPolicy(sections),
    tokenBudgets: { recall: homeostasis.recall_max_tokens, reflect: homeostasis.reflect_max_tokens },
    deduplication: dedup,
    maxPassageCharacters: retrieval.chunk_max_characters,
    retrieval: retrievalSettings(retrieval),
    rewrite: { enabled: rewrite.enabled, maxQueries: rewrite.max_queries, timeoutMs: rewrite.timeout_ms },
    modelRerank: { enabled: modelRerank.enabled, ...rerankOptions(modelRerank) },
    reflect: {
      timeoutMs: reflect.timeout_ms,
      maxEvidence: reflect.max_evidence,
      maxEvidenceTokens: reflect.max_evidence_tokens,
      minScore: reflect.min_score,
      minTrust: reflect.min_trust,
    },
    mission,
  }
}

function retrievalSettings (
  { weights, fusion, scorers, diversity, bm25, context, semantic_timeout_ms: semanticTimeoutMs, rerank }:
  BankSections['retrieval'],
): RetrievalSettings {
  const { k1, pivot, b } = bm25
  return {
    weights,
    fusion,
    scorers,
    diversity,
    bm25: { k1, length: b === undefined ? { pivot } : { b }, context },
    semanticTimeoutMs,
    rerank: rerankOptions(rerank),
  }
}

function rerankOptions (
  { candidates, timeout_ms: timeoutMs, weight }: BankSections['retrieval']['rerank'],
): RerankOptions {
  return { candidates, timeoutMs, weight }
}
