import { Type, type Static } from 'typebox'
import { strict, nullable, nullableInstant, BankId, MemoryId, trust, MetadataSchema } from './common.js'

const memoryFields = {
  memory_id: MemoryId,
  bank_id: BankId,
  text: Type.String({ description: 'The whole memory.' }),
  tags: Type.Array(Type.String()),
  metadata: MetadataSchema,
  occurred_at: nullableInstant('When what the memory tells happened.'),
  retained_at: Type.String({ format: 'date-time' }),
  expires_at: nullableInstant('When the memory ceases to exist.'),
  document_id: nullable(),
  source: nullable(),
  trust: trust('How far the memory may be believed, decided when it was written: by who wrote it, and `suspect` when it looks like an instruction to a model or hides text.'),
}

export const MemoryRecord = strict(memoryFields)

const StrategyScore = strict({
  rank: Type.Optional(Type.Integer({ description: 'From 1, among the candidates of the strategy; absent when it was none of them.' })),
  score: Type.Number({ description: 'Within 0–1.' }),
})

const Scores = strict({
  lexical: Type.Optional(StrategyScore),
  semantic: Type.Optional(StrategyScore),
  signals: Type.Optional(Type.Record(Type.String(), Type.Number(), { description: 'What each scorer added, weight included (`retrieval.scorers` in the configuration).' })),
  contributions: Type.Optional(strict({
    lexical: Type.Optional(Type.Number()),
    semantic: Type.Optional(Type.Number()),
  }, { description: 'What each strategy added to `sum`, weight included. That of `semantic` is counted from what a usual candidate has, so it may be negative.' })),
  sum: Type.Optional(Type.Number({ description: '`contributions` and `signals` together. The score is 1 / (1 + e^(6.4 - 4 · sum)), unless diversity, a part of the query or a reranker lowered it.' })),
  rerank: Type.Optional(strict({ rank: Type.Integer(), score: Type.Number({ description: 'On the scale of the reranker.' }) })),
}, { description: 'Rank and score per strategy and what the scorers added (`explain`).' })

export const Hit = strict({
  ...memoryFields,
  score: Type.Number({ description: 'Within 0–1; comparable within one answer.' }),
  passages: Type.Optional(Type.Array(strict({
    text: Type.String(),
    start: Type.Integer({ description: 'UTF-16 offset into the text.' }),
    end: Type.Integer({ description: 'UTF-16 offset behind the passage.' }),
    score: Type.Number(),
  }), { description: 'What matched, best first, when the memory was split.' })),
  scores: Type.Optional(Scores),
})

export type MemoryRecord = Static<typeof MemoryRecord>
export type Hit = Static<typeof Hit>
