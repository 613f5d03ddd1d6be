import type { SearchRequest } from '../stores/vector-store.js'
import type { AnalyzedQuery } from './query.js'
import type { RetrievalRequest } from './request.js'

/**
 * The least number of candidates that each strategy returns. The longer the lists, the more memories have the scores of
 * both strategies.
 */
export const MIN_CANDIDATES = 100

/** The factor on the BM25 length pivot when the query asks for what an assistant said: its answers are long. */
const ASSISTANT_LENGTH_FACTOR = 4
/** The same for notes and articles, where a long text is no answer that contains every word somewhere. */
const NOTES_LENGTH_FACTOR = 3

/**
 * The search of one query. Written out without a spread, which takes microseconds.
 * @param vector absent when the semantic strategy is off or the query could not be embedded
 */
export function searchFor (
  { banks, filters, limit, settings: { weights, bm25 } }: RetrievalRequest,
  { asksForAssistantTurn, terms }: AnalyzedQuery, now: number, vector: Float32Array | undefined,
): SearchRequest {
  const { k1, context, length: form } = bm25
  let length = form
  if ('pivot' in form) {
    const { pivot } = form
    if (asksForAssistantTurn) length = { pivot: pivot * ASSISTANT_LENGTH_FACTOR }
    else if (vector === undefined) length = { pivot, notesPivot: pivot * NOTES_LENGTH_FACTOR }
  }
  return {
    banks,
    filters,
    now,
    limit: Math.max(MIN_CANDIDATES, limit),
    lexical: weights.lexical > 0 ? { terms, k1, length, context } : undefined,
    semantic: vector && { vector },
  }
}
