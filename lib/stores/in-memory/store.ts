import { giveWay, isDue } from '../../concurrency/event-loop.js'
import { bankKeyString, type BankKey } from '../../identity/context.js'
import { compareText } from '../../text/normal-form.js'
import { compileFilters } from '../filters.js'
import type {
  BankStatistics, BankSummary, DayCounts, DayRange, DocumentReplacement, ImportOptions, ImportOutcome, InsertOutcome,
  LateVectors, ListBanksRequest, ListFilters, ListRequest, Memory, Neighbourhood, NeighboursRequest, NewMemory,
  RemovedBank, RemoveOptions, RemoveOutcome, Scan, SearchRequest, SearchResult, Selector, StoredMemory, StoreHealth,
  Unembedded, VectorStore, WriteOptions,
} from '../vector-store.js'
import { Bank, Capacity, Entry, neededBytes } from './bank.js'
import { configBytes, InMemoryBankConfigs } from './bank-configs.js'
import {
  collectStatistics, countDays, countUpTo, listPage, neighbourhood, noStatistics, summarise, unembeddedPage,
} from './reads.js'
import { searchBanks } from './search.js'
import { placeIn, SortedList } from './sorted-list.js'
import { planImportInto, planInsertInto, planReplacementIn, select, type WritePlan } from './writes.js'

/** Expired memories that are removed before the event loop may be given back. */
const EXPIRED_AT_ONCE = 500

/**
 * Banks in process memory, which end with the process. Exact: BM25 over an inverted index, vectors by full scan.
 *
 * A write checks everything and is then made synchronously, so that nobody sees a part of it. A reader that gives the
 * event loop back reads a snapshot. Every call first removes what has expired from its bank.
 */
export class InMemoryVectorStore implements VectorStore {
  readonly bankConfigs: InMemoryBankConfigs
  readonly #capacity: Capacity
  /** Those with memories. */
  readonly #banks = new Map<string, Bank>()
  #ordered = new SortedList<Bank>((a, b) => compareKeys(a.key, b.key))

