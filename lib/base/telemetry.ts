/** The outcome of a call to a model: `ok`, a kind of ModelCallError, `aborted` by its caller, or `error`. */
export type ModelCallOutcome = string

export interface ModelCallRecord {
  kind: 'llm' | 'embedding' | 'reranker'
  /** As the configuration names it: `openai_compatible`. */
  provider: string
  model: string
  /** The purpose: `reflect`, `rewrite`, `rerank`, `extract`, `query`, `document`. */
  purpose: string
  outcome: ModelCallOutcome
  durationMs: number
  inputTokens?: number
  outputTokens?: number
  /** In the currency of the price table; absent when the model has no price there. */
  cost?: number | undefined
}

/** Records events for metrics. No record has a bank, a principal or content. */
export interface Telemetry {
  /** One stage of a recall (`analyze`, `embed`, `search`, `rank`, `rerank`, `budget`), in milliseconds. */
  stage (name: string, durationMs: number): void
  modelCall (record: ModelCallRecord): void
  /** An operation was refused. */
  refused (kind: 'access' | 'rate_limited' | 'quota_exceeded'): void
  /** Facts were derived from memories, could not be for now, or will not be. */
  extracted (outcome: ExtractionOutcome, memories: number): void
}

export type ExtractionOutcome = typeof EXTRACTION_OUTCOMES[number]
export const EXTRACTION_OUTCOMES = ['done', 'failed', 'given_up'] as const

/** Records nothing. */
export const NO_TELEMETRY: Telemetry = { stage: () => {}, modelCall: () => {}, refused: () => {}, extracted: () => {} }
