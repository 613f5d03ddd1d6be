/** What became of a call to a model: `ok`, a kind of ModelCallError, `aborted` when its caller left, `error` for anything else. */
export type CallOutcome = string

export interface ModelCallRecord {
  kind: 'llm' | 'embedding' | 'reranker'
  /** As the configuration names it: `openai_compatible`. */
  provider: string
  model: string
  /** What it was for: `reflect`, `rewrite`, `rerank`, `query`, `document`. */
  purpose: string
  outcome: CallOutcome
  durationMs: number
  inputTokens?: number
  outputTokens?: number
  /** In the currency of the price table; absent when the model has no price there. */
  cost?: number
}

/** Takes what happened, for metrics. Nothing here names a bank or a principal, and nothing carries content. */
export interface Telemetry {
  /** One stage of a recall (`analyze`, `embed`, `search`, `rank`, `rerank`, `budget`), in milliseconds. */
  stage (name: string, durationMs: number): void
  modelCall (record: ModelCallRecord): void
  /** Something was refused: `access`, `rate_limited`, `quota_exceeded`. */
  refused (what: 'access' | 'rate_limited' | 'quota_exceeded'): void
}

/** For when nobody asks. */
export const NO_TELEMETRY: Telemetry = { stage: () => {}, modelCall: () => {}, refused: () => {} }
