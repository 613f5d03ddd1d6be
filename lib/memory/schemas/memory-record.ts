import { Type, type Static } from 'typebox'
import {
  strict, nullable, nullableInstant, BankId, MemoryId, trust, MetadataSchema, optionalOrUndefined,
} from './common.js'

export const MEMORY = {
  memory_id: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f',
  bank_id: 'user-alice',
  text: 'Alice prefers tea over coffee.',
  tags: ['preference'],
  metadata: { channel: 'chat' },
  occurred_at: null,
  retained_at: '2026-01-05T09:30:00.000Z',
  expires_at: null,
  document_id: null,
  source: null,
  speaker: 'Alice',
  trust: 'trusted',
}
/** The memory in the examples of answers. */
export const HIT = { ...MEMORY, score: 0.82 }

const memoryFields = {
  memory_id: MemoryId,
  bank_id: BankId,
  text: Type.String({ description: 'The whole text of the memory.' }),
  tags: Type.Array(Type.String()),
  metadata: MetadataSchema,
  occurred_at: nullableInstant('When the event that the memory describes happened.'),
  retained_at: Type.String({ format: 'date-time' }),
  expires_at: nullableInstant('When the memory expires.'),
  document_id: nullable(),
  source: nullable(),
  speaker: nullable({
    description: 'Who said it: a name, `user` or `assistant`. Null when nobody is stated.',
  }),
  trust: trust('How far the memory may be believed, decided when it was written: by its writer, and `suspect` when ' +
    'it looks like an instruction to a model or hides text.'),
}

export const MemoryRecord = strict(memoryFields, {
  title: 'Memory', description: 'A memory of a bank.', examples: [MEMORY],
})

const StrategyScore = strict({
  rank: Type.Optional(Type.Integer({
    description: 'Rank from 1 among the candidates of the strategy; absent when the memory was not one of them.',
  })),
  score: Type.Number({ description: 'From 0 to 1.' }),
}, { title: 'StrategyScore', description: 'How a strategy ranks a hit.' })

const Scores = strict({
  lexical: Type.Optional(StrategyScore),
  semantic: Type.Optional(StrategyScore),
  signals: optionalOrUndefined(Type.Record(Type.String(), Type.Number(), {
    description: 'What each scorer added, including its weight (`retrieval.scorers` in the configuration).',
  })),
  contributions: Type.Optional(strict({
    lexical: Type.Optional(Type.Number()),
    semantic: Type.Optional(Type.Number()),
  }, {
    description: 'What each strategy added to `sum`, including its weight. The contribution of `semantic` is ' +
      'relative to that of a typical candidate, so it may be negative.',
  })),
  sum: Type.Optional(Type.Number({
    description: 'The sum of `contributions` and `signals`. The score is 1 / (1 + e^(6.4 - 4 · sum)), unless ' +
      'diversity, a part of the query or a reranker lowered it.',
  })),
  rerank: optionalOrUndefined(strict({
    rank: Type.Integer(), score: Type.Number({ description: 'On the scale of the reranker.' }),
  })),
}, { title: 'HitScores', description: 'Rank and score by strategy, and what the scorers added (`explain`).' })

export const Hit = strict({
  ...memoryFields,
  score: Type.Number({ description: 'From 0 to 1; comparable only within one answer.' }),
  passages: Type.Optional(Type.Array(strict({
    text: Type.String(),
    start: Type.Integer({ description: 'UTF-16 offset of the start of the passage in the text.' }),
    end: Type.Integer({ description: 'UTF-16 offset of the end of the passage, exclusive.' }),
    score: Type.Number(),
  }, { title: 'Passage', description: 'A passage of a memory that matched.' }), {
    description: 'The passages that matched, best first, when the memory was split.',
  })),
  scores: Type.Optional(Scores),
}, { title: 'Hit', description: 'A memory that a query finds.', examples: [HIT] })

export type MemoryRecord = Static<typeof MemoryRecord>
export type Hit = Static<typeof Hit>
