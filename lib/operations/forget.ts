import { Type } from 'typebox'
import type { RequestContext } from '../access/context.js'
import { withoutUndefined } from '../base/members.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import type { RemoveOutcome, Selector } from '../stores/vector-store.js'
import { mayRead, type OpenBank } from './bank-directory.js'
import type { Call, Dependencies } from './dependencies.js'
import { idempotentWrite, type WriteResult } from './idempotency.js'
import { fittingMemories, isCut, MemoryView } from './memory-view.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { readFilters, readRetainedBounds, toRecord } from './records.js'
import {
  FORGET_FILTERS, FORGET_SAMPLE_SIZE, ForgetAnswer, ForgetRequest, MAX_FORGET_IDS, type MemoryRecord, strict,
} from './schemas.js'

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
  run: forgetMemories,
})

/**
 * @throws ServiceError invalid_request unless exactly one selector is given; access_denied; rate_limited;
 * not_supported for a bound on the time of retain with a store without `countMemories`
 */
async function forgetMemories (
  deps: Dependencies, request: ForgetRequest, call: Call,
): Promise<ForgetAnswer> {
  const { context, idempotency, signal } = call
  const { directory, admission, idempotency: keys, store, clock } = deps
  const selector = readSelector(request)
  const { bank_id: bankId, dry_run: dryRun = false } = request
  const bank = await directory.openOne(context, selector.kind === 'all' ? 'admin' : 'forget', bankId)
  const hasRetainedBound = request.retained_after !== undefined || request.retained_before !== undefined
  if (hasRetainedBound && store.countMemories === undefined) {
    throw new ServiceError(
      'not_supported', 'The configured vector store does not support retained_after and retained_before',
    )
  }
  const answer = await keys.runOnce(idempotency, context, bank.key, toAnswer, async (keyed) => {
    await admission.admit('forget', call, [bank])
    const options = {
      now: clock(), dryRun, idLimit: MAX_FORGET_IDS, idempotency: idempotentWrite(keyed, null), signal,
    }
    const outcome = await store.remove(bank.key, selector, options)
    return { context: null, outcome }
  })
  return dryRun ? { ...answer, ...await sampleOf(deps, bank, answer.memory_ids, context) } : answer
}

/** Shows some of the memories that would be removed, if the caller may read them; `forget` does not imply that. */
async function sampleOf (
  deps: Dependencies, bank: OpenBank, memoryIds: readonly string[], context: RequestContext,
): Promise<Pick<ForgetAnswer, 'sample'>> {
  const { store, clock } = deps
  if (!mayRead(deps, context, bank)) return {}
  const { key } = bank
  const sample: MemoryRecord[] = []
  for (const memoryId of memoryIds.slice(0, FORGET_SAMPLE_SIZE)) {
    const memory = await store.get(key, memoryId, clock())
    if (memory !== undefined) sample.push(toRecord(key.bankId, memory))
  }
  return { sample }
}

/** The ids in one order, because each store has its own. */
function toAnswer ({ outcome: { count, memoryIds } }: WriteResult<null, RemoveOutcome>): ForgetAnswer {
  return { deleted_count: count, memory_ids: memoryIds.toSorted() }
}

const FILTER_NAMES = `${FORGET_FILTERS.slice(0, -1).join(', ')} and ${FORGET_FILTERS.at(-1)}`

/** @throws ServiceError invalid_request unless there is exactly one of ids, filters and the whole bank */
function readSelector (request: ForgetRequest): Selector {
  const { memory_ids: ids, scope, tags, tags_match: match, metadata } = request
  const hasFilters = FORGET_FILTERS.some((name) => request[name] !== undefined)
  if ([ids !== undefined, scope !== undefined, hasFilters].filter(Boolean).length !== 1) {
    throw invalidField('', `Exactly one of memory_ids, scope and filters must be given; filters are ${FILTER_NAMES}`)
  }
  if (match !== undefined && tags === undefined) throw invalidField('tags_match', 'needs tags')
  // It would pass every memory.
  if (metadata !== undefined && Object.keys(metadata).length === 0) {
    throw invalidField('metadata', 'must have at least one member')
  }
  if (ids !== undefined) return { kind: 'ids', memoryIds: [...new Set(ids.map((id) => id.toLowerCase()))] }
  if (scope !== undefined) return { kind: 'all' }
  return { kind: 'filters', filters: { ...readFilters(request), ...readRetainedBounds(request) } }
}
