import { bankKeyString, type RequestContext } from '../access/context.js'
import { giveWay, isDue } from '../base/event-loop.js'
import { withoutUndefined } from '../base/members.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import type { BankSettings } from '../config/schema.js'
import {
  type ImportOutcome, type InsertOutcome, LowerTrustError, MemoryChangedError, type NewMemory, type StoredMemory,
} from '../stores/vector-store.js'
import { mayRead, type OpenBank } from './bank-directory.js'
import {
  isPlanned, type ItemDecision, type ItemTarget, planDedup, planWithoutDedup, type RetainPlan,
} from './dedup.js'
import type { Call, Dependencies } from './dependencies.js'
import { scheduleExtraction } from './extraction.js'
import { idempotentWrite, isCommitted, type KeyedWrite, type WriteResult } from './idempotency.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { type CheckedItem, checkItem, prepare, type PreparedMemory } from './preparation.js'
import { writeProposed } from './proposals.js'
import { refusalOf } from './refusals.js'
import {
  MAX_BATCH_ITEMS, RetainAnswer, RetainBatchAnswer, RetainBatchRequest, type RetainItem, RetainRequest,
} from './schemas.js'

const errors = [...LIMIT_ERRORS, 'model_output_invalid', 'server_busy', 'higher_trust', 'not_supported'] as const

export const retain = operation({
  name: 'retain',
  tag: 'memory',
  permission: 'write',
  summary: 'Store one memory',
  description: 'Stores one memory with one id. An exact repeat stores nothing and returns the id of the existing ' +
    'memory, unless the repeat has a more trusted writer and therefore replaces that memory. The answer contains ' +
    '`trust` when the trust of the memory is below `trusted`.',
  request: RetainRequest,
  answer: RetainAnswer,
  errors,
  idempotent: true,
  tool: {
    title: 'Store a memory',
    description: 'Stores one fact, preference, decision or event for later conversations. Write a complete sentence ' +
      'that can be understood without this conversation. An exact repeat is not stored again.',
    omit: ['replace_document'],
  },
  run: retainMemory,
})

export const retainBatch = operation({
  name: 'retainBatch',
  tag: 'memory',
  permission: 'write',
  summary: `Store up to ${MAX_BATCH_ITEMS} memories, all or none`,
  request: RetainBatchRequest,
  answer: RetainBatchAnswer,
  errors,
  idempotent: true,
  run: retainMemories,
})

/** Maximum number of plans that replace or keep memories; one is void when these have changed before the write. */
const MAX_REPLACING_PLANS = 3

/** The index in `memories` of a memory that is written, or a memory that was in the bank before. */
type Target = number | StoredMemory

/** The decision about an item before the write. */
interface RetainedItem {
  kind: ItemDecision['kind']
  /** The memory that holds the item's content. */
  target: Target
  /** Absent when the item is new or an exact repeat. */
  near?: { target: Target, similarity: number } | undefined
  redactions: readonly string[]
}

/**
 * The data that the answer of a retain needs in addition to the outcome of the write. Idempotency records keep it
 * across releases: properties may be added, but not changed.
 */
interface RetainContext {
  bankId: string
  /** The written memories in order; the outcome shows of which the store already had an exact repeat. */
  memories: readonly StoredMemory[]
  items: readonly RetainedItem[]
}

/** An insert reports an outcome for each memory. An import that replaces stores all of them or fails. */
type RetainOutcome = InsertOutcome[] | ImportOutcome

type RetainResult = WriteResult<RetainContext, RetainOutcome>

type Deduplication = BankSettings['signal_quality']['dedup']

/** A retain whose caller has access. */
interface Retain {
  bank: OpenBank
  items: readonly RetainItem[]
  /** The item's path in an error. */
  at: (index: number) => string
  call: Call
  keyed: KeyedWrite | undefined
  /** Documents that the items replace. */
  documents: readonly string[]
}

/**
 * @throws ServiceError invalid_request that names every invalid field; rate_limited, quota_exceeded; server_busy
 */
async function retainMemory (
  deps: Dependencies, { bank_id: bankId, ...item }: RetainRequest, call: Call,
): Promise<RetainAnswer> {
  const { context, idempotency } = call
  const documents = replacedDocuments([item])
  const bank = await openForRetain(deps, context, bankId, documents)
  const answer = await deps.idempotency.runOnce(idempotency, context, bank.key, retainAnswer, async (keyed) => (
    await retainItems(deps, { bank, items: [item], at: () => '', call, keyed, documents })
  ))
  return mayRead(deps, context, bank) ? answer : withoutNearDuplicate(answer)
}

/** @throws ServiceError as `retain`; invalid_request concerns the first invalid item */
async function retainMemories (
  deps: Dependencies, { bank_id: bankId, items }: RetainBatchRequest, call: Call,
): Promise<RetainBatchAnswer> {
  const { context, idempotency } = call
  const documents = replacedDocuments(items)
  const bank = await openForRetain(deps, context, bankId, documents)
  const answer = await deps.idempotency.runOnce(idempotency, context, bank.key, retainBatchAnswer, async (keyed) => (
    await retainItems(deps, { bank, items, at: (index) => `items[${index}].`, call, keyed, documents })
  ))
  return mayRead(deps, context, bank) ? answer : { results: answer.results.map(withoutNearDuplicate) }
}

