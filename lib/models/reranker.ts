import type { ModelStatus } from './health.js'

/** The interface of a reranker, which scores how well each text answers a query, from both together. */
export interface Reranker {
  /**
   * @param texts at most a hundred
   * @returns a finite score for each text, in order; higher is better; the scale depends on the model
   */
  rerank (query: string, texts: readonly string[], options: { signal?: AbortSignal }): Promise<number[]>
  /** The current state, for metrics. */
  status? (): ModelStatus
  close? (): Promise<void>
}

export const RERANKER_METHODS = ['rerank'] as const satisfies ReadonlyArray<keyof Reranker>
