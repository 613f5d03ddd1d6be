import { invalidField, ServiceError } from '../errors/service-error.js'
import { bankKeyString, type RequestContext } from '../identity/context.js'
import { LowerTrustError, MemoryChangedError } from '../stores/vector-store.js'
import { giveWay, isDue } from '../concurrency/event-loop.js'
import { makeBankQueue } from './bank-queue.js'
import type { BankSettings } from './bank-settings.js'
import { planDedup } from './dedup.js'
import type { Dependencies } from './dependencies.js'
import type { OpenBank } from './file-settings.js'
import { idempotentWrite, isCommitted, type KeyedWrite } from './idempotency.js'
import type { RetainOptions } from './operation-options.js'
import { checkItem, prepare, type CheckedItem, type PreparedMemory } from './preparation.js'
import {
  contextOf, isPlanned, planWithoutDedup, retainAnswer, retainBatchAnswer, withoutNearDuplicate, type RetainPlan,
  type RetainResult,
} from './retain-plan.js'
import type { RetainAnswer, RetainBatchAnswer, RetainBatchRequest, RetainItem, RetainRequest } from './schemas.js'

/** Maximum number of writes that wait for others to the same bank. */
const MAX_WAITING = 64
/** Maximum number of plans that replace or keep memories; one is void when these have changed before the write. */
const MAX_REPLACING_PLANS = 3

/** A retain whose caller has access. */
interface Retain {
  bank: OpenBank
  items: readonly RetainItem[]
  /** The item's path in an error. */
  at: (index: number) => string
  context: RequestContext
  keyed: KeyedWrite | undefined
  signal: AbortSignal | undefined
  /** Documents that the items replace. */
  documents: readonly string[]
}

/**
 * Stores memories: checks, admits and prepares the items, compares them with the bank's memories, and writes them.
 */
export class RetainService {
  readonly #deps: Dependencies
  /**
   * Serializes the writes to a bank with deduplication. Otherwise two different items could both replace the same
   * near-duplicate, and one of them would be lost.
   */
  readonly #comparing = makeBankQueue(MAX_WAITING)

  constructor (deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @throws ServiceError invalid_request that names every invalid field; rate_limited, quota_exceeded; server_busy
   */
  async retain (
    { bank_id: bankId, ...item }: RetainRequest, context: RequestContext,
    { idempotency, signal }: RetainOptions = {},
  ): Promise<RetainAnswer> {
    const documents = replacedDocuments([item])
    const bank = await this.#open(context, bankId, documents)
    const { idempotency: keys } = this.#deps
    const answer = await keys.runOnce(idempotency, context, bank.key, retainAnswer, async (keyed) => (
      await this.#retain({ bank, items: [item], at: () => '', context, keyed, signal, documents })
    ))
    return this.#mayRead(context, bank) ? answer : withoutNearDuplicate(answer)
  }

  /** @throws ServiceError as `retain`; invalid_request concerns the first invalid item */
  async retainBatch (
    { bank_id: bankId, items }: RetainBatchRequest, context: RequestContext,
    { idempotency, signal }: RetainOptions = {},
  ): Promise<RetainBatchAnswer> {
    const documents = replacedDocuments(items)
    const bank = await this.#open(context, bankId, documents)
    const { idempotency: keys } = this.#deps
    const answer = await keys.runOnce(idempotency, context, bank.key, retainBatchAnswer, async (keyed) => (
      await this.#retain({ bank, items, at: (index) => `items[${index}].`, context, keyed, signal, documents })
    ))
    return this.#mayRead(context, bank) ? answer : { results: answer.results.map(withoutNearDuplicate) }
  }

  /**
   * Opens the bank for the items.
   * @throws ServiceError access_denied; not_supported for documents that the store cannot replace
   */
  async #open (context: RequestContext, bankId: string, documents: readonly string[]): Promise<OpenBank> {
    const { directory, store } = this.#deps
    const bank = await directory.openOne(context, 'write', bankId)
    if (documents.length === 0) return bank
    await directory.openOne(context, 'forget', bankId)
    if (store.replaceDocuments === undefined) {
      throw new ServiceError('not_supported', 'The configured vector store cannot replace documents')
    }
    return bank
  }

