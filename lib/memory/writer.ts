import { invalidField, invalidRequest, type FieldError } from '../errors/service-error.js'
import { callerOf, type RequestContext } from '../identity/context.js'
import { guarded } from '../retrieval/retriever.js'
import { LowerTrustError, type InsertOutcome, type NewMemory, type RemoveOutcome, type Selector } from '../stores/vector-store.js'
import type { Trust } from '../identity/trust.js'
import { turns } from '../concurrency/turn-budget.js'
import { BankQueue } from './bank-queue.js'
import { isSlot, planDedup, planWithoutDedup, type Place, type Plan } from './dedup.js'
import type { Dependencies } from './dependencies.js'
import type { OpenBank } from './file-settings.js'
import type { IdempotencyKey, KeepReceipt } from './idempotency.js'
import { prepare, type PreparedMemory } from './preparation.js'
import type { ForgetAnswer, ForgetRequest, RetainAnswer, RetainBatchAnswer, RetainBatchRequest, RetainItem, RetainRequest } from './schemas.js'

/** Ids that a forget names at most. */
const MAX_IDS = 1000
/** Writes that wait for others of the same bank. */
const MAX_WAITING = 64

/** retain and forget. */
export class Writer {
  readonly #deps: Dependencies
  /**
   * Writes that compare what they are given with what stands, one after the other: two that are like a third, but not like each other,
   * must not both take its place.
   */
  readonly #comparing = new BankQueue(MAX_WAITING)

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @param signal gives up a write that has not begun: it rejects with the signal's reason, and nothing is stored
   * @throws ServiceError invalid_request for the first item that is wrong; rate_limited, quota_exceeded; server_busy
   */
  async retain (
    { bank_id: bankId, ...item }: RetainRequest, context: RequestContext, idempotency?: IdempotencyKey, signal?: AbortSignal,
  ): Promise<RetainAnswer> {
    const bank = await this.#deps.directory.openOne(context, 'write', bankId)
    return await this.#deps.ledger.once(idempotency, context, async (keep) => (
      await this.#store(bank, [item], () => '', { context, signal }, ([answer]) => answer!, keep)
    ))
  }

  async retainBatch (
    { bank_id: bankId, items }: RetainBatchRequest, context: RequestContext, idempotency?: IdempotencyKey, signal?: AbortSignal,
  ): Promise<RetainBatchAnswer> {
    const bank = await this.#deps.directory.openOne(context, 'write', bankId)
    return await this.#deps.ledger.once(idempotency, context, async (keep) => (
      await this.#store(bank, items, (index) => `items[${index}].`, { context, signal }, (results) => ({ results }), keep)
    ))
  }

  async forget (request: ForgetRequest, context: RequestContext, idempotency?: IdempotencyKey, signal?: AbortSignal): Promise<ForgetAnswer> {
    const { directory, admission, ledger, store, clock } = this.#deps
    const selector = readSelector(request)
    const { bank_id: bankId, dry_run: dryRun = false } = request
    const bank = await directory.openOne(context, selector.kind === 'all' ? 'admin' : 'forget', bankId)
    return await ledger.once(idempotency, context, async (keep) => {
      await admission.admit('forget', context, [bank])
      const toAnswer = ({ count, memoryIds }: RemoveOutcome): ForgetAnswer => ({ deleted_count: count, memory_ids: memoryIds })
      return toAnswer(await guarded(() => store.remove(bank.key, selector, { now: clock(), dryRun, idLimit: MAX_IDS, signal }, keep(toAnswer))))
    })
  }

  async #store<T> (
    open: OpenBank,
    items: readonly RetainItem[],
    at: (index: number) => string,
    { context, signal }: { context: RequestContext, signal: AbortSignal | undefined },
    wrap: (answers: RetainAnswer[]) => T,
    keep: KeepReceipt<T>,
  ): Promise<T> {
    const { admission, live, store, clock } = this.#deps
    const { key: bank, settings } = open
    const trust = live.current.trust.of(context)
    const caller = callerOf(context)
    const prepared: PreparedMemory[] = []
    for (const [index, item] of items.entries()) {
      if (turns.isSpent) await turns.next(caller)
      prepared.push(await this.#prepare(open, item, at(index), trust, caller))
    }
    const admitted = await admission.admit('retain', context, [open], items.length)
    const { dedup } = settings.signal_quality
    const write = async (chosen = dedup): Promise<T> => {
      const plan = chosen.action === 'off' ? planWithoutDedup(prepared) : await planDedup(prepared, chosen, { store, key: bank, now: clock() }, caller)
      return await this.#carryOut(plan, open, { caller, signal }, keep, (facts) => wrap(plan.steps.map(({ kind, place, near }, index) => {
        const { memoryId, passageCount, repeats, trust } = facts(place)
        const stored = kind !== 'left' && !repeats
        const { redactions } = prepared[index]!
        return {
          stored,
          memory_id: memoryId,
          chunk_count: passageCount,
          deduplicated: !stored,
          bank_id: bank.bankId,
          ...(kind === 'updated' && stored && { updated: true }),
          ...(near !== undefined && !(kind === 'stored' && repeats) && { near_duplicate: { memory_id: facts(near.place).memoryId, similarity: near.similarity } }),
          ...(redactions.length > 0 && { redactions }),
          ...(trust !== 'trusted' && { trust }),
        }
      })))
    }
    try {
      return dedup.action === 'off' ? await write() : await this.#comparing.inTurn(bank, async () => await this.#unlessOutranked(write, dedup), signal)
    } catch (error) {
      admitted.release()
      throw error
    }
  }

  /** What came to stand since the plan was made, or was not found for it, may be of higher trust: then nothing is replaced. */
  async #unlessOutranked<S extends object, T> (write: (settings: S) => Promise<T>, settings: S): Promise<T> {
    try {
      return await write(settings)
    } catch (error) {
      if (!(error instanceof LowerTrustError)) throw error
      return await write({ ...settings, action: 'warn' })
    }
  }

  /**
   * Stores what the plan says, all or nothing.
   * @param answerBy makes the answer by what a place of the plan has become
   */
  async #carryOut<T> (
    { slots }: Plan, { key: bank, settings }: OpenBank, { caller, signal }: { caller: string, signal: AbortSignal | undefined },
    keep: KeepReceipt<T>, answerBy: (facts: (place: Place) => Facts) => T,
  ): Promise<T> {
    const { indexer, store, clock } = this.#deps
    const memories = await indexer.index(slots.map(({ memory }) => memory), settings.retrieval.chunk_max_characters, caller)
    signal?.throwIfAborted()
    const toAnswer = (outcomes: readonly InsertOutcome[]): T => {
      const bySlot = new Map(slots.map((slot, index) => [slot, factsOf(outcomes[index]!, memories[index]!)]))
      return answerBy((place) => isSlot(place) ? bySlot.get(place)! : { ...place, repeats: false })
    }
    if (slots.some(({ replaces }) => replaces)) {
      const outcomes = memories.map(({ memoryId }): InsertOutcome => ({ stored: true, memoryId }))
      return await indexer.replacing(bank, memories, async () => {
        await guarded(() => store.import(bank, memories, 'supersede', clock(), keep(() => toAnswer(outcomes)), undefined, signal))
        indexer.stored(bank, memories)
        return toAnswer(outcomes)
      })
    }
    if (slots.length === 0) {
      // There is nothing to store but the receipt, which a store keeps with its work: this is work that does nothing.
      const receipt = keep(() => toAnswer([]))
      if (receipt !== undefined) await guarded(() => store.remove(bank, { kind: 'ids', memoryIds: [] }, { now: clock(), dryRun: true, idLimit: 0 }, receipt))
      return toAnswer([])
    }
    const outcomes = await guarded(() => store.insert(bank, memories, clock(), keep(toAnswer), signal))
    indexer.stored(bank, memories.filter((_, index) => outcomes[index]!.stored))
    return toAnswer(outcomes)
  }

  async #prepare ({ settings }: OpenBank, item: RetainItem, at: string, trust: Trust, caller: string): Promise<PreparedMemory> {
    const { clock, newId } = this.#deps
    const now = clock()
    const prepared = await prepare(item, { memoryId: newId(), retainedAt: now, trust }, settings, at, caller)
    const { expiresAt } = prepared.memory
    if (expiresAt !== null && expiresAt <= now) throw invalidField(`${at}expires_at`, 'must lie in the future')
    return prepared
  }
}

/** What a place of a plan has become. */
interface Facts {
  memoryId: string
  passageCount: number
  /** Whether the store knew it already. */
  repeats: boolean
  trust: Trust
}

function factsOf (outcome: InsertOutcome, { passages, trust }: NewMemory): Facts {
  const { passageCount, trust: stands } = outcome.stored ? { passageCount: passages.length, trust } : outcome
  return { memoryId: outcome.memoryId, passageCount, repeats: !outcome.stored, trust: stands }
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
