import { setImmediate as nextTurn } from 'node:timers/promises'
import { bankKeyString, type BankKey } from '../../access/context.js'
import { giveWay, isDue } from '../../base/event-loop.js'
import { compareText } from '../../text/normal-form.js'
import type { ExtractionJob, HeldExtractions } from '../extraction-queue.js'
import { compileFilters } from '../filters.js'
import { NOTHING_SAID } from '../memory-fields.js'
import { TokenCount } from '../../text/tokens.js'
import {
  type BankStatistics, type BankSummary, byMemoryId, type ChangedMemory, type ConversationSummary, type DayCounts,
  type DayRange, type DocumentReplacement, type ImportOptions, type ImportOutcome, type InsertOptions,
  type InsertOutcome, type LateVectors, type ListBanksRequest, type ListConversationsRequest, type ListFilters,
  type ListRequest, type Memory, MemoryChangedError, memoryOf, type Neighbourhood, type NeighboursRequest,
  type NewMemory, type Part, partsOf, type RemovedBank, type RemoveOptions, type RemoveOutcome, type Revision,
  type Scan, type SearchRequest, type SearchResult, type Selector, type StoredMemory, type StoreHealth,
  type Unembedded, type VectorStore, type Version, type WriteOptions,
} from '../vector-store.js'
import { configBytes, InMemoryBankConfigs } from './bank-configs.js'
import { Bank, Capacity, Entry, neededBytes } from './bank.js'
import { ExtractionJobs } from './extraction-jobs.js'
import { InMemoryProposals } from './proposals.js'
import {
  collectStatistics, conversationsPage, countDays, countUpTo, listPage, neighbourhood, noStatistics, summarise,
  unembeddedPage,
} from './reads.js'
import { searchBanks } from './search.js'
import { placeIn, SortedList } from './sorted-list.js'
import {
  derivedFrom, derivedOnlyFrom, earlierOf, planImportInto, planInsertInto, planReplacementIn, planRevision, removalOf,
  requireNew, select, type WritePlan,
} from './writes.js'

/** Expired memories that are removed before the event loop may be given back. */
const EXPIRED_AT_ONCE = 500
/** Terms of all passages, with which a write takes so long that it gives the event loop back. */
const LONG_WRITE_TERMS = 20_000

/**
 * Banks in process memory, which end with the process. Exact: BM25 over an inverted index, vectors by full scan.
 *
 * A write checks everything and is then made synchronously, so that nobody sees a part of it. A long one gives the
 * event loop back, and holds its bank until all is done: every other call waits for it. A reader that gives the event
 * loop back reads a snapshot. Every call first removes what has expired from its bank.
 */
export class InMemoryVectorStore implements VectorStore {
  readonly bankConfigs: InMemoryBankConfigs
  readonly proposals: InMemoryProposals
  readonly #capacity: Capacity
  /** Those with memories. */
  readonly #banks = new Map<string, Bank>()
  /** Of the banks that a long write holds: its end. */
  readonly #held = new Map<string, Promise<void>>()
  #ordered = new SortedList<Bank>((a, b) => compareKeys(a.key, b.key))
  /** By bank: the memories that were removed, for `countRemovedAfter`. */
  readonly #removed = new Map<string, Array<{ removedAt: number, retainedAt: number }>>()
  readonly #extractions = new ExtractionJobs()

  /**
   * @param maximumBytes maximum estimated bytes of memories and of the configuration of banks. Default: two fifths of
   * the heap limit
   */
  constructor ({ maximumBytes }: { maximumBytes?: number | undefined } = {}) {
    this.#capacity = new Capacity(maximumBytes)
    this.bankConfigs = new InMemoryBankConfigs(this.#capacity)
    this.proposals = new InMemoryProposals(async (key, now) => await this.#bank(key, now))
  }

  /** Estimated bytes of memories and configurations. */
  get usedBytes (): number {
    return this.#capacity.usedBytes
  }

  async health (): Promise<StoreHealth> {
    return { healthy: true }
  }

  async insert (
    key: BankKey, memories: readonly NewMemory[], options: InsertOptions,
  ): Promise<InsertOutcome[]> {
    return await this.#write(key, options, memories, (bank) => {
      if (options.expectNew === true) requireNew(bank, memories)
      return planInsertInto(bank, memories, options.now)
    })
  }

