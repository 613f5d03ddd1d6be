import { Type, type Static, type TNumber } from 'typebox'
import { choice, flag, integer, number, section, sectionOfSettings, setting, type TDefaulted } from './schema-parts.js'
import { REMOVED_SCORERS, SCORER_TABLE } from './scorer-table.js'

/** A weight for each scorer. */
function scorerWeights (): Record<keyof typeof SCORER_TABLE, TDefaulted<TNumber>> {
  const weights = Object.entries(SCORER_TABLE).map(([name, { weight, about }]) => [
    name, setting(number(about, -100, 100), weight),
  ])
  return Object.fromEntries(weights) as Record<keyof typeof SCORER_TABLE, TDefaulted<TNumber>>
}

export const RetrievalSchema = section({
  weights: sectionOfSettings({
    lexical: setting(number('Weight of the lexical (BM25) score.', 0, 100), 1),
    semantic: Type.Optional(number('Weight of the semantic (embedding) score. Default: what the embedding provider ' +
      'says of itself; mock 0.', 0, 100)),
  }, 'Weights of the strategies in the fused score.'),
  fusion: setting(choice(['linear', 'rrf'], 'How the strategies are put together: linear adds up ' +
    'their scores, each as a share of the best one found; rrf looks at ranks alone.'), 'linear'),
  scorers: setting(Type.Object(scorerWeights(), {
    additionalProperties: false,
    description: 'Weights of what a candidate is judged by beside the strategies, next to a lexical weight of 1; 0 ' +
      'switches one off.',
    'x-removed': REMOVED_SCORERS,
  }), {}, ''),
  diversity: setting(number('What each earlier hit of the same document subtracts from the score of a candidate, ' +
    'beside a lexical weight of 1, when the query asks for several things (which, what … s, how many). 0: nothing.',
  0, 100), 0.1),
  semantic_timeout_ms: setting(integer('Milliseconds that the embedding of a query may take; past them recall ' +
    'answers without it, marked degraded.', 1, 600_000), 3000),
  rerank: sectionOfSettings({
    candidates: setting(integer('How many of the best candidates the reranker judges.', 1, 100), 100),
    timeout_ms: setting(integer('Milliseconds that it may take; past them recall answers in the order without it, ' +
      'marked degraded.', 1, 600_000), 1500),
    weight: setting(number('Share of the reranker in the new score.', 0, 1), 0.8),
  }, 'How the reranker is used, when `reranker` names one.'),
  rewrite: sectionOfSettings({
    enabled: setting(flag('Whether a recall may ask for it (`rewrite: true`).'), false),
    max_queries: setting(integer('Wordings that are searched beside the query.', 1, 8), 3),
    timeout_ms: setting(integer('Milliseconds that the language model may take; past them recall answers without ' +
      'it, marked degraded.', 1, 600_000), 3000),
  }, 'Other wordings of a query, by the language model.'),
  model_rerank: sectionOfSettings({
    enabled: setting(flag('Whether a recall may ask for it (`model_rerank: true`).'), false),
    candidates: setting(integer('How many of the best candidates it orders.', 2, 50), 20),
    timeout_ms: setting(integer('Milliseconds that it may take; past them recall answers in the order without it, ' +
      'marked degraded.', 1, 600_000), 5000),
    weight: setting(number('Its share in the new score.', 0, 1), 0.8),
  }, 'Reranking by the language model, in the place of `reranker`.'),
  // Long answers beside short remarks want a length from which on it counts, rather than one share of the average
  // (docs/recall-quality.md).
  bm25: sectionOfSettings({
    k1: setting(number('Saturation of term frequency.', 0, 10), 0.9),
    pivot: setting(number('Words, stop words left out, up to which the length of a text has no effect; ' +
      'above it the score falls in proportion.', 1, 100_000), 25),
    b: Type.Optional(number('Replaces the pivot: the length of a text is compared with the average of the bank, ' +
      'from 0 (no effect) to 1 (in proportion). Unset: the pivot is used.', 0, 1)),
  }, 'BM25 parameters.'),
  context: setting(flag('Whether a memory is also found by the words of its neighbours in ' +
    'the document.'), true),
  chunk_max_characters: setting(
    integer('Content over this length is split into passages for search.', 200, 50_000), 2000),
}, 'How recall ranks.')

export type Retrieval = Static<typeof RetrievalSchema>
