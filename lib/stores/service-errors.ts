import { withoutUndefined } from '../base/members.js'
import { withoutMessage } from '../base/message-of.js'
import { ServiceError } from '../base/service-error.js'
import { withoutValues, type ProviderConfig } from '../config/providers/registry.js'
import type { BankConfigStore } from './bank-configs.js'
import type { ProposalStore } from './proposals.js'
import { SqlError } from './sql/executor.js'
import {
  IdempotencyKeyTaken, LowerTrustError, MemoryChangedError, PlaceTakenError, UnknownMemoriesError, type Candidate,
  type SearchResult, type VectorStore,
} from './vector-store.js'

const RETRY_AFTER_SECONDS = 1

/** The error for a store that works but has no capacity now, so that a client may try again. */
function storeBusyError (cause: unknown): ServiceError {
  return new ServiceError('dependency_unavailable', 'The vector store is busy', {
    retryAfterSeconds: RETRY_AFTER_SECONDS, cause,
  })
}

/** The error for a store that has failed. A client learns nothing else: the cause is for the log. */
export function storeUnavailableError (cause: unknown): ServiceError {
  return new ServiceError('dependency_unavailable', 'The vector store is unavailable', { cause })
}

const REFUSALS = [
  ServiceError, IdempotencyKeyTaken, LowerTrustError, MemoryChangedError, PlaceTakenError, UnknownMemoriesError,
]

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
 * ServiceErrors. Methods that the store lacks stay absent. `close` and `health` keep their errors, because no client
 * sees them, but without the message of a custom store's.
 * @param isCustom as in withServiceErrors
 * @param config the settings of a custom store, whose values are removed from what its `health` reports
 */
export function storeWithServiceErrors (
  store: VectorStore, isCustom = false, config: ProviderConfig = {},
): VectorStore {
  const logged = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      throw isCustom ? withoutMessage(error) : error
    }
  }
  const { bankConfigs, proposals, poolStatus } = store
  return guarded<VectorStore>(store, isCustom, {
    health: async () => {
      const health = await logged(async () => await store.health())
      return isCustom && typeof health.message === 'string'
        ? { ...health, message: withoutValues(health.message, config) }
        : health
    },
    close: async () => { await logged(async () => { await store.close() }) },
    search: async (request) => {
      const result = await withServiceErrors(async () => await store.search(request), isCustom)
      return await withServiceErrors(async () => checkedResult(result))
    },
    ...withoutUndefined({
      poolStatus: poolStatus && (() => store.poolStatus!()),
      proposals: proposals && guarded<ProposalStore>(proposals, isCustom),
      bankConfigs: bankConfigs && guarded<BankConfigStore>(bankConfigs, isCustom),
    }),
  })
}

/** The object with `own` in place of its members, and with `withServiceErrors` around each other method. */
function guarded<T extends object> (owner: T, isCustom: boolean, own: Partial<T> = {}): T {
  // The target has no members of its own, because a proxy may not change those of a frozen object.
  const target: T = Object.create(owner)
  return new Proxy(target, {
    has: (_, name) => Reflect.get(owner, name) !== undefined,
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name)
      const member: unknown = Reflect.get(owner, name)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]) => (
        await withServiceErrors(async (): Promise<unknown> => await Reflect.apply(member, owner, args), isCustom)
      )
    },
  })
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
