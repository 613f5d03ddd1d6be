import { bankKeyString, type BankKey } from '../../identity/context.js'
import { isAtLeast } from '../../trust.js'
import { sumTokens, type TokenCount } from '../../text/tokens.js'
import type { BankConfigChange } from '../bank-configs.js'
import { compileFilters, tagCondition } from '../filters.js'
import { planImport } from '../import-plan.js'
import type {
  BankStatistics, BankSummary, ImportOutcome, InsertOutcome, LateVectors, ListBanksRequest, ListRequest, Memory, NewMemory,
  OnConflict, Receipt, RemovedBank, RemoveOptions, RemoveOutcome, SearchRequest, SearchResult, Selector, StoreHealth, Unembedded, VectorStore,
} from '../vector-store.js'
import { Bank, compareText, type Entry } from './bank.js'
import { InMemoryBankConfigs } from './bank-configs.js'
import { best, bestLexicalMatches, countFound, lexicalCandidates, lexicalMatches, semanticCandidates, semanticMatches } from './search.js'
import { VectorArena } from './vector-arena.js'

/**
 * Banks in the memory of the process, gone when it ends. Exact: BM25 over an inverted index, vectors by full scan.
 * Nothing is awaited while a method looks at a bank or changes it, so each one is atomic.
 */
export class InMemoryVectorStore implements VectorStore {
  readonly bankConfigs = new InMemoryBankConfigs()
  readonly #banks = new Map<string, Bank>()
  readonly #arena = new VectorArena()

  async health (): Promise<StoreHealth> {
    return { healthy: true }
  }

