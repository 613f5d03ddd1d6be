import type { ModelStatus } from './status.js'

/** What a reranker must do: judge how well each text answers a query, reading both together. */
export interface Reranker {
  /**
   * @param texts at most a hundred
   * @returns a finite score for each text, in order; higher is better, on a scale of the model's own
   */
  rerank (query: string, texts: readonly string[], options: { signal?: AbortSignal }): Promise<number[]>
  /** How it stands, for metrics. */
  status? (): ModelStatus
  close? (): Promise<void>
}

export const RERANKER_METHODS = ['rerank'] as const satisfies ReadonlyArray<keyof Reranker>
