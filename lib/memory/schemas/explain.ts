import { Type, type Static } from 'typebox'
import { BankId, MemoryId, strict, optionalOrUndefined, query } from './common.js'
import { RESULTS } from './ranges.js'
import { Degraded, recallBounds } from './recall.js'

const nullableInteger = (description: string) => Type.Unsafe<number | null>({ type: ['integer', 'null'], description })
const nullableBoolean = (description: string) => Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description })
const nullableNumber = (description: string) => Type.Unsafe<number | null>({ type: ['number', 'null'], description })

export const ExplainRequest = strict({
  query,
  bank_id: BankId,
  expect: Type.String({
    format: 'uuid', description: 'Id of the memory to explain.', examples: ['01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'],
  }),
  ...recallBounds,
}, {
  title: 'ExplainRecallRequest',
  description: 'A search and the memory to explain.',
  examples: [
    { bank_id: 'user-alice', query: 'What does Alice drink?', expect: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f' },
  ],
})

const strategyFields = {
  rank: nullableInteger('Rank from 1 among all memories that the strategy finds for the whole query, not only its ' +
    'candidates. Null when the strategy does not find the memory, or not among the best `beyond`.'),
  score: nullableNumber('From 0 to 1. Null when the strategy has no score for the memory, or its rank is too low for ' +
    'the score to be known.'),
  candidates: Type.Integer({ description: 'Number of candidates that the strategy returned.' }),
  beyond: optionalOrUndefined(Type.Integer({
    description: 'The memory is not among the best N, where N is this number; absent otherwise.',
  })),
}

const FilterStage = strict({
  passed: Type.Boolean(),
  failed: Type.Array(
    Type.Enum([
      'tags', 'document_ids', 'metadata', 'speakers', 'occurred_after', 'occurred_before', 'as_of', 'min_trust',
    ]),
    { description: 'Every filter that the memory does not satisfy.' },
  ),
}, { title: 'ExplainedFilter', description: 'The filters of the request.' })

const LexicalStage = strict({
  state: Type.Enum(
    ['candidate', 'too_low', 'no_match', 'filtered', 'off'],
    {
      description: 'candidate: returned as a candidate. too_low: found, but ranked below the candidates. no_match: ' +
        'neither the memory nor a neighbour contains a word of the query. filtered: excluded by a filter. off: the ' +
        'strategy is switched off.',
    },
  ),
  ...strategyFields,
  own_score: nullableNumber('The score without the words of neighbours.'),
  terms: strict({
    asked: Type.Array(Type.String(), { description: 'The stems of the words of the query, which are searched for.' }),
    in_memory: Type.Array(Type.String(), { description: 'Those that the memory itself contains.' }),
    from_neighbours: nullableBoolean('Whether neighbours add to the score. Null when the score ' +
      'is not known.'),
  }),
}, { title: 'ExplainedLexical', description: 'Search by words.' })

const SemanticStage = strict({
  state: Type.Enum(
    ['candidate', 'too_low', 'no_vector', 'filtered', 'degraded', 'off'],
    {
      description: 'As in `lexical`. no_vector: the memory has no embedding (yet). degraded: the query could not be ' +
        'embedded in time.',
    },
  ),
  ...strategyFields,
}, { title: 'ExplainedSemantic', description: 'Search by meaning.' })

const TimesStage = strict({
  spans: Type.Array(strict({
    from: Type.String({ format: 'date-time' }),
    to: Type.String({ format: 'date-time', description: 'Exclusive.' }),
  }, { title: 'TimeSpan' })),
  searched: Type.Boolean({
    description: 'Whether the memory occurred, or for a query of times alone was retained, in a period that was also ' +
      'searched separately, so that it can be a candidate without a rank in a strategy.',
  }),
}, { title: 'ExplainedTimes', description: 'The times that the query names; absent when it names none.' })

const PartsStage = Type.Array(strict({
  query: Type.String(),
  rank: nullableInteger('Rank from 1 among the candidates of this part. Null when the memory is not among them.'),
}, { title: 'ExplainedPart' }), {
  description: 'The parts that the query was split into, whose rankings are interleaved with that of the whole ' +
    'query; absent when it was not split.',
})

const FusionStage = strict({
  rank: Type.Integer({ description: 'Rank from 1, by the strategies alone.' }),
  score: Type.Number({ description: 'The sum over the strategies, including their weights.' }),
}, {
  title: 'ExplainedFusion',
  description: 'The strategies combined; absent when only a part of the query found the memory.',
})

const ScorersStage = strict({
  rank: Type.Integer({ description: 'Rank from 1, by strategies and scorers.' }),
  score: Type.Number({ description: 'From 0 to 1.' }),
  signals: Type.Record(Type.String(), Type.Number(), {
    description: 'What each scorer added, including its weight (`retrieval.scorers` in the configuration); scorers ' +
      'that added nothing are omitted.',
  }),
}, { title: 'ExplainedScorers', description: 'The scorers, which rank candidates in addition to the strategies.' })

const RerankStage = strict({
  state: Type.Enum(['judged', 'not_judged', 'degraded', 'off'], {
    description: 'not_judged: ranked below the candidates that were sent to the reranker. degraded: the reranker ' +
      'failed or did not answer in time. off: none is configured.',
  }),
  rank: nullableInteger('Rank from 1, by the scores of the reranker alone.'),
  score: nullableNumber('On the scale of the reranker.'),
}, { title: 'ExplainedRerank', description: 'The reranker.' })

const BudgetStage = strict({
  cut_by: Type.Array(
    Type.Enum(['min_score', 'max_results', 'max_tokens']),
    { description: 'Every bound that excludes the memory on its own.' },
  ),
  min_score: Type.Number(),
  max_results: Type.Integer({
    description: `The effective value, after limiting it to ${RESULTS.min}–${RESULTS.max}.`,
  }),
  max_tokens: nullableInteger('The value of the request or the limit of the bank, whichever is lower. Null: no limit.'),
  tokens_needed: Type.Integer({ description: 'Tokens of the memory and of all memories ranked before it.' }),
}, { title: 'ExplainedBudget', description: 'The bounds that cut the ranking to the hits.' })

export const ExplainAnswer = strict({
  memory_id: MemoryId,
  found: Type.Boolean({ description: 'Whether the memory is among the hits.' }),
  verdict: Type.Enum([
    'returned', 'not_in_bank', 'filtered', 'no_strategy_found_it', 'not_a_candidate', 'below_min_score',
    'cut_by_max_results', 'cut_by_max_tokens',
  ], {
    description: 'The first reason why the memory is not among the hits. not_in_bank: the bank has no such memory, ' +
      'or it has expired. no_strategy_found_it: it matches the query neither by words nor by meaning. ' +
      'not_a_candidate: found, but ranked too low to be a candidate.',
  }),
  rank: nullableInteger('Rank from 1 in the final order, whether or not the memory is a hit. Null when it was not ' +
    'a candidate.'),
  score: nullableNumber('The final score, from 0 to 1. Null when the memory was not a candidate.'),
  stages: strict({
    filter: Type.Optional(FilterStage),
    lexical: Type.Optional(LexicalStage),
    semantic: Type.Optional(SemanticStage),
    times: Type.Optional(TimesStage),
    parts: Type.Optional(PartsStage),
    fusion: Type.Optional(FusionStage),
    scorers: Type.Optional(ScorersStage),
    rerank: Type.Optional(RerankStage),
    budget: Type.Optional(BudgetStage),
  }, {
    title: 'ExplainedStages',
    description: 'The stages in order. Those that the memory did not reach are absent; all are absent when it is not ' +
      'in the bank.',
  }),
  degraded: optionalOrUndefined(Degraded),
}, {
  title: 'ExplainRecallAnswer',
  description: 'The stages that one memory passed in a recall.',
  examples: [{
    memory_id: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f',
    found: false,
    verdict: 'not_in_bank',
    rank: null,
    score: null,
    stages: {},
  }],
})

export type ExplainRequest = Static<typeof ExplainRequest>
export type ExplainAnswer = Static<typeof ExplainAnswer>
export type ExplainStages = ExplainAnswer['stages']