  async replaceDocuments (
    key: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]> {
    return await this.#write(key, options, memories, (bank) => (
      planReplacementIn(bank, replacement, memories, options.now)
    ))
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
    const found = (await this.#bank(key, now))?.last(memoryId)
    return found && memoryOf(found.memory)
  }

  async revise (key: BankKey, revisions: readonly Revision[], options: WriteOptions): Promise<void> {
    const told = revisions.filter(({ passages }) => passages !== undefined).map(({ memory }) => memory.memoryId)
    await this.#write(key, options, [], (bank) => planRevision(bank, revisions), {
      bytes: 0,
      apply: () => {
        this.#extractions.renew(key, told, options.now)
        this.proposals.dropOpen(key, told)
      },
    })
  }

  async versions (key: BankKey, memoryId: string, now: number): Promise<Version[]> {
    const bank = await this.#bank(key, now)
    const last = bank?.last(memoryId)
    if (bank === undefined || last === undefined) return []
    return [last, ...earlierOf(bank, last)].map(toVersion).sort((a, b) => b.version - a.version)
  }

  async redact (key: BankKey, memoryId: string, version: number, options: WriteOptions): Promise<boolean> {
    let hadFacts = false
    return await this.#write(key, options, [], (bank) => {
      const found = bank.past.earlier.get(memoryId)?.find(({ memory }) => memory.version === version)
      const memory = found && toVersion(found)
      if (memory === undefined) return { added: [], removed: [], outcome: false }
      const emptied = {
        ...memory,
        ...NOTHING_SAID,
        expiresAt: memory.expiresAt,
        tokens: TokenCount.of(''),
        reason: null,
        fingerprint: '',
        redacted: true,
        // The index numbers memories by their passages, so that each needs one.
        passages: [{ start: 0, end: 0, terms: new Map<string, number>(), length: 0 }],
      }
      const facts = removalOf(bank, derivedFrom(bank, memoryId))
      hadFacts = facts.gone.length > 0 && bank.byId.has(memoryId)
      return {
        added: [],
        removed: facts.removed,
        addedPast: [emptied],
        removedPast: [found!, ...facts.removedPast],
        gone: facts.gone,
        outcome: true,
      }
    }, {
      bytes: 0,
      apply: () => {
        if (hadFacts) this.#extractions.note(key, [memoryId], options.now)
        else this.#extractions.renew(key, [memoryId], options.now)
      },
    })
  }

  async changedAfter (
    key: BankKey, { instant, now, limit }: { instant: number, now: number, limit: number },
  ): Promise<ChangedMemory[]> {
    const bank = await this.#bank(key, now)
    if (bank === undefined) return []
    const changed: Entry[] = []
    for (const entry of [...bank.ordered.snapshot(), ...bank.past.ordered.snapshot()]) {
      if (isDue()) await giveWay()
      if (entry.isLast && entry.memory.changedAt > instant) changed.push(entry)
    }
    const sorted = changed.sort(byMemoryId).slice(0, limit)
    return sorted.map((entry) => {
      const then = earlierOf(bank, entry).map(toVersion).find(({ changedAt, endedAt }) => (
        changedAt <= instant && endedAt! > instant
      ))
      return { memory: memoryOf(entry.memory), then }
    })
  }

  async countRemovedAfter (key: BankKey, instant: number): Promise<number> {
    const removed = this.#removed.get(bankKeyString(key)) ?? []
    return removed.filter(({ removedAt, retainedAt }) => removedAt > instant && retainedAt <= instant).length
  }

  async findRepeated (key: BankKey, fingerprint: string, now: number): Promise<StoredMemory | undefined> {
    const found = (await this.#bank(key, now))?.byFingerprint.get(fingerprint)
    if (found === undefined) return undefined
    const { memory: { memoryId, trust }, passages } = found
    return { memoryId, passageCount: passages.length, trust }
  }

  async list (key: BankKey, request: ListRequest): Promise<Memory[]> {
    const bank = await this.#bank(key, request.now)
    if (bank === undefined) return []
    const parts = partsOf(request.filters)
    // The first of each part are merged, so each is read from its start.
    const { limit, offset = 0, order = 'newest' } = request
    const each = parts.length === 1 ? request : { ...request, offset: 0, limit: limit + offset }
    // All begin at once, so that they read the bank as it is at one moment.
    const pages = await Promise.all(parts.map(async (part) => (
      await listPage(bankPart(bank, part), each, compileFilters(request.filters, part))
    )))
    if (parts.length === 1 && parts[0] === 'current') return pages[0]!
    const sign = order === 'newest' ? -1 : 1
    return pages.flat()
      .sort((a, b) => sign * (a.retainedAt - b.retainedAt || compareText(a.memoryId, b.memoryId)))
      .slice(offset, offset + limit)
      .map(memoryOf)
  }

  async countMemories (
    key: BankKey, { now, filters, limit }: { now: number, filters: ListFilters, limit: number },
  ): Promise<number> {
    const bank = await this.#bank(key, now)
    if (bank === undefined) return 0
    const counts = await Promise.all(partsOf(filters).map(async (part) => (
      await countUpTo(bankPart(bank, part), limit, compileFilters(filters, part))
    )))
    return Math.min(counts.reduce((sum, count) => sum + count, 0), limit)
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
    const outcomeOf = (entries: readonly Entry[]) => ({
      count: entries.length, memoryIds: entries.slice(0, idLimit).map(({ memory }) => memory.memoryId),
    })
    if (dryRun) return outcomeOf(selected)
    // Others may have removed or changed some of them since they were selected.
    return await this.#write(key, { now, signal }, [], (bank) => {
      const entries = selected.filter((entry) => bank.last(entry.id) === entry)
      this.#noteRemoved(bank.id, new Set([...entries, ...derivedOnlyFrom(bank, entries)]), now)
      return { added: [], ...removalOf(bank, entries), outcome: outcomeOf(entries) }
    })
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

  async listConversations (key: BankKey, request: ListConversationsRequest): Promise<ConversationSummary[]> {
    const bank = await this.#bank(key, request.now)
    return bank === undefined ? [] : await conversationsPage(bank, request)
  }

  async scan (key: BankKey, now: number, signal?: AbortSignal, isWhole = false): Promise<Scan> {
    const bank = await this.#bank(key, now)
    const entries = bank?.ordered.snapshot() ?? []
    signal?.throwIfAborted()
    if (isWhole && bank?.hasPast === true) {
      const last = [...entries, ...bank.past.ordered.snapshot().filter(({ isLast }) => isLast)]
      const all = last.flatMap((entry) => [
        entry, ...earlierOf(bank, entry).toSorted((a, b) => b.memory.version - a.memory.version),
      ])
      return { count: all.length, memories: (async function * () { for (const { memory } of all) yield memory })() }
    }
    return {
      count: entries.length,
      memories: (async function * () { for (const { memory } of entries) yield memory })(),
    }
  }

  async import (
    key: BankKey, memories: readonly NewMemory[], { onConflict, config, ...options }: ImportOptions,
  ): Promise<ImportOutcome> {
    return await this.#write(
      key, options, memories, (bank) => planImportInto(bank, memories, onConflict), config && {
        bytes: configBytes(config), apply: () => { this.bankConfigs.set(key, config) },
      },
    )
  }

  async removeBank (key: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank> {
    await this.#bank(key, now)
    signal?.throwIfAborted()
    const bank = this.#banks.get(bankKeyString(key))
    const memoryCount = bank === undefined ? 0 : (await select(bank, { kind: 'all' })).length
    if (bank !== undefined) this.#drop(bank, bank.bytes)
    this.#removed.delete(bankKeyString(key))
    this.proposals.remove(key)
    return { memoryCount, configRemoved: this.bankConfigs.remove(key, now) }
  }

  async dueExtractions (request: { now: number, limit: number }): Promise<BankKey[]> {
    return this.#extractions.due(request)
  }

  async takeExtractions (
    key: BankKey, request: { now: number, until: number, limit: number },
  ): Promise<ExtractionJob[]> {
    return this.#extractions.take(key, request)
  }

  async settleExtractions (
    key: BankKey, held: HeldExtractions, retry?: { retryAt: number, isCounted: boolean },
  ): Promise<void> {
    this.#extractions.settle(key, held, retry)
  }

  async close (): Promise<void> {
    for (const bank of this.#ordered.items) this.#capacity.usedBytes -= bank.bytes
    this.#banks.clear()
    this.#ordered = new SortedList<Bank>((a, b) => compareKeys(a.key, b.key))
    this.bankConfigs.clear()
    this.#extractions.clear()
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
      while (this.#held.has(id)) await this.#held.get(id)
      const bank = this.#banks.get(id)
      if (bank === undefined) return undefined
      const expired = [bank, ...bank.hasPast ? [bank.past] : []].flatMap(({ expiring: { items } }) => {
        if (items.length === 0 || items[0]!.memory.expiresAt! > now) return []
        const count = placeIn(items, ({ memory }) => memory.expiresAt! <= now)
        return items.slice(0, Math.min(count, EXPIRED_AT_ONCE))
      })
      if (expired.length === 0) return bank
      await this.#apply(bank, { entries: [], added: [], ...removalOf(bank, expired) })
      if (isDue()) await giveWay()
    }
  }

  /** @param besides is done with the write; its bytes have to fit too */
  async #write<T> (
    key: BankKey, { now, signal, extract, extracted }: WriteOptions, memories: readonly NewMemory[],
    plan: (bank: Bank) => WritePlan<T>, besides?: { bytes: number, apply: () => void },
  ): Promise<T> {
    await this.#bank(key, now)
    const release = isLong(memories) ? await this.#hold(bankKeyString(key)) : undefined
    try {
      signal?.throwIfAborted()
      // Unless the bank is held, nothing is awaited until the end. Another write may have created it or removed it.
      const bank = this.#banks.get(bankKeyString(key)) ?? new Bank(key)
      if (extracted !== undefined && !this.#extractions.areHeld(key, extracted)) throw new MemoryChangedError()
      const { added, removed, addedPast = [], removedPast = [], gone = [], outcome } = plan(bank)
      if (release !== undefined) await giveWay()
      const entries = added.map((memory) => new Entry(memory))
      const entriesPast = addedPast.map((memory) => new Entry(memory))
      bank.checkDimensions(entries.flatMap(({ passages }) => passages.flatMap(({ vector }) => vector ?? [])))
      const bytes = neededBytes(added) + neededBytes(addedPast) + (besides?.bytes ?? 0)
      if (bytes > 0) this.#capacity.check(bytes)
      // Other writes must not take the bytes of a long one meanwhile.
      const reserved = release === undefined ? 0 : bytes
      this.#capacity.usedBytes += reserved
      const change = { entries, added, removed, entriesPast, addedPast, removedPast, gone }
      await this.#apply(bank, change, release !== undefined, () => {
        besides?.apply()
        if (extracted !== undefined) this.#extractions.settle(key, extracted)
        if (extract === true) this.#extractions.note(key, added.map(({ memoryId }) => memoryId), now)
      })
      this.#capacity.usedBytes -= reserved
      return outcome
    } finally {
      release?.()
    }
  }

  /** Makes all other calls wait for the bank. @returns ends that */
  async #hold (id: string): Promise<() => void> {
    while (this.#held.has(id)) await this.#held.get(id)
    let end = () => {}
    this.#held.set(id, new Promise((resolve) => { end = resolve }))
    // Calls that have just got the bank read or change it first.
    await nextTurn()
    return () => {
      this.#held.delete(id)
      end()
    }
  }

  /** @param isHeld whether others wait for the bank; nothing is awaited otherwise @param besides is done at the end */
  async #apply (
    bank: Bank,
    { entries, added, entriesPast = [], addedPast = [], gone = [], ...without }: Omit<
      WritePlan<unknown>, 'outcome'
    > & { entries: readonly Entry[], entriesPast?: readonly Entry[] },
    isHeld = false, besides?: () => void,
  ): Promise<void> {
    const before = bank.bytes
    const isEmpty = bank.extent === 0
    const { removed, removedPast } = withDerived(bank, without, gone)
    this.#extractions.drop(bank.key, gone.map(({ memory }) => memory.memoryId))
    if (removed.length + removedPast.length === bank.extent && added.length + addedPast.length === 0) {
      if (!isEmpty) this.#drop(bank, before)
    } else {
      if (isEmpty) {
        this.#banks.set(bank.id, bank)
        this.#ordered.add(bank)
      }
      if (removed.length > 0) bank.remove(removed)
      if (removedPast.length > 0) bank.past.remove(removedPast)
      for (const [index, entry] of entriesPast.entries()) bank.past.add(entry, addedPast[index]!.passages)
      for (const [index, entry] of entries.entries()) {
        if (isHeld && isDue()) await giveWay()
        bank.add(entry, added[index]!.passages)
      }
      this.#capacity.usedBytes += bank.bytes - before
    }
    besides?.()
  }

  /** Notes when memories were retained, before they are removed. */
  #noteRemoved (bankId: string, entries: ReadonlySet<Entry>, removedAt: number): void {
    if (entries.size === 0) return
    const notes = this.#removed.get(bankId) ?? []
    for (const { memory } of entries) notes.push({ removedAt, retainedAt: memory.retainedAt })
    this.#removed.set(bankId, notes)
  }

  #drop (bank: Bank, bytes: number): void {
    this.#extractions.drop(bank.key)
    this.#banks.delete(bank.id)
    this.#ordered.remove([bank])
    this.#capacity.usedBytes -= bytes
  }
}

