import { Type, type Static } from 'typebox'
import { answeredMembers, answeredSchemas } from '../../stores/memory-fields.js'
import { strict, BankId, optionalOrUndefined } from './common.js'

const { memory_id: exampleId, ...exampleMembers } = answeredMembers(({ example }) => example ?? null)
export { viewedMembers, viewedSchemas } from '../../stores/memory-fields.js'

export const MEMORY = { memory_id: exampleId, bank_id: 'user-alice', ...exampleMembers }
/** The memory in the examples of answers. */
export const HIT = { ...MEMORY, score: 0.82 }

const { memory_id: MemoryId, ...otherSchemas } = answeredSchemas
const memoryFields = { memory_id: MemoryId, bank_id: BankId, ...otherSchemas }

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