  /**
   * @param maximumBytes maximum estimated bytes of memories and of the configuration of banks. Default: two fifths of
   * the heap limit
   */
  constructor ({ maximumBytes }: { maximumBytes?: number | undefined } = {}) {
    this.#capacity = new Capacity(maximumBytes)
    this.bankConfigs = new InMemoryBankConfigs(this.#capacity)
  }

  /** Estimated bytes of memories and configurations. */
  get usedBytes (): number {
    return this.#capacity.usedBytes
  }

  async health (): Promise<StoreHealth> {
    return { healthy: true }
  }

  async insert (
    key: BankKey, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]> {
    return await this.#write(key, options, (bank) => planInsertInto(bank, memories))
  }

  async replaceDocuments (
    key: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]> {
    return await this.#write(key, options, (bank) => planReplacementIn(bank, replacement, memories))
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    return await searchBanks(request, async (key) => await this.#bank(key, request.now))
  }

  async attachVectors (key: BankKey, late: readonly LateVectors[], now: number): Promise<number> {
    let attached = 0
    for (const vectors of late) {
      if (isDue()) await giveWay()
      await this.#bank(key, now)
      const bank = this.#banks.get(bankKeyString(key))
      if (bank === undefined) break
      const before = bank.bytes
      if (!bank.attach(vectors, (bytes) => { this.#capacity.check(bytes) })) continue
      this.#capacity.usedBytes += bank.bytes - before
      attached++
    }
    return attached
  }

  async listUnembedded (
    { now, limit, after }: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]> {
    const found: Unembedded[] = []
    const banks = this.#ordered.items
    const start = placeIn(banks, ({ key }) => after !== undefined && compareKeys(key, after) < 0)
    for (const { key } of banks.slice(start)) {
      if (found.length >= limit) break
      if (isDue()) await giveWay()
      const bank = await this.#bank(key, now)
      const last = after !== undefined && compareKeys(key, after) === 0 ? after.memoryId : undefined
      if (bank !== undefined) found.push(...unembeddedPage(bank, limit - found.length, last))
    }
    return found
  }

  async get (key: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    return (await this.#bank(key, now))?.byId.get(memoryId)?.memory
  }

  async findRepeated (key: BankKey, fingerprint: string, now: number): Promise<StoredMemory | undefined> {
    const found = (await this.#bank(key, now))?.byFingerprint.get(fingerprint)
    if (found === undefined) return undefined
    const { memory: { memoryId, trust }, passages } = found
    return { memoryId, passageCount: passages.length, trust }
  }

  async list (key: BankKey, request: ListRequest): Promise<Memory[]> {
    const bank = await this.#bank(key, request.now)
    return bank === undefined ? [] : await listPage(bank, request, compileFilters(request.filters))
  }

  async countMemories (
    key: BankKey, { now, filters, limit }: { now: number, filters: ListFilters, limit: number },
  ): Promise<number> {
    const bank = await this.#bank(key, now)
    return bank === undefined ? 0 : await countUpTo(bank, limit, compileFilters(filters))
  }

  async neighbours (key: BankKey, memoryId: string, request: NeighboursRequest): Promise<Neighbourhood | undefined> {
    const bank = await this.#bank(key, request.now)
    return bank === undefined ? undefined : neighbourhood(bank, memoryId, request)
  }

  async remove (
    key: BankKey, selector: Selector, { now, dryRun, idLimit, signal }: RemoveOptions,
  ): Promise<RemoveOutcome> {
    const bank = await this.#bank(key, now)
    const selected = bank === undefined ? [] : await select(bank, selector)
    const plan = (removed: readonly Entry[]) => ({
      added: [],
      removed,
      outcome: {
        count: removed.length, memoryIds: removed.slice(0, idLimit).map(({ memory }) => memory.memoryId),
      },
    })
    if (dryRun) return plan(selected).outcome
    // Others may have removed some of them since they were selected.
    return await this.#write(key, { now, signal }, ({ byId }) => plan(
      selected.filter((entry) => byId.get(entry.memory.memoryId) === entry),
    ))
  }

  async listBanks ({ limit, now, ...query }: ListBanksRequest): Promise<BankSummary[]> {
    const summaries: BankSummary[] = []
    for (const key of this.#keys(query)) {
      if (summaries.length >= limit) break
      if (isDue()) await giveWay()
      const bank = await this.#bank(key, now)
      if (bank !== undefined) summaries.push(summarise(bank))
    }
    return summaries
  }

  async statistics (key: BankKey, now: number): Promise<BankStatistics> {
    const bank = await this.#bank(key, now)
    return bank === undefined ? noStatistics(key) : await collectStatistics(bank)
  }

  async countByDay (key: BankKey, range: DayRange): Promise<DayCounts> {
    const bank = await this.#bank(key, range.now)
    return bank === undefined ? { before: 0, byDay: new Map() } : await countDays(bank, range)
  }

  async scan (key: BankKey, now: number, signal?: AbortSignal): Promise<Scan> {
    const entries = (await this.#bank(key, now))?.ordered.snapshot() ?? []
    signal?.throwIfAborted()
    return {
      count: entries.length,
      memories: (async function * () { for (const { memory } of entries) yield memory })(),
    }
  }

  async import (
    key: BankKey, memories: readonly NewMemory[], { onConflict, config, ...options }: ImportOptions,
  ): Promise<ImportOutcome> {
    return await this.#write(
      key, options, (bank) => planImportInto(bank, memories, onConflict), config && {
        bytes: configBytes(config), apply: () => { this.bankConfigs.set(key, config) },
      },
    )
  }

  async removeBank (key: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank> {
    await this.#bank(key, now)
    signal?.throwIfAborted()
    const bank = this.#banks.get(bankKeyString(key))
    const memoryCount = bank?.size ?? 0
    if (bank !== undefined) this.#drop(bank, bank.bytes)
    return { memoryCount, configRemoved: this.bankConfigs.remove(key, now) }
  }

  async close (): Promise<void> {
    for (const bank of this.#ordered.items) this.#capacity.usedBytes -= bank.bytes
    this.#banks.clear()
    this.#ordered = new SortedList<Bank>((a, b) => compareKeys(a.key, b.key))
    this.bankConfigs.clear()
  }

  /** The keys of banks in order; with a tenant and a bank id that key, whether or not it exists. */
  #keys ({ tenantId, bankId, after }: Pick<ListBanksRequest, 'tenantId' | 'bankId' | 'after'>): BankKey[] {
    if (tenantId !== undefined && bankId !== undefined) {
      const key = { tenantId, bankId }
      return after === undefined || compareKeys(key, after) > 0 ? [key] : []
    }
    const banks = this.#ordered.items
    const start = after === undefined ? 0 : placeIn(banks, ({ key }) => compareKeys(key, after) <= 0)
    return banks.slice(start)
      .map(({ key }) => key)
      .filter((key) => (
        (tenantId === undefined || key.tenantId === tenantId) && (bankId === undefined || key.bankId === bankId)
      ))
  }

  /** The bank without what has expired; undefined when it has no memories. */
  async #bank (key: BankKey, now: number): Promise<Bank | undefined> {
    const id = bankKeyString(key)
    for (;;) {
      const bank = this.#banks.get(id)
      const items = bank?.expiring.items ?? []
      if (bank === undefined || items.length === 0 || items[0]!.memory.expiresAt! > now) return bank
      const count = placeIn(items, ({ memory }) => memory.expiresAt! <= now)
      this.#apply(bank, [], [], items.slice(0, Math.min(count, EXPIRED_AT_ONCE)))
      if (isDue()) await giveWay()
    }
  }

  /** @param besides is done with the write; its bytes have to fit too */
  async #write<T> (
    key: BankKey, { now, signal }: WriteOptions, plan: (bank: Bank) => WritePlan<T>,
    besides?: { bytes: number, apply: () => void },
  ): Promise<T> {
    await this.#bank(key, now)
    signal?.throwIfAborted()
    // Nothing is awaited from here on. Another write may have created the bank or removed it.
    const bank = this.#banks.get(bankKeyString(key)) ?? new Bank(key)
    const { added, removed, outcome } = plan(bank)
    const entries = added.map((memory) => new Entry(memory))
    bank.checkDimensions(entries.flatMap(({ passages }) => passages.flatMap(({ vector }) => vector ?? [])))
    const bytes = neededBytes(added) + (besides?.bytes ?? 0)
    if (bytes > 0) this.#capacity.check(bytes)
    this.#apply(bank, entries, added, removed)
    besides?.apply()
    return outcome
  }

  #apply (
    bank: Bank, entries: readonly Entry[], added: readonly NewMemory[], removed: readonly Entry[],
  ): void {
    const before = bank.bytes
    if (removed.length === bank.size && added.length === 0) {
      if (bank.size > 0) this.#drop(bank, before)
      return
    }
    if (bank.size === 0) {
      this.#banks.set(bank.id, bank)
      this.#ordered.add(bank)
    }
    bank.apply(entries, added, removed)
    this.#capacity.usedBytes += bank.bytes - before
  }

  #drop (bank: Bank, bytes: number): void {
    this.#banks.delete(bank.id)
    this.#ordered.remove([bank])
    this.#capacity.usedBytes -= bytes
  }
}

function compareKeys (a: BankKey, b: BankKey): number {
  return compareTenants(a.tenantId, b.tenantId) || compareText(a.bankId, b.bankId)
}

/** No tenant comes first. */
function compareTenants (a: string | null, b: string | null): number {
  if (a === b) return 0
  return a === null ? -1 : b === null ? 1 : compareText(a, b)
}