  #mayRead (context: RequestContext, { key, grants }: OpenBank): boolean {
    return this.#deps.access.decide(context, 'read', key.bankId, grants).allowed
  }

  async #retain (retain: Retain): Promise<RetainResult> {
    const { bank, items, context } = retain
    const checked = await this.#check(retain)
    const admitted = await this.#deps.admission.admit('retain', context, [bank], items.length)
    try {
      await this.#admitRemoval(retain)
      const prepared = await this.#prepare(checked, retain)
      const deduplication = this.#deduplicationOf(retain)
      if (deduplication.action === 'off') return await this.#write(planWithoutDedup(prepared), prepared, retain)
      return await this.#comparing.run(
        bankKeyString(bank.key),
        async () => await this.#compareAndWrite(deduplication, prepared, retain),
        retain.signal,
      )
    } catch (error) {
      // What was stored is not known here, so a scan finds the memories that lack their vectors.
      if (isCommitted(error)) this.#deps.indexer.scheduleVectors(bank.key, undefined)
      else admitted.release()
      throw error
    }
  }

  /**
   * Removing the memories of replaced documents counts as a forget in the rate limit. It is admitted after the retain,
   * because it reads the store.
   */
  async #admitRemoval ({ bank, context, documents }: Retain): Promise<void> {
    if (documents.length === 0) return
    const { admission, store, clock } = this.#deps
    const filters = { documentIds: documents }
    const existing = await store.list(bank.key, { limit: 1, now: clock(), filters })
    if (existing.length > 0) await admission.admit('forget', context, [bank])
  }

  /**
   * A write that replaces documents only reports near-duplicates: with `skip` a memory that it is to replace would stay
   * in the place of the new text, and with `update` it would replace a memory of a document that is not replaced.
   */
  #deduplicationOf ({ bank: { settings: { deduplication } }, documents }: Retain): BankSettings['deduplication'] {
    if (documents.length === 0 || deduplication.action === 'off') return deduplication
    return { ...deduplication, action: 'warn' }
  }

  /** Checks the fields only; expensive work waits until the items are admitted. */
  async #check ({ bank, items, at }: Retain): Promise<CheckedItem[]> {
    const checked: CheckedItem[] = []
    for (const [index, item] of items.entries()) {
      if (isDue()) await giveWay()
      const one = checkItem(item, bank, at(index))
      if (one.expiresAt !== null && one.expiresAt <= this.#deps.clock()) {
        throw invalidField(`${at(index)}expires_at`, 'must lie in the future')
      }
      checked.push(one)
    }
    return checked
  }

  async #prepare (checked: readonly CheckedItem[], { context, signal }: Retain): Promise<PreparedMemory[]> {
    const { clock, newId, live } = this.#deps
    const trust = live.current.trust.of(context)
    const identified = checked.map((item) => ({ item, memoryId: newId(), retainedAt: clock(), trust }))
    return await prepare(identified, signal)
  }

  async #compareAndWrite (
    deduplication: BankSettings['deduplication'], prepared: readonly PreparedMemory[], retain: Retain,
  ): Promise<RetainResult> {
    const { bank: { key } } = retain
    const { store, clock } = this.#deps
    const attempt = async (settings: typeof deduplication) => await this.#write(
      await planDedup(prepared, settings, { store, key, now: clock() }), prepared, retain,
    )
    for (let plans = 0; plans < MAX_REPLACING_PLANS; plans++) {
      try {
        return await attempt(deduplication)
      } catch (error) {
        // The plan would replace a memory of higher trust, stored since or missed by the search: nothing is replaced.
        if (error instanceof LowerTrustError) break
        // Another write has replaced or removed a memory that was compared, so what is in the bank now is compared.
        if (!(error instanceof MemoryChangedError)) throw error
      }
    }
    // A plan without comparison keeps nothing: the store itself finds the exact repeats.
    if (retain.documents.length > 0) return await this.#write(planWithoutDedup(prepared), prepared, retain)
    return await attempt({ ...deduplication, action: 'warn' })
  }

  /** Writes the plan, all or nothing. */
  async #write (plan: RetainPlan, prepared: readonly PreparedMemory[], retain: Retain): Promise<RetainResult> {
    const { bank: { key, settings: { maxPassageCharacters } }, keyed, signal, documents } = retain
    const { indexer, store, clock } = this.#deps
    const planned = plan.memories.map(({ memory }) => memory)
    const memories = await indexer.index(planned, maxPassageCharacters, signal)
    signal?.throwIfAborted()
    const context = contextOf(key.bankId, plan, memories, prepared)
    const idempotency = idempotentWrite(keyed, context)
    if (documents.length > 0) {
      const keep = plan.items.flatMap(({ target }) => isPlanned(target) ? [] : [target.memoryId])
      const replacement = { documentIds: documents, keep }
      const outcome = await store.replaceDocuments!(key, replacement, memories, { now: clock(), idempotency, signal })
      indexer.scheduleVectors(key, memories.filter((_, index) => outcome[index]!.stored))
      return { context, outcome }
    }
    if (plan.memories.some(({ replaces }) => replaces !== undefined)) {
      const superseding = memories.map((memory, index) => ({ ...memory, supersedes: plan.memories[index]!.replaces }))
      return await indexer.runReplacement(key, memories, async () => {
        const options = { now: clock(), onConflict: 'supersede', idempotency, signal } as const
        const outcome = await store.import(key, superseding, options)
        indexer.scheduleVectors(key, memories)
        return { context, outcome }
      })
    }
    // With a key the store is called even for no memories, because it keeps the record of the key.
    if (memories.length === 0 && idempotency === undefined) return { context, outcome: [] }
    const outcome = await store.insert(key, memories, { now: clock(), idempotency, signal })
    indexer.scheduleVectors(key, memories.filter((_, index) => outcome[index]!.stored))
    return { context, outcome }
  }
}

/** The documents that the items replace. */
function replacedDocuments (items: readonly RetainItem[]): string[] {
  const ids = items.flatMap((item) => item.replace_document === true ? item.document_id ?? [] : [])
  return [...new Set(ids)]
}