/**
 * Opens the bank for the items.
 * @throws ServiceError access_denied; not_supported for documents that the store cannot replace
 */
async function openForRetain (
  deps: Dependencies, context: RequestContext, bankId: string, documents: readonly string[],
): Promise<OpenBank> {
  const { directory, store } = deps
  const bank = await directory.openOne(context, 'write', bankId)
  if (documents.length === 0) return bank
  await directory.openOne(context, 'forget', bankId)
  if (store.replaceDocuments === undefined) {
    throw new ServiceError('not_supported', 'The configured vector store cannot replace documents')
  }
  return bank
}

async function retainItems (deps: Dependencies, retain: Retain): Promise<RetainResult> {
  const { bank, items, call } = retain
  const checked = await checkItems(deps, retain)
  const admitted = await deps.admission.admit('retain', call, [bank], items.length)
  try {
    await admitRemoval(deps, retain)
    const deduplication = deduplicationOf(retain)
    return await writeProposed(deps, bank, await prepareItems(deps, checked, retain), async (prepared) => (
      deduplication.action === 'off'
        ? await writePlan(deps, planWithoutDedup(prepared), prepared, retain)
        : await deps.queues.retains.run(
          bankKeyString(bank.key),
          async () => await compareAndWrite(deps, deduplication, prepared, retain),
          call.signal,
        )
    ))
  } catch (error) {
    // What was stored is not known here, so a scan finds the memories that lack their vectors.
    if (isCommitted(error)) deps.indexer.scheduleVectors(bank.key, undefined)
    else admitted.release()
    throw refusalOf(error)
  }
}

/**
 * Removing the memories of replaced documents counts as a forget in the rate limit. It is admitted after the retain,
 * because it reads the store.
 */
async function admitRemoval (deps: Dependencies, { bank, call, documents }: Retain): Promise<void> {
  if (documents.length === 0) return
  const { admission, store, clock } = deps
  const filters = { documentIds: documents }
  const existing = await store.list(bank.key, { limit: 1, now: clock(), filters, current: true })
  if (existing.length > 0) await admission.admit('forget', call, [bank])
}

/**
 * A write that replaces documents only reports near-duplicates: with `skip` a memory that it is to replace would stay
 * in the place of the new text, and with `update` it would replace a memory of a document that is not replaced.
 */
function deduplicationOf ({ bank: { settings }, documents }: Retain): Deduplication {
  const { dedup: deduplication } = settings.signal_quality
  if (documents.length === 0 || deduplication.action === 'off') return deduplication
  return { ...deduplication, action: 'warn' }
}

/** Checks the fields only; expensive work waits until the items are admitted. */
async function checkItems (deps: Dependencies, { bank, items, at }: Retain): Promise<CheckedItem[]> {
  const { store } = deps
  const checked: CheckedItem[] = []
  for (const [index, item] of items.entries()) {
    if (isDue()) await giveWay()
    const one = checkItem(item, bank, at(index))
    if (store.revise === undefined && (one.key !== null || one.supersedes.length > 0)) {
      throw new ServiceError('not_supported', 'The configured vector store cannot supersede memories')
    }
    if (one.expiresAt !== null && one.expiresAt <= deps.clock()) {
      throw invalidField(`${at(index)}expires_at`, 'must lie in the future')
    }
    checked.push(one)
  }
  return checked
}

async function prepareItems (
  deps: Dependencies, checked: readonly CheckedItem[], { call: { context, signal } }: Retain,
): Promise<PreparedMemory[]> {
  const { clock, newId, live } = deps
  const trust = live.current.trust.of(context)
  const changedBy = context.principal ?? null
  const identified = checked.map((item) => ({ item, memoryId: newId(), retainedAt: clock(), trust, changedBy }))
  return await prepare(identified, signal)
}

