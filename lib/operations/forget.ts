import { Type } from 'typebox'
import { forget as run } from '../memory/forget-service.js'
import { ForgetAnswer, ForgetRequest, strict } from '../memory/schemas.js'
import { withoutUndefined } from '../validation/members.js'
import { fittingMemories, isCut, MemoryView } from './memory-view.js'
import { LIMIT_ERRORS, operation } from './operation.js'

export const forget = operation({
  name: 'forget',
  tag: 'memory',
  permission: 'forget',
  permissionFor: ({ scope }) => scope === 'all' ? 'admin' : undefined,
  summary: 'Delete memories by id or by filters, or the whole bank',
  description: 'Requires memory_ids, or one or more filters, or `scope: "all"`. A memory is deleted when it ' +
    'passes all filters that are given; one without `occurred_at` passes no bound on it. `scope: "all"` requires ' +
    'the permission `admin`.',
  request: ForgetRequest,
  answer: ForgetAnswer,
  errors: LIMIT_ERRORS,
  idempotent: true,
  tool: {
    title: 'Delete memories',
    description: 'Permanently deletes memories: those of memory_ids, or all that pass every given filter (tags, ' +
      'document_ids, speakers, metadata, times), or the whole bank (scope). Requires exactly one of the three. With ' +
      'dry_run, counts the memories and deletes none; do that first for filters, and ask the user.',
    destructive: true,
    output: strict({
      ...ForgetAnswer.properties,
      sample: Type.Optional(Type.Array(MemoryView, {
        description: 'The first memories, at most ten. Present with dry_run, for a caller that may also read the ' +
          'bank.',
      })),
      truncated: Type.Optional(Type.Boolean({
        description: 'True when `memory_ids` or `sample` is not complete; absent otherwise.',
      })),
    }),
    shape: async (ask, request, budget) => {
      const answer = await ask(request)
      const ids = await budget.takeMany(answer.memory_ids)
      const sample = answer.sample && await fittingMemories(answer.sample, budget)
      const isSampleCut = sample !== undefined && isCut(sample, answer.sample!)
      return withoutUndefined({
        ...answer,
        memory_ids: ids,
        sample,
        truncated: ids.length < answer.deleted_count || isSampleCut ? true : undefined,
      })
    },
  },
  run,
})
