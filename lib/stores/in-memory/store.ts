import { bankKeyString, flowOf, withoutCaller, type BankKey } from '../../identity/context.js'
import { sumTokens } from '../../text/tokens.js'
import { chargedToRunningCaller, NO_CALLER, turns as sharedTurns } from '../../concurrency/turn-budget.js'
import { compileFilters } from '../filters.js'
import { runInTurns, type Steps, type Turns } from '../../concurrency/steps.js'
import type {
  BankStatistics, BankSummary, DayCounts, DayRange, DocumentReplacement, ImportOptions, ImportOutcome, InsertOutcome,
  LateVectors, ListBanksRequest, ListFilters, ListRequest, Memory, Neighbourhood, NeighboursRequest, NewMemory,
  RemoveOptions, RemoveOutcome, RemovedBank, StoredMemory, SearchRequest, SearchResult, Selector, StoreHealth,
  Unembedded, VectorStore, WriteOptions,
} from '../vector-store.js'
import type { Bank } from './bank.js'
import { InMemoryBankConfigs } from './bank-configs.js'
import { Directory } from './directory.js'
import {
  collectAll, collectStatistics, collectUnembedded, countDays, countUpTo, listPage, neighbourhood, noStatistics,
  readUnchanged, repeatedMemory, summarise,
} from './reads.js'
import { Capacity } from './capacity.js'
import { SearchCollector } from './search.js'
import { statisticsQueue } from './statistics-queue.js'
import { VectorArena } from './vector-arena.js'
import { InMemoryWriter } from './writer.js'
import { planImportInto, planInsert, planRemoval, planReplacement } from './writes.js'
import { isUnexpired, type Accept } from './entry.js'

/** Attempts of a read in steps before it excludes writes to the bank, because the bank has changed during each. */
const ATTEMPTS = 3

interface InMemoryVectorStoreOptions {
  /** Maximum estimated bytes of memories and of the configuration of banks. Default: two fifths of the heap limit. */
  maximumBytes?: number | undefined
  /** Distributes the event loop among callers. */
  turns?: Turns
  /** Maximum number of postings of a write that is done synchronously. */
  maxSyncPostings?: number
}

/**
 * Banks in process memory, which end with the process. Exact: BM25 over an inverted index, vectors by full scan.
 * Whatever may take more than a millisecond or two is done in steps, between which other work has its turn; small work
 * is done synchronously.
 */
export class InMemoryVectorStore implements VectorStore {
  readonly bankConfigs: InMemoryBankConfigs
  readonly #options: { capacity: Capacity, arena: VectorArena, turns: Turns, maxSyncPostings: number | undefined }
  /** Not for writes: those of a bank are queued, and each begins in the turn of the previous one. */
  readonly #readTurns: Turns
  readonly #runStatistics = statisticsQueue()
  #directory: Directory
  #writer: InMemoryWriter

  constructor ({ maximumBytes, turns, maxSyncPostings }: InMemoryVectorStoreOptions = {}) {
    const capacity = new Capacity(maximumBytes)
    this.#options = { capacity, arena: new VectorArena(), turns: turns ?? sharedTurns, maxSyncPostings }
    this.#readTurns = turns ?? chargedToRunningCaller(sharedTurns)
    this.bankConfigs = new InMemoryBankConfigs(capacity)
    this.#directory = new Directory(capacity)
    this.#writer = new InMemoryWriter({ ...this.#options, directory: this.#directory })
  }

  /** Estimated bytes of memories and configurations, including reservations of writes in progress. */
  get usedBytes (): number {
    return this.#options.capacity.usedBytes
  }

  async health (): Promise<StoreHealth> {
    return { healthy: true }
  }

  async insert (
    key: BankKey, memories: readonly NewMemory[], { now, signal }: WriteOptions,
  ): Promise<InsertOutcome[]> {
    const options = { now, items: () => memories.length, signal }
    return await this.#writer.write(key, (bank) => planInsert(bank, memories), options)
  }