  async insert (key: BankKey, memories: readonly NewMemory[], now: number): Promise<InsertOutcome[]> {
    const bank = this.#open(key, now)
    const added = new Map<string, NewMemory>()
    const outranked = new Set<Entry>()
    const outcomes = memories.map((memory): InsertOutcome => {
      const earlier = added.get(memory.fingerprint)
      if (earlier !== undefined) return { stored: false, memoryId: earlier.memoryId, passageCount: earlier.passages.length, trust: earlier.trust }
      const standing = bank.byFingerprint(memory.fingerprint)
      if (standing !== undefined) {
        const { memoryId, trust } = standing.memory
        if (isAtLeast(trust, memory.trust)) return { stored: false, memoryId, passageCount: standing.passages.length, trust }
        outranked.add(standing)
      }
      // Ids are unique by how they are made; two memories under one would leave the first in the indexes for ever.
      if (bank.byId(memory.memoryId) !== undefined) throw new Error(`The memory id ${memory.memoryId} is taken`)
      added.set(memory.fingerprint, memory)
      return { stored: true, memoryId: memory.memoryId }
    })
    this.#apply(bank, [...added.values()], outranked)
    return outcomes
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    const accept = compileFilters(request.filters)
    const banks = request.banks.flatMap((key) => this.#existing(key, request.now) ?? [])
    const { lexical, semantic, limit } = request
    if (lexical !== undefined && semantic === undefined && accept === undefined && banks.every((bank) => bank.isUnsplit)) {
      const perBank = banks.map((bank) => bestLexicalMatches(bank, lexical, limit))
      return { lexical: lexicalCandidates(best(perBank.flatMap(({ found }) => found), limit)), total: perBank.reduce((sum, { total }) => sum + total, 0) }
    }
    const lexicalFound = lexical === undefined ? undefined : collect(banks, (bank) => lexicalMatches(bank, lexical, accept))
    const semanticFound = semantic === undefined ? undefined : collect(banks, (bank) => semanticMatches(bank, semantic.vector, limit, accept))
    return {
      ...(lexicalFound !== undefined && { lexical: lexicalCandidates(best(lexicalFound, limit), semantic?.vector) }),
      ...(semanticFound !== undefined && { semantic: semanticCandidates(best(semanticFound, limit), lexicalFound) }),
      total: countFound(banks, lexicalFound, semantic !== undefined, accept),
    }
  }

  async attachVectors (key: BankKey, late: readonly LateVectors[], now: number): Promise<number> {
    const bank = this.#existing(key, now)
    let attached = 0
    for (const { memoryId, vectors } of late) {
      const entry = bank?.byId(memoryId)
      if (entry === undefined || entry.passages.length !== vectors.length || entry.passages.some(({ vector }) => vector !== undefined)) continue
      bank!.attach(entry, vectors)
      attached++
    }
    return attached
  }

  async listUnembedded ({ now, limit, after }: { now: number, limit: number, after?: BankKey & { memoryId: string } }): Promise<Unembedded[]> {
    const found: Unembedded[] = []
    for (const { key } of [...this.#banks.values()].sort((a, b) => compareKeys(a.key, b.key))) {
      const order = after === undefined ? 1 : compareKeys(key, after)
      if (order < 0) continue
      const entries = [...this.#existing(key, now)?.unembedded() ?? []]
        .filter(({ memory }) => order > 0 || memory.memoryId > after!.memoryId)
        .sort((a, b) => compareText(a.memory.memoryId, b.memory.memoryId))
      for (const { memory, passages } of entries) {
        if (found.length === limit) return found
        found.push({ bank: key, memory, passages: passages.map(({ start, end }) => ({ start, end })) })
      }
    }
    return found
  }

  async get (key: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    return this.#existing(key, now)?.byId(memoryId)?.memory
  }

  async list (key: BankKey, request: ListRequest): Promise<Memory[]> {
    const bank = this.#existing(key, request.now)
    if (bank === undefined) return []
    const accept = compileFilters(request.filters)
    const { after, limit } = request
    const ordered = bank.ordered()
    const page: Memory[] = []
    let index = after === undefined ? ordered.length : countBefore(ordered, after)
    while (--index >= 0 && page.length < limit) {
      const { memory } = ordered[index]!
      if (accept === undefined || accept(memory)) page.push(memory)
    }
    return page
  }

  async remove (key: BankKey, selector: Selector, options: RemoveOptions): Promise<RemoveOutcome> {
    const bank = this.#existing(key, options.now)
    if (bank === undefined) return { count: 0, memoryIds: [] }
    const selected = new Set(select(bank, selector))
    const memoryIds = [...selected].slice(0, options.idLimit).map((entry) => entry.memory.memoryId)
    if (!options.dryRun) this.#apply(bank, [], selected)
    return { count: selected.size, memoryIds }
  }

  async listBanks (request: ListBanksRequest): Promise<BankSummary[]> {
    const banks: Bank[] = []
    // Expiring a bank's last memory takes the bank out of the map, which a Map's iterator allows.
    for (const bank of this.#banks.values()) {
      const { tenantId, bankId } = bank.key
      if (request.tenantId !== undefined && tenantId !== request.tenantId) continue
      if (request.bankId !== undefined && bankId !== request.bankId) continue
      if (request.after !== undefined && compareKeys(bank.key, request.after) <= 0) continue
      if (this.#existing(bank.key, request.now) !== undefined) banks.push(bank)
    }
    return banks.sort((a, b) => compareKeys(a.key, b.key)).slice(0, request.limit).map(summary)
  }

  async statistics (key: BankKey, now: number): Promise<BankStatistics> {
    const bank = this.#existing(key, now)
    const tagCounts = new Map<string, number>()
    const counts: TokenCount[] = []
    const statistics: BankStatistics = {
      ...(bank === undefined ? { ...key, memoryCount: 0, lastRetainedAt: null } : summary(bank)),
      passageCount: 0,
      unembeddedCount: bank?.unembeddedCount ?? 0,
      tokens: 0,
      tagCounts,
      firstRetainedAt: null,
      firstOccurredAt: null,
      lastOccurredAt: null,
    }
    for (const { memory, passages } of bank?.entries() ?? []) {
      statistics.passageCount += passages.length
      counts.push(memory.tokens)
      statistics.firstRetainedAt = Math.min(statistics.firstRetainedAt ?? Infinity, memory.retainedAt)
      for (const tag of memory.tags) tagCounts.set(tag, (tagCounts.get(tag) ?? 0) + 1)
      if (memory.occurredAt !== null) {
        statistics.firstOccurredAt = Math.min(statistics.firstOccurredAt ?? Infinity, memory.occurredAt)
        statistics.lastOccurredAt = Math.max(statistics.lastOccurredAt ?? -Infinity, memory.occurredAt)
      }
    }
    // The figures are of the moment of the call; only the counting of these tokens goes on after it.
    return { ...statistics, tokens: await sumTokens(counts) }
  }

  async scan (key: BankKey, now: number): Promise<{ count: number, memories: AsyncIterable<Memory> }> {
    const memories = this.#existing(key, now)?.ordered().map((entry) => entry.memory) ?? []
    return { count: memories.length, memories: iterate(memories) }
  }

  async import (key: BankKey, memories: readonly NewMemory[], onConflict: OnConflict, now: number, _receipt?: Receipt<ImportOutcome>, config?: BankConfigChange): Promise<ImportOutcome> {
    if (config?.expected !== undefined) throw new TypeError('A configuration that comes with an import takes the place of whatever is in force')
    const bank = this.#open(key, now)
    // Conflicts are few, so the bank is asked for them and not copied.
    const entries = new Set(memories.flatMap((memory) => [bank.byId(memory.memoryId), bank.byFingerprint(memory.fingerprint)].filter((entry) => entry !== undefined)))
    const standing = [...entries].map((entry) => ({ memoryId: entry.memory.memoryId, fingerprint: entry.fingerprint, trust: entry.memory.trust, entry }))
    const { added, removed, outcome } = planImport(memories, standing, onConflict)
    this.#apply(bank, added, new Set([...removed].map(({ entry }) => entry)))
    if (config !== undefined) this.bankConfigs.set(key, config)
    return outcome
  }

  async removeBank (key: BankKey, now: number): Promise<RemovedBank> {
    const bank = this.#existing(key, now)
    const memoryCount = bank?.size ?? 0
    if (bank !== undefined) this.#apply(bank, [], new Set(bank.entries()))
    return { memoryCount, configRemoved: this.bankConfigs.remove(key, now) }
  }

  async close (): Promise<void> {
    this.#banks.clear()
    this.bankConfigs.clear()
  }

  /** The bank, made when there is none; it joins the store with its first memory. */
  #open (key: BankKey, now: number): Bank {
    return this.#existing(key, now) ?? new Bank(key, this.#arena)
  }

  #existing (key: BankKey, now: number): Bank | undefined {
    const bank = this.#banks.get(bankKeyString(key))
    bank?.expire(now)
    if (bank?.size !== 0) return bank
    this.#drop(bank)
    return undefined
  }

  #apply (bank: Bank, added: readonly NewMemory[], removed: ReadonlySet<Entry>): void {
    try {
      bank.apply(added, removed)
    } finally {
      if (bank.size === 0) this.#drop(bank)
      else this.#banks.set(bankKeyString(bank.key), bank)
    }
  }

  #drop (bank: Bank): void {
    bank.release()
    this.#banks.delete(bankKeyString(bank.key))
  }
}

