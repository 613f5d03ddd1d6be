import { invalidField, invalidRequest, type FieldError } from '../errors.js'
import type { RequestContext } from '../identity/context.js'
import { makePassages } from '../retrieval/passages.js'
import { guarded } from '../retrieval/retriever.js'
import type { InsertOutcome, NewMemory, RemoveOutcome, Selector } from '../stores/vector-store.js'
import { bankOf, type Dependencies } from './dependencies.js'
import type { IdempotencyKey, KeepReceipt } from './idempotency.js'
import { prepare, type PreparedMemory } from './preparation.js'
import type { ForgetAnswer, ForgetRequest, RetainAnswer, RetainBatchAnswer, RetainBatchRequest, RetainItem, RetainRequest } from './schemas.js'

/** Ids that a forget names at most. */
const MAX_IDS = 1000

/** retain and forget. */
export class Writer {
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  async retain ({ bank_id: bankId, ...item }: RetainRequest, context: RequestContext, idempotency?: IdempotencyKey): Promise<RetainAnswer> {
    this.#deps.access.require(context, 'write', bankId)
    return await this.#deps.ledger.once(idempotency, context, bankId, async (keep) => (
      await this.#store(bankId, [item], () => '', context, ([answer]) => answer!, keep)
    ))
  }

  async retainBatch ({ bank_id: bankId, items }: RetainBatchRequest, context: RequestContext, idempotency?: IdempotencyKey): Promise<RetainBatchAnswer> {
    this.#deps.access.require(context, 'write', bankId)
    return await this.#deps.ledger.once(idempotency, context, bankId, async (keep) => (
      await this.#store(bankId, items, (index) => `items[${index}].`, context, (results) => ({ results }), keep)
    ))
  }

  async forget (request: ForgetRequest, context: RequestContext, idempotency?: IdempotencyKey): Promise<ForgetAnswer> {
    const { access, admission, ledger, store, clock } = this.#deps
    const selector = readSelector(request)
    const { bank_id: bankId, dry_run: dryRun = false } = request
    access.require(context, selector.kind === 'all' ? 'admin' : 'forget', bankId)
    return await ledger.once(idempotency, context, bankId, async (keep) => {
      const bank = bankOf(context, bankId)
      admission.admit('forget', context, [bank])
      const toAnswer = ({ count, memoryIds }: RemoveOutcome): ForgetAnswer => ({ deleted_count: count, memory_ids: memoryIds })
      return toAnswer(await guarded(() => store.remove(bank, selector, { now: clock(), dryRun, idLimit: MAX_IDS }, keep(toAnswer))))
    })
  }

  async #store<T> (
    bankId: string,
    items: readonly RetainItem[],
    at: (index: number) => string,
    context: RequestContext,
    wrap: (answers: RetainAnswer[]) => T,
    keep: KeepReceipt<T>,
  ): Promise<T> {
    const { admission, store, indexing, clock } = this.#deps
    const bank = bankOf(context, bankId)
    const prepared = items.map((item, index) => this.#prepare(bankId, item, at(index)))
    const admitted = admission.admit('retain', context, [bank], items.length)
    try {
      const passages = await makePassages(prepared.map(({ memory }) => memory.text), indexing)
      const memories = prepared.map(({ memory, fingerprint }, index): NewMemory => ({ ...memory, fingerprint, passages: passages[index]! }))
      const toAnswer = (outcomes: InsertOutcome[]): T => wrap(outcomes.map((outcome, index) => ({
        stored: outcome.stored,
        memory_id: outcome.memoryId,
        chunk_count: outcome.stored ? passages[index]!.length : outcome.passageCount,
        deduplicated: !outcome.stored,
        bank_id: bankId,
        ...(prepared[index]!.redactions.length > 0 && { redactions: prepared[index]!.redactions }),
      })))
      return toAnswer(await guarded(() => store.insert(bank, memories, clock(), keep(toAnswer))))
    } catch (error) {
      admitted.release()
      throw error
    }
  }

  #prepare (bankId: string, item: RetainItem, at: string): PreparedMemory {
    const { settings, clock, newId } = this.#deps
    const now = clock()
    const prepared = prepare(item, { memoryId: newId(), retainedAt: now }, settings.of(bankId), at)
    const { expiresAt } = prepared.memory
    if (expiresAt !== null && expiresAt <= now) throw invalidField(`${at}expires_at`, 'must lie in the future')
    return prepared
  }
}

/** @throws ServiceError invalid_request unless exactly one way of selecting is given */
function readSelector (request: ForgetRequest): Selector {
  const given = [request.memory_ids, request.tags, request.scope].filter((value) => value !== undefined)
  if (given.length !== 1) throw invalidRequest([{ field: '', message: 'Exactly one of memory_ids, tags and scope must be given' } satisfies FieldError])
  if (request.tags_match !== undefined && request.tags === undefined) throw invalidField('tags_match', 'needs tags')
  if (request.memory_ids !== undefined) return { kind: 'ids', memoryIds: [...new Set(request.memory_ids.map((id) => id.toLowerCase()))] }
  if (request.tags !== undefined) return { kind: 'tags', tags: request.tags, match: request.tags_match ?? 'any' }
  return { kind: 'all' }
}