  async replaceDocuments (
    key: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], { now, signal }: WriteOptions,
  ): Promise<InsertOutcome[]> {
    const items = ({ sequences }: Bank) => (
      replacement.documentIds.reduce((sum, id) => sum + sequences.sizeOf(id), memories.length)
    )
    const plan = (bank: Bank) => planReplacement(bank, replacement, memories)
    return await this.#writer.write(key, plan, { now, items, signal })
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    const accept = compileFilters(request.filters)
    const gathered = new SearchCollector(request)
    for (const key of request.banks) {
      if (this.#options.turns.isExhausted) await this.#options.turns.next(bankKeyString(key))
      await this.#read(key, request.now, accept, (bank, accept) => gathered.search(bank, accept), undefined)
    }
    return gathered.result()
  }

  async attachVectors (key: BankKey, late: readonly LateVectors[], now: number): Promise<number> {
    let attached = 0
    for (const { memoryId, fingerprint, vectors } of late) {
      if (this.#options.turns.isExhausted) await this.#options.turns.next(bankKeyString(key))
      await this.#writer.runWhenIdle(key, now, () => {
        const bank = this.#directory.get(bankKeyString(key))
        const entry = bank?.entries.byId(memoryId)
        if (bank === undefined || entry?.fingerprint !== fingerprint) return
        if (entry.passages.length !== vectors.length || entry.isEmbedded) return
        const bytes = vectors.reduce((sum, { byteLength }) => sum + byteLength, 0)
        this.#options.capacity.reserve(bytes)
        try {
          bank.attach(entry, vectors)
        } finally {
          this.#options.capacity.adjust(-bytes)
        }
        this.#directory.note(bank)
        attached++
      })
    }
    return attached
  }

  async listUnembedded (request: Parameters<VectorStore['listUnembedded'] & {}>[0]): Promise<Unembedded[]> {
    return await collectUnembedded(this.#directory, request, this.#options.turns, async (key, read) => (
      await this.#read(key, request.now, undefined, read, [])
    ))
  }

  async get (key: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    const memory = this.#existing(key, now)?.entries.byId(memoryId)?.memory
    return memory !== undefined && isUnexpired(memory, now) ? memory : undefined
  }

  async findRepeated (key: BankKey, fingerprint: string, now: number): Promise<StoredMemory | undefined> {
    return repeatedMemory(this.#existing(key, now)?.entries.byFingerprint(fingerprint), now)
  }

  async list (key: BankKey, request: ListRequest): Promise<Memory[]> {
    const filters = compileFilters(request.filters)
    return await this.#read(key, request.now, filters, (bank, accept) => listPage(bank, request, accept), [])
  }

  async countMemories (
    key: BankKey, { now, filters, limit }: { now: number, filters: ListFilters, limit: number },
  ): Promise<number> {
    return await this.#read(key, now, compileFilters(filters), (bank, accept) => countUpTo(bank, limit, accept), 0)
  }

  async neighbours (key: BankKey, memoryId: string, request: NeighboursRequest): Promise<Neighbourhood | undefined> {
    const read = (bank: Bank, accept: Accept) => neighbourhood(bank, memoryId, request, accept)
    return await this.#read(key, request.now, undefined, read, undefined)
  }

  async remove (key: BankKey, selector: Selector, options: RemoveOptions): Promise<RemoveOutcome> {
    if (options.dryRun) {
      return await this.#read(key, options.now, undefined, function * (bank, accept) {
        return (yield * planRemoval(bank, selector, options, accept)).outcome
      }, { count: 0, memoryIds: [] })
    }
    return await this.#writer.write(key, (bank) => planRemoval(bank, selector, options), {
      now: options.now,
      items: (bank) => selector.kind === 'ids' ? selector.memoryIds.length : bank.size,
      signal: options.signal,
    })
  }

  async listBanks ({ limit, now, caller = NO_CALLER, ...query }: ListBanksRequest): Promise<BankSummary[]> {
    const summaries: BankSummary[] = []
    for (const key of this.#directory.keys(query)) {
      if (summaries.length >= limit) break
      if (this.#options.turns.isExhausted) await this.#options.turns.next(caller)
      if (query.bankId !== undefined && key.bankId !== query.bankId) continue
      const summary = await this.#read(key, now, undefined, summarise, undefined)
      if (summary !== undefined && summary.memoryCount > 0) summaries.push(summary)
    }
    return summaries
  }

  async statistics (key: BankKey, now: number): Promise<BankStatistics> {
    const none = { statistics: noStatistics(withoutCaller(key)), counts: [] }
    const read = async () => await this.#read(key, now, undefined, collectStatistics, none)
    const { statistics, counts } = await this.#runStatistics(this.#existing(key, now)?.size ?? 0, flowOf(key), read)
    // The other statistics are of one moment; only the counting of tokens continues after it.
    return { ...statistics, tokens: await sumTokens(counts) }
  }

  async countByDay (key: BankKey, range: DayRange): Promise<DayCounts> {
    const none = { before: 0, byDay: new Map<number, number>() }
    return await this.#read(key, range.now, undefined, (bank, accept) => countDays(bank, range, accept), none)
  }

  async scan (key: BankKey, now: number): Promise<{ count: number, memories: AsyncIterable<Memory> }> {
    const memories = await this.#read(key, now, undefined, collectAll, [])
    return { count: memories.length, memories: (async function * () { yield * memories })() }
  }

  async import (
    key: BankKey, memories: readonly NewMemory[], { now, onConflict, config, signal }: ImportOptions,
  ): Promise<ImportOutcome> {
    const releaseReserved = config === undefined ? undefined : this.bankConfigs.reserve(config)
    try {
      const committed = () => { if (config !== undefined) this.bankConfigs.set(key, config) }
      const options = { now, items: () => memories.length, signal, committed }
      return await this.#writer.write(key, (bank) => planImportInto(bank, memories, onConflict), options)
    } finally {
      releaseReserved?.()
    }
  }

  async removeBank (key: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank> {
    return await this.#writer.runWhenIdle(key, now, () => {
      const bank = this.#directory.get(bankKeyString(key))
      const memoryCount = bank?.size ?? 0
      if (bank !== undefined) this.#directory.drop(bank)
      return { memoryCount, configRemoved: this.bankConfigs.remove(key, now) }
    }, signal)
  }

  async close (): Promise<void> {
    this.#writer.close()
    this.#directory.close()
    this.#directory = new Directory(this.#options.capacity)
    this.#writer = new InMemoryWriter({ ...this.#options, directory: this.#directory })
    this.bankConfigs.clear()
  }

  #existing (key: BankKey, now: number): Bank | undefined {
    this.#writer.expireSync(key, now)
    return this.#directory.get(bankKeyString(key))
  }

  /**
   * Reads one consistent state of a bank. The read restarts when the bank changes between two steps.
   * @param accept passed on to `read`, combined with a condition on expiry while expired memories are still being
   * removed
   */
  async #read<T> (
    key: BankKey, now: number, accept: Accept, read: (bank: Bank, accept: Accept) => Steps<T>, none: T,
  ): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const bank = this.#existing(key, now)
      if (bank === undefined) return none
      const found = await readUnchanged(bank, read(bank, bank.entries.withoutExpired(accept, now)), this.#readTurns)
      if (found !== undefined) return found.value
    }
    return await this.#writer.runExclusively(key, now, async () => {
      const bank = this.#directory.get(bankKeyString(key))
      return bank === undefined ? none : await runInTurns(read(bank, accept), bank.id, this.#readTurns)
    })
  }
}
