import { Type } from 'typebox'
import { reflect as run } from '../memory/reflect-service.js'
import { ReflectAnswer, reflectConclusion, ReflectRequest, strict } from '../memory/schemas.js'
import { withoutUndefined } from '../validation/members.js'
import { fittingMemories, isCut, MemoryView } from './memory-view.js'
import { LIMIT_ERRORS, operation } from './operation.js'

export const reflect = operation({
  name: 'reflect',
  tag: 'memory',
  permission: 'read',
  summary: 'Answer a question from memories',
  description: 'The answer cites its sources as [1], [2], in the order of `sources`. Without evidence, the service ' +
    'abstains and calls no model.',
  request: ReflectRequest,
  answer: ReflectAnswer,
  errors: [
    ...LIMIT_ERRORS, 'answer_too_large', 'too_many_streams', 'model_output_invalid', 'overloaded',
    'deadline_exceeded', 'not_supported',
  ],
  tool: {
    title: 'Answer from memories',
    description: 'Answers a question from memories and returns the sources that the answer cites as [1], [2]. ' +
      'Abstains when the memories do not answer the question. Requires exactly one of bank_id and banks.',
    omit: ['response_schema', 'timeout_ms'],
    output: strict({
      answer: reflectConclusion.answer,
      abstained: reflectConclusion.abstained,
      unverified: reflectConclusion.unverified,
      truncated: Type.Optional(Type.Boolean({
        description: 'True when max_tokens or the limit on answers cut the answer; absent otherwise.',
      })),
      degraded: Type.Optional(Type.Array(Type.String(), { description: 'What was not available for the answer.' })),
      sources: Type.Array(MemoryView, {
        description: 'What the answer cites, in the order of the citation numbers; the rest of the evidence follows ' +
          'with `include_sources: "all"`.',
      }),
      sources_truncated: Type.Optional(Type.Boolean({
        description: 'True when the limit on answers cut the sources; absent otherwise.',
      })),
    }),
    shape: async (ask, { max_tokens: wanted, ...request }, budget) => {
      const given = await ask({ ...request, max_tokens: Math.min(wanted ?? budget.remaining, budget.remaining) })
      const { abstained, unverified, truncated, degraded, sources } = given
      const cut = await budget.cut(given.answer)
      const evidence = await fittingMemories(sources, budget)
      return withoutUndefined({
        answer: cut ?? given.answer,
        abstained,
        unverified,
        truncated: truncated === true || cut !== undefined ? true : undefined,
        degraded,
        sources: evidence,
        sources_truncated: isCut(evidence, sources) ? true : undefined,
      })
    },
  },
  run,
})
