import type { RowBudget } from '../concurrency/byte-budget.js'
import { invalidField } from '../errors/service-error.js'
import { callerOf, type RequestContext } from '../identity/context.js'
import { LowerTrustError, type NewMemory } from '../stores/vector-store.js'
import { turns } from '../concurrency/turn-budget.js'
import { BankQueue } from './bank-queue.js'
import type { BankSettings } from './bank-settings.js'
import { isPlanned, planDedup, planWithoutDedup } from './dedup.js'
import type { Dependencies } from './dependencies.js'
import type { OpenBank } from './file-settings.js'
import { idempotentWrite, type IdempotencyKey, type KeyedWrite } from './idempotency.js'
import { checkItem, type CheckedItem } from './item-check.js'
import { prepare, type PreparedMemory } from './preparation.js'
import {
  retainAnswer, retainBatchAnswer, type RetainContext, type RetainedItem, type RetainResult, type Target,
} from './retain-answer.js'
import type { ItemTarget, RetainPlan } from './retain-plan.js'
import type { RetainAnswer, RetainBatchAnswer, RetainBatchRequest, RetainItem, RetainRequest } from './schemas.js'

/** The most writes that wait for others of the same bank. */
const MAX_WAITING = 64

/** A retain whose caller has access. */
interface Retain {
  open: OpenBank
  items: readonly RetainItem[]
  /** The item's path in an error. */
  at: (index: number) => string
  context: RequestContext
  caller: string
  keyed: KeyedWrite | undefined
  signal: AbortSignal | undefined
  /** Of what deduplication compares with. */
  budget: RowBudget | undefined
}

/**
 * Stores memories: checks, admits and prepares the items, compares them with the bank's memories, and writes them.
 */
export class RetainService {
  readonly #deps: Dependencies
  /**
   * Serialises the writes to a bank with deduplication. Otherwise two different items could both replace the same
   * near-duplicate, and one of them would be lost.
   */
  readonly #comparing = new BankQueue(MAX_WAITING)

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @param signal cancels a write that has not begun: it rejects with the signal's reason, and nothing is stored
   * @throws ServiceError invalid_request that names every wrong field; rate_limited, quota_exceeded; server_busy
   */
  async retain (
    { bank_id: bankId, ...item }: RetainRequest, context: RequestContext, idempotency?: IdempotencyKey, signal?: AbortSignal, budget?: RowBudget,
  ): Promise<RetainAnswer> {
    const open = await this.#deps.directory.openOne(context, 'write', bankId)
    return await this.#deps.idempotency.once(idempotency, context, retainAnswer, async (keyed) => (
      await this.#retain({ open, items: [item], at: () => '', context, caller: callerOf(context), keyed, signal, budget })
    ))
  }

  /** @throws ServiceError as `retain`; invalid_request is about the first item that is wrong */
  async retainBatch (
    { bank_id: bankId, items }: RetainBatchRequest, context: RequestContext, idempotency?: IdempotencyKey, signal?: AbortSignal, budget?: RowBudget,
  ): Promise<RetainBatchAnswer> {
    const open = await this.#deps.directory.openOne(context, 'write', bankId)
    return await this.#deps.idempotency.once(idempotency, context, retainBatchAnswer, async (keyed) => (
      await this.#retain({ open, items, at: (index) => `items[${index}].`, context, caller: callerOf(context), keyed, signal, budget })
    ))
  }

  async #retain (retain: Retain): Promise<RetainResult> {
    const { open, items, context } = retain
    const checked = await this.#check(retain)
    const admitted = await this.#deps.admission.admit('retain', context, [open], items.length)
    try {
      const prepared = await this.#prepare(checked, retain)
      const { deduplication } = open.settings
      if (deduplication.action === 'off') return await this.#write(planWithoutDedup(prepared), prepared, retain)
      return await this.#comparing.inTurn(
        open.key, async () => await this.#compareAndWrite(deduplication, prepared, retain), retain.signal)
    } catch (error) {
      admitted.release()
      throw error
    }
  }

  /** Checks the fields only; expensive work waits until the items are admitted. */
  async #check ({ open: { settings }, items, at, caller }: Retain): Promise<CheckedItem[]> {
    const checked: CheckedItem[] = []
    for (const [index, item] of items.entries()) {
      if (turns.isSpent) await turns.next(caller)
      const one = checkItem(item, settings.contentChecks, at(index))
      if (one.expiresAt !== null && one.expiresAt <= this.#deps.clock()) throw invalidField(`${at(index)}expires_at`, 'must lie in the future')
      checked.push(one)
    }
    return checked
  }

  async #prepare (checked: readonly CheckedItem[], { context, caller }: Retain): Promise<PreparedMemory[]> {
    const { clock, newId, live } = this.#deps
    const trust = live.current.trust.of(context)
    const prepared: PreparedMemory[] = []
    for (const item of checked) {
      if (turns.isSpent) await turns.next(caller)
      prepared.push(await prepare(item, { memoryId: newId(), retainedAt: clock(), trust }, caller))
    }
    return prepared
  }

  async #compareAndWrite (
    deduplication: BankSettings['deduplication'], prepared: readonly PreparedMemory[], retain: Retain,
  ): Promise<RetainResult> {
    const { open: { key }, caller, budget } = retain
    const { store, clock } = this.#deps
    const attempt = async (settings: typeof deduplication) => (
      await this.#write(await planDedup(prepared, settings, { store, key, now: clock(), budget }, caller), prepared, retain)
    )
    try {
      return await attempt(deduplication)
    } catch (error) {
      if (!(error instanceof LowerTrustError)) throw error
      // The plan would replace a memory of higher trust, stored since or missed by the search. So nothing is replaced.
      return await attempt({ ...deduplication, action: 'warn' })
    }
  }

  /** Writes the plan, all or nothing. */
  async #write (plan: RetainPlan, prepared: readonly PreparedMemory[], { open, caller, keyed, signal }: Retain): Promise<RetainResult> {
    const { key: bank, settings: { maxPassageCharacters } } = open
    const { indexer, store, clock } = this.#deps
    const memories = await indexer.index(plan.memories.map(({ memory }) => memory), maxPassageCharacters, caller)
    signal?.throwIfAborted()
    const context = contextOf(bank.bankId, plan, memories, prepared)
    const idempotency = idempotentWrite(keyed, context)
    if (plan.memories.some(({ replaces }) => replaces)) {
      return await indexer.replacing(bank, memories, async () => {
        const outcome = await store.import(bank, memories, 'supersede', clock(), idempotency, undefined, signal)
        indexer.stored(bank, memories)
        return { context, outcome }
      })
    }
    // With a key the store is called even for no memories, because it keeps the record of the key.
    if (memories.length === 0 && idempotency === undefined) return { context, outcome: [] }
    const outcome = await store.insert(bank, memories, clock(), idempotency, signal)
    indexer.stored(bank, memories.filter((_, index) => outcome[index]!.stored))
    return { context, outcome }
  }
}

function contextOf (bankId: string, plan: RetainPlan, memories: readonly NewMemory[], prepared: readonly PreparedMemory[]): RetainContext {
  return {
    bankId,
    memories: memories.map(({ memoryId, passages, trust }) => ({ memoryId, passageCount: passages.length, trust })),
    items: plan.items.map(({ kind, target, near }, index): RetainedItem => ({
      kind,
      target: targetOf(target),
      ...(near !== undefined && { near: { target: targetOf(near.target), similarity: near.similarity } }),
      redactions: prepared[index]!.redactions,
    })),
  }
}

function targetOf (target: ItemTarget): Target {
  return isPlanned(target) ? target.index : target
}
