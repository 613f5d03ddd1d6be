import { ServiceError } from '../errors/service-error.js'
import type { BankConfigStore } from './bank-configs.js'
import { IdempotencyKeyTaken } from './idempotency.js'
import { LowerTrustError, MemoryChangedError, RemovalRefusedError, type VectorStore } from './vector-store.js'
import { checkedResult } from './search-results.js'
import { withoutUndefined } from '../validation/members.js'

const REFUSALS = [ServiceError, IdempotencyKeyTaken, LowerTrustError, MemoryChangedError, RemovalRefusedError]

/**
 * Calls a store, and replaces unexpected errors by the one error that a client sees. The errors by which a store
 * refuses a write belong to its interface and pass unchanged.
 */
export async function withServiceErrors<T> (query: () => Promise<T>): Promise<T> {
  try {
    return await query()
  } catch (cause) {
    if (REFUSALS.some((refusal) => cause instanceof refusal)) throw cause
    throw new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause })
  }
}

/**
 * Wraps a started store so that its unexpected errors, and results of searches that cannot be used, become
 * ServiceErrors. Optional methods are present if the store has them. `close` and `health` keep their errors, because no
 * client sees them.
 */
export function storeWithServiceErrors (store: VectorStore): VectorStore {
  const { bankConfigs } = store
  const wrap = wrapperOf(store)
  return {
    health: async () => await store.health(),
    close: async () => { await store.close() },
    insert: wrap(() => store.insert),
    import: wrap(() => store.import),
    remove: wrap(() => store.remove),
    search: wrap(() => async (request) => checkedResult(await store.search(request))),
    get: wrap(() => store.get),
    list: wrap(() => store.list),
    listBanks: wrap(() => store.listBanks),
    statistics: wrap(() => store.statistics),
    scan: wrap(() => store.scan),
    ...withoutUndefined({
      poolStatus: store.poolStatus && (() => store.poolStatus!()),
      bankConfigs: bankConfigs && configsWithServiceErrors(bankConfigs),
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

function configsWithServiceErrors (configs: BankConfigStore): BankConfigStore {
  const wrap = wrapperOf(configs)
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
function wrapperOf (owner: object) {
  return <Args extends unknown[], T>(method: () => Method<Args, T>): Method<Args, T> =>
    async (...args) => await withServiceErrors(async () => await method().apply(owner, args))
}