/** What a write removes, with the facts that go with it. */
function withDerived (
  bank: Bank, { removed, removedPast = [] }: Pick<WritePlan<unknown>, 'removed' | 'removedPast'>,
  gone: readonly Entry[],
): { removed: readonly Entry[], removedPast: readonly Entry[] } {
  const derived = gone.length === 0 ? [] : derivedOnlyFrom(bank, gone)
  if (derived.length === 0) return { removed, removedPast }
  const known = new Set([...removed, ...removedPast])
  const facts = removalOf(bank, derived.filter((entry) => !known.has(entry)))
  return { removed: [...removed, ...facts.removed], removedPast: [...removedPast, ...facts.removedPast] }
}

function bankPart (bank: Bank, part: Part): Bank {
  return part === 'current' ? bank : bank.past
}

function toVersion ({ memory }: Entry): Version {
  return { endedAt: null, redacted: false, ...memory }
}

function isLong (memories: readonly NewMemory[]): boolean {
  let terms = 0
  for (const { passages } of memories) for (const passage of passages) terms += passage.terms.size
  return terms > LONG_WRITE_TERMS
}

function compareKeys (a: BankKey, b: BankKey): number {
  return compareTenants(a.tenantId, b.tenantId) || compareText(a.bankId, b.bankId)
}

/** No tenant comes first. */
function compareTenants (a: string | null, b: string | null): number {
  if (a === b) return 0
  return a === null ? -1 : b === null ? 1 : compareText(a, b)
}
