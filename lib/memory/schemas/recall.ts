import { Type, type Static } from 'typebox'
import { STRATEGIES } from '../../retrieval/candidates.js'
import { strict, clamped } from './common.js'
import { scope, query, filters, referenceTime } from './filters.js'
import { Hit } from './memory-record.js'

/** Filters of a recall, and the bounds that cut the ranking to the hits. */
export const recallBounds = {
  max_results: Type.Optional(clamped('Hits at most; clamped to 1–1000. Default 10.')),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Tokens of all hits together; the first hit that does not fit ends the list.' })),
  ...filters,
  reference_time: referenceTime,
  min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Hits of a lower score are left out.' })),
}

export const RecallRequest = strict({
  query,
  ...scope,
  ...recallBounds,
  strategies: Type.Optional(Type.Array(Type.Enum([...STRATEGIES]), { minItems: 1, maxItems: 2, description: 'Searches by these alone: `["lexical"]` goes by words and asks no embedding model. Default: those that are switched on (`retrieval.weights`).' })),
  rewrite: Type.Optional(Type.Boolean({ description: 'Searches other wordings of the query as well, which the language model thinks of; 501 unless the server has it switched on (`retrieval.rewrite`). Default false.' })),
  model_rerank: Type.Optional(Type.Boolean({ description: 'Has the language model order the best candidates; 501 unless the server has it switched on (`retrieval.model_rerank`). Default false.' })),
  explain: Type.Optional(Type.Boolean({ description: 'Adds `scores` to each hit, and `trace`. Default false.' })),
}, { examples: [{ bank_id: 'user-alice', query: 'What does Alice drink?', max_results: 5 }] })

export const Trace = strict({
  stages: Type.Array(strict({
    name: Type.String(),
    start_ms: Type.Number({ description: 'When it began, counted from the first stage.' }),
    duration_ms: Type.Number(),
  })),
  strategies: Type.Array(strict({ name: Type.String(), weight: Type.Number(), candidates: Type.Integer({ description: 'Candidates that reached the fusion.' }) })),
})

export const DEGRADATIONS = ['rewrite', 'semantic', 'rerank'] as const
export const Degraded = Type.Array(Type.Enum([...DEGRADATIONS]), { description: 'The stages that were skipped because a model was down or late. Absent when none was.' })

export const RecallAnswer = strict({
  hits: Type.Array(Hit),
  total_available: Type.Integer({ description: 'Memories that were candidates after filters, whatever max_results is.' }),
  truncated: Type.Boolean({ description: 'True when max_tokens ended the list.' }),
  usage: strict({ tokens: Type.Integer({ description: 'Tokens (o200k_base) of the hits given.' }) }),
  degraded: Type.Optional(Degraded),
  trace: Type.Optional(Trace),
})

export type RecallRequest = Static<typeof RecallRequest>
export type Trace = Static<typeof Trace>
export type RecallAnswer = Static<typeof RecallAnswer>