/** The finds of all banks; those of one bank, which are nearly always all, are not copied. */
function collect<T> (banks: readonly Bank[], find: (bank: Bank) => T[]): T[] {
  return banks.length === 1 ? find(banks[0]!) : banks.flatMap(find)
}

function select (bank: Bank, selector: Selector): Entry[] {
  switch (selector.kind) {
    case 'ids':
      return selector.memoryIds.flatMap((memoryId) => bank.byId(memoryId) ?? [])
    case 'tags': {
      const accept = tagCondition(selector.tags, selector.match)
      return [...bank.entries()].filter((entry) => accept(entry.memory))
    }
    case 'all':
      return [...bank.entries()]
  }
}

function summary (bank: Bank): BankSummary {
  return { ...bank.key, memoryCount: bank.size, lastRetainedAt: bank.lastRetainedAt }
}

/** How many of the rising entries lie before the cursor: where the next page, read backwards, begins. */
function countBefore (ordered: readonly Entry[], cursor: { retainedAt: number, memoryId: string }): number {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { retainedAt, memoryId } = ordered[middle]!.memory
    if (retainedAt < cursor.retainedAt || (retainedAt === cursor.retainedAt && memoryId < cursor.memoryId)) low = middle + 1
    else high = middle
  }
  return low
}

function compareKeys (a: BankKey, b: BankKey): number {
  if (a.tenantId !== b.tenantId) return a.tenantId === null ? -1 : b.tenantId === null ? 1 : compareText(a.tenantId, b.tenantId)
  return compareText(a.bankId, b.bankId)
}

async function * iterate<T> (items: readonly T[]): AsyncGenerator<T> {
  yield * items
}
