import { withoutMessage } from '../errors/message-of.js'
import { ServiceError } from '../errors/service-error.js'
import { withoutValues, type ProviderConfig } from '../providers/registry.js'
import type { BankConfigStore } from './bank-configs.js'
import { IdempotencyKeyTaken } from './idempotency.js'
import { SqlError } from './sql/executor.js'
import { storeBusyError, storeUnavailableError } from './unavailable.js'
import {
  LowerTrustError, MemoryChangedError, type Candidate, type SearchResult, type VectorStore,
} from './vector-store.js'
import { withoutUndefined } from '../validation/members.js'

const REFUSALS = [ServiceError, IdempotencyKeyTaken, LowerTrustError, MemoryChangedError]

/**
 * Calls a store, and replaces unexpected errors by the one error that a client sees: only that the store is unavailable
 * or busy. The errors by which a store refuses a write belong to its interface and pass unchanged.
 * @param isCustom the store is not one of the gateway's own: the messages of its errors may contain texts of memories
 *   or secrets, so the cause, which is logged, has none; that of an SqlError never contains any
 */
async function withServiceErrors<T> (query: () => Promise<T>, isCustom = false): Promise<T> {
  try {
    return await query()
  } catch (error) {
    if (REFUSALS.some((refusal) => error instanceof refusal)) throw error
    if (error instanceof SqlError && error.kind === 'busy') throw storeBusyError(error)
    const cause = isCustom && !(error instanceof SqlError) ? withoutMessage(error) : error
    throw storeUnavailableError(cause)
  }
}

/**
 * Wraps a started store so that its unexpected errors, and results of searches that cannot be used, become
 * ServiceErrors. Optional methods are present if the store has them. `close` and `health` keep their errors, because no
 * client sees them, but without the message of a custom store's.
 * @param isCustom as in withServiceErrors
 * @param config the settings of a custom store, whose values are removed from what its `health` reports
 */
export function storeWithServiceErrors (
  store: VectorStore, isCustom = false, config: ProviderConfig = {},
): VectorStore {
  const { bankConfigs } = store
  const wrap = wrapperOf(store, isCustom)
  const search = wrap(() => store.search)
  const logged = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      throw isCustom ? withoutMessage(error) : error
    }
  }
  return {
    health: async () => {
      const health = await logged(async () => await store.health())
      return isCustom && typeof health.message === 'string'
        ? { ...health, message: withoutValues(health.message, config) }
        : health
    },
    close: async () => { await logged(async () => { await store.close() }) },
    insert: wrap(() => store.insert),
    import: wrap(() => store.import),
    remove: wrap(() => store.remove),
    search: async (request) => await withServiceErrors(async () => checkedResult(await search(request))),
    get: wrap(() => store.get),
    list: wrap(() => store.list),
    listBanks: wrap(() => store.listBanks),
    statistics: wrap(() => store.statistics),
    scan: wrap(() => store.scan),
    ...withoutUndefined({
      poolStatus: store.poolStatus && (() => store.poolStatus!()),
      bankConfigs: bankConfigs && configsWithServiceErrors(bankConfigs, isCustom),
      replaceDocuments: store.replaceDocuments && wrap(() => store.replaceDocuments!),
      findRepeated: store.findRepeated && wrap(() => store.findRepeated!),
      countMemories: store.countMemories && wrap(() => store.countMemories!),
      neighbours: store.neighbours && wrap(() => store.neighbours!),
      countByDay: store.countByDay && wrap(() => store.countByDay!),
      findIdempotencyRecord: store.findIdempotencyRecord && wrap(() => store.findIdempotencyRecord!),
      attachVectors: store.attachVectors && wrap(() => store.attachVectors!),
      listUnembedded: store.listUnembedded && wrap(() => store.listUnembedded!),
      removeBank: store.removeBank && wrap(() => store.removeBank!),
      reserveUsage: store.reserveUsage && wrap(() => store.reserveUsage!),
      adjustUsage: store.adjustUsage && wrap(() => store.adjustUsage!),
    }),
  }
}

function configsWithServiceErrors (configs: BankConfigStore, isCustom: boolean): BankConfigStore {
  const wrap = wrapperOf(configs, isCustom)
  return {
    isShared: configs.isShared,
    read: wrap(() => configs.read),
    write: wrap(() => configs.write),
    history: wrap(() => configs.history),
    changedSince: wrap(() => configs.changedSince),
  }
}

type Method<Args extends unknown[], T> = (...args: Args) => Promise<T>

/**
 * @returns a function that applies `withServiceErrors` to a method of `owner`. The method is looked up at each call, as
 * it would be without the wrapper.
 */
function wrapperOf (owner: object, isCustom: boolean) {
  return <Args extends unknown[], T>(method: () => Method<Args, T>): Method<Args, T> =>
    async (...args) => await withServiceErrors(async () => await method().apply(owner, args), isCustom)
}

/** The types of a result as a class of the operator's own may have broken them. */
type Unchecked<T> = { [K in keyof T]?: unknown }

/**
 * Checks what later stages compute with, in the result of any store: a wrong number would otherwise surface as a fault
 * of a stage, or put hits into a random order.
 * @throws Error that names the strategy, the memory and the member
 */
function checkedResult (result: SearchResult): SearchResult {
  const { total } = result
  if (!Number.isSafeInteger(total) || total < 0) throw wrong('total', total)
  for (const name of ['lexical', 'semantic'] as const) {
    const candidates: unknown = result[name]
    if (candidates === undefined) continue
    if (!Array.isArray(candidates)) throw wrong(name, candidates)
    for (const candidate of candidates as Candidate[]) checkCandidate(name, candidate)
  }
  return result
}

function checkCandidate (strategy: string, candidate: Candidate): void {
  const { score, scores, passages }: Unchecked<Candidate> = candidate
  if (!Number.isFinite(score)) throw wrongMember(strategy, candidate, 'score', score)
  if (typeof scores !== 'object' || scores === null) throw wrongMember(strategy, candidate, 'scores', scores)
  const { lexical, own, semantic } = scores as Unchecked<Candidate['scores']>
  if (!isScoreOrAbsent(lexical)) throw wrongMember(strategy, candidate, 'scores.lexical', lexical)
  if (!isScoreOrAbsent(own)) throw wrongMember(strategy, candidate, 'scores.own', own)
  if (!isScoreOrAbsent(semantic)) throw wrongMember(strategy, candidate, 'scores.semantic', semantic)
  if (!Array.isArray(passages)) throw wrongMember(strategy, candidate, 'passages', passages)
  for (const passage of passages as Candidate['passages']) {
    if (!Number.isFinite(passage.score)) {
      throw wrongMember(strategy, candidate, 'the score of a passage', passage.score)
    }
  }
}

function isScoreOrAbsent (score: unknown): boolean {
  return score === undefined || Number.isFinite(score)
}

function wrongMember (strategy: string, { memory }: Candidate, member: string, found: unknown): Error {
  return wrong(`${strategy}: ${member} of memory ${memory.memoryId}`, found)
}

/** Quotes numbers only, because the log must not contain texts of memories. */
function wrong (what: string, found: unknown): Error {
  const kind = typeof found === 'number' ? String(found) : found === null ? 'null' : `of type ${typeof found}`
  return new Error(`The vector store returned an unusable search result: ${what} is ${kind}`)
}
