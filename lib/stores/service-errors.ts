import { ServiceError } from '../errors/service-error.js'
import type { BankConfigStore } from './bank-configs.js'
import { IdempotencyKeyTaken } from './idempotency.js'
import { LowerTrustError, type VectorStore } from './vector-store.js'

/**
 * Asks a store, and throws whatever fault it has as the one error that a client sees. What a store says of a write that
 * it does not make passes as it is.
 */
export async function withServiceErrors<T> (ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof ServiceError || cause instanceof IdempotencyKeyTaken || cause instanceof LowerTrustError) throw cause
    throw new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause })
  }
}

/**
 * A store that has been started, as services are given it: its faults are ServiceErrors. It has the optional methods
 * that the store has. Closing and health stay as they are, because no client is told of them.
 */
export function storeWithServiceErrors (store: VectorStore): VectorStore {
  const { bankConfigs } = store
  const ask = withServiceErrors
  return {
    health: async () => await store.health(),
    close: async () => { await store.close() },
    ...(store.poolStatus !== undefined && { poolStatus: () => store.poolStatus!() }),
    insert: async (...given) => await ask(async () => await store.insert(...given)),
    import: async (...given) => await ask(async () => await store.import(...given)),
    remove: async (...given) => await ask(async () => await store.remove(...given)),
    search: async (...given) => await ask(async () => await store.search(...given)),
    get: async (...given) => await ask(async () => await store.get(...given)),
    list: async (...given) => await ask(async () => await store.list(...given)),
    listBanks: async (...given) => await ask(async () => await store.listBanks(...given)),
    statistics: async (...given) => await ask(async () => await store.statistics(...given)),
    scan: async (...given) => await ask(async () => await store.scan(...given)),
    ...(bankConfigs !== undefined && { bankConfigs: configsWithServiceErrors(bankConfigs) }),
    ...(store.findIdempotencyRecord !== undefined && {
      findIdempotencyRecord: async (...given) => await ask(async () => await store.findIdempotencyRecord!(...given)),
    }),
    ...(store.attachVectors !== undefined && { attachVectors: async (...given) => await ask(async () => await store.attachVectors!(...given)) }),
    ...(store.listUnembedded !== undefined && { listUnembedded: async (...given) => await ask(async () => await store.listUnembedded!(...given)) }),
    ...(store.removeBank !== undefined && { removeBank: async (...given) => await ask(async () => await store.removeBank!(...given)) }),
    ...(store.reserveUsage !== undefined && { reserveUsage: async (...given) => await ask(async () => await store.reserveUsage!(...given)) }),
    ...(store.adjustUsage !== undefined && { adjustUsage: async (...given) => { await ask(async () => { await store.adjustUsage!(...given) }) } }),
  }
}

function configsWithServiceErrors (configs: BankConfigStore): BankConfigStore {
  const ask = withServiceErrors
  return {
    isShared: configs.isShared,
    read: async (...given) => await ask(async () => await configs.read(...given)),
    write: async (...given) => await ask(async () => await configs.write(...given)),
    history: async (...given) => await ask(async () => await configs.history(...given)),
    changedSince: async (...given) => await ask(async () => await configs.changedSince(...given)),
  }
}