async function compareAndWrite (
  deps: Dependencies, deduplication: Deduplication, prepared: readonly PreparedMemory[], retain: Retain,
): Promise<RetainResult> {
  const { bank: { key } } = retain
  const { store, clock } = deps
  const attempt = async (settings: typeof deduplication) => await writePlan(
    deps, await planDedup(prepared, settings, { store, key, now: clock() }), prepared, retain,
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
  if (retain.documents.length > 0) return await writePlan(deps, planWithoutDedup(prepared), prepared, retain)
  return await attempt({ ...deduplication, action: 'warn' })
}

/** Writes the plan, all or nothing. */
async function writePlan (
  deps: Dependencies, plan: RetainPlan, prepared: readonly PreparedMemory[], retain: Retain,
): Promise<RetainResult> {
  return await scheduleExtraction(deps, retain.bank.settings, async (extract) => (
    await storePlan(deps, plan, prepared, retain, extract)
  ))
}

/** @param extract whether facts are to be derived from what is stored */
async function storePlan (
  deps: Dependencies, plan: RetainPlan, prepared: readonly PreparedMemory[], retain: Retain, extract: boolean,
): Promise<RetainResult> {
  const { bank: { key, settings }, keyed, call: { signal }, documents } = retain
  const { indexer, store, clock } = deps
  const planned = plan.memories.map(({ memory }) => memory)
  const memories = await indexer.index(planned, settings.retrieval.chunk_max_characters, signal)
  signal?.throwIfAborted()
  const context = contextOf(key.bankId, plan, memories, prepared)
  const idempotency = idempotentWrite(keyed, context)
  if (documents.length > 0) {
    const keep = plan.items.flatMap(({ target }) => isPlanned(target) ? [] : [target.memoryId])
    const replacement = { documentIds: documents, keep }
    const options = { now: clock(), idempotency, signal, extract }
    const outcome = await store.replaceDocuments!(key, replacement, memories, options)
    indexer.scheduleVectors(key, memories.filter((_, index) => outcome[index]!.stored))
    return { context, outcome }
  }
  if (plan.memories.some(({ replaces }) => replaces !== undefined)) {
    const superseding = memories.map((memory, index) => ({ ...memory, revises: plan.memories[index]!.replaces }))
    return await indexer.runReplacement(key, memories, async () => {
      const options = { now: clock(), onConflict: 'revise', idempotency, signal, extract } as const
      const outcome = await store.import(key, superseding, options)
      indexer.scheduleVectors(key, memories)
      return { context, outcome }
    })
  }
  // With a key the store is called even for no memories, because it keeps the record of the key.
  if (memories.length === 0 && idempotency === undefined) return { context, outcome: [] }
  const outcome = await store.insert(key, memories, { now: clock(), idempotency, signal, extract })
  indexer.scheduleVectors(key, memories.filter((_, index) => outcome[index]!.stored))
  return { context, outcome }
}

/** The documents that the items replace. */
function replacedDocuments (items: readonly RetainItem[]): string[] {
  const ids = items.flatMap((item) => item.replace_document === true ? item.document_id ?? [] : [])
  return [...new Set(ids)]
}

function contextOf (
  bankId: string, plan: RetainPlan, memories: readonly NewMemory[], prepared: readonly PreparedMemory[],
): RetainContext {
  return {
    bankId,
    memories: memories.map(({ memoryId, passages, trust }) => ({ memoryId, passageCount: passages.length, trust })),
    items: plan.items.map(({ kind, target, near }, index): RetainedItem => ({
      kind,
      target: targetOf(target),
      near: near && { target: targetOf(near.target), similarity: near.similarity },
      redactions: prepared[index]!.redactions,
    })),
  }
}

function targetOf (target: ItemTarget): Target {
  return isPlanned(target) ? target.index : target
}

/** @param result of one item */
function retainAnswer (result: RetainResult): RetainAnswer {
  return retainBatchAnswer(result).results[0]!
}

function retainBatchAnswer ({ context: { bankId, memories, items }, outcome }: RetainResult): RetainBatchAnswer {
  const inserted = Array.isArray(outcome) ? outcome : []
  const repeatOf = (target: Target) => {
    const found = typeof target === 'number' ? inserted[target] : undefined
    return found?.stored === false ? found : undefined
  }
  const supersededBy = (target: Target) => {
    const found = typeof target === 'number' ? inserted[target] : undefined
    return found?.stored === true && found.superseded !== undefined ? [...found.superseded] : undefined
  }
  const memoryOf = (target: Target) => repeatOf(target) ?? (typeof target === 'number' ? memories[target]! : target)
  return {
    results: items.map(({ kind, target, near, redactions }): RetainAnswer => {
      const { memoryId, passageCount, trust } = memoryOf(target)
      const isRepeat = repeatOf(target) !== undefined
      const stored = kind !== 'skipped' && !isRepeat
      return {
        stored,
        memory_id: memoryId,
        chunk_count: passageCount,
        deduplicated: !stored,
        bank_id: bankId,
        ...withoutUndefined({
          updated: kind === 'updated' && stored ? true : undefined,
          near_duplicate: near === undefined || (kind === 'stored' && isRepeat)
            ? undefined
            : { memory_id: memoryOf(near.target).memoryId, similarity: near.similarity },
          redactions: redactions.length > 0 ? [...redactions] : undefined,
          superseded: supersededBy(target),
          trust: trust === 'trusted' ? undefined : trust,
        }),
      }
    }),
  }
}

/**
 * The answer for a caller who may not read the bank: how similar a text is to a memory tells what that memory says. It
 * is made for each request, so that a repeat by idempotency key has the near-duplicate only while its caller may read.
 */
function withoutNearDuplicate ({ near_duplicate: _, ...answer }: RetainAnswer): RetainAnswer {
  return answer
}
