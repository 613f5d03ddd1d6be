import type { BankKey } from '../../access/context.js'
import { messageOf } from '../../base/message-of.js'
import type { Semaphore } from '../../base/semaphore.js'
import type { ExtractionJob, HeldExtractions } from '../extraction-queue.js'
import type {
  BankStatistics, BankSummary, ConversationSummary, DayCounts, DayRange, DocumentReplacement, EmbeddingSpace,
  ImportOptions, ImportOutcome, InsertOptions, InsertOutcome, LateVectors, ListBanksRequest, ListConversationsRequest,
  ListRequest, Memory, Neighbourhood, NewMemory, PoolStatus, RemovedBank, RemoveOptions, RemoveOutcome, Revision, Scan,
  SearchRequest, SearchResult, Selector, StoreHealth, StoreStart, Unembedded, UsageEntry, UsageOutcome,
  UsageReservation, VectorStore, WriteOptions,
} from '../vector-store.js'
import { SqlBankConfigs } from './bank-configs.js'
import type { Distribution } from './distribution.js'
import { dueExtractions, settleExtractions, takeExtractions } from './extraction-jobs.js'
import { busySemaphore, type Executor, type ReadOptions } from './executor.js'
import { Readiness, readMigrations } from './migrations.js'
import { SqlProposals } from './proposals.js'
import { openScan, SqlReader } from './reader.js'
import { SqlSearcher } from './searcher.js'
import type { Standby } from './standby.js'
import { Sweeper } from './sweeper.js'
import { adjustUsage, rateCounter, reserveUsage } from './usage.js'
import type { VectorIndexes } from './vectors.js'
import { SqlWriter } from './writer.js'

/** Bytes of an export that are read before it is answered: beyond, a connection waits for the reader. */
const READ_AHEAD_BYTES = 4 * 1024 * 1024
const UNSHARED_READ_AHEAD_BYTES = 32 * 1024 * 1024
/** How long an export waits for others, in milliseconds. */
const EXPORT_WAIT_MS = 10_000

interface SqlVectorStoreOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  /** Default none. */
  distribution?: Distribution
  bootstrapSchema: boolean
  /** Absent: every search is exact. */
  indexes?: VectorIndexes
  /** Interval at which expired memories are removed, in milliseconds. 0: only when they conflict with a write. */
  sweepIntervalMs: number
  /** Whether this process has to vacuum, because the database has no autovacuum. Default false. */
  vacuum?: boolean
  /** Whether other processes may use the database. Default true. */
  shared?: boolean
  /** Answers searches and lists when it is fresh enough. */
  standby?: Standby | undefined
}

/**
 * Banks in PostgreSQL with pgvector: one statement for a search, one more if the bank has a vector index, and one
 * transaction for a write, on any Executor. Every access to the database waits until it is ready.
 */
export class SqlVectorStore extends SqlReader implements VectorStore {
  readonly bankConfigs: SqlBankConfigs
  readonly proposals: SqlProposals
  /** A process that has the database alone counts in its memory. */
  readonly countRate?: (key: string, amount: number) => Promise<number>
  readonly #options: SqlVectorStoreOptions
  readonly #executor: Executor
  readonly #readiness: Readiness
  readonly #sweeper: Sweeper
  readonly #onPrimary: SqlReader
  readonly #searcher: SqlSearcher
  /** What reads from the standby. */
  readonly #standby: { state: Standby, searcher: SqlSearcher, reader: SqlReader } | undefined
  readonly #writer: SqlWriter
  /** Of large banks an export holds a connection until it is read: half of all are left to others. */
  readonly #exports: Semaphore
  #space: EmbeddingSpace | undefined

  constructor (options: SqlVectorStoreOptions) {
    const {
      schema, distribution = 'none', bootstrapSchema, indexes, vacuum = false, shared = true, standby: state,
    } = options
    const readiness = new Readiness({
      executor: options.executor, schema, distribution, migrations: readMigrations(), bootstrapSchema,
    })
    const { executor } = readiness
    super(executor, schema)
    this.#options = options
    this.#executor = executor
    this.#readiness = readiness
    this.#sweeper = new Sweeper({ executor, schema, intervalMs: options.sweepIntervalMs, vacuum })
    this.#onPrimary = new SqlReader(executor, schema)
    this.#searcher = new SqlSearcher({ executor, schema, indexes })
    this.#standby = state && {
      state,
      searcher: new SqlSearcher({ executor: state.executor, schema, indexes }),
      reader: new SqlReader(state.executor, schema),
    }
    this.#exports = busySemaphore('exports', 'run already, and none ended', {
      permits: Math.max(1, Math.floor((executor.status?.().size ?? 1) / 2)), maxWaiting: 100, waitMs: EXPORT_WAIT_MS,
    })
    if (shared) this.countRate = rateCounter(executor, schema)
    this.proposals = new SqlProposals(executor, schema)
    this.bankConfigs = new SqlBankConfigs({ executor, schema, isShared: shared })
    const noteChanges = async (memories: number) => { await this.#sweeper.noteChanges(memories) }
    this.#writer = new SqlWriter({ executor, schema, distribution, configs: this.bankConfigs, noteChanges })
  }

  async start ({ space, isDefaultSpace = false, clock, warn, info = () => {} }: StoreStart): Promise<void> {
    this.#space = space
    this.#searcher.start(space)
    this.#standby?.searcher.start(space)
    this.#writer.start(space, warn)
    await this.#readiness.start({ space, isDefaultSpace, warn, info })
    this.#sweeper.start(clock, warn)
    this.#options.indexes?.start(space, { warn, info })
    this.#standby?.state.start(warn)
  }

  async health (): Promise<StoreHealth> {
    try {
      // A connection stays read-only when its database is writable again, so only a new one shows that it is not.
      if (await this.#isReadOnly() && await this.#isReadOnly({ fresh: true })) {
        return { healthy: false, message: 'The database is read-only' }
      }
      return { healthy: true }
    } catch (error) {
      return { healthy: false, message: messageOf(error) }
    }
  }

  poolStatus (): PoolStatus | undefined {
    return this.#executor.status?.()
  }

  async insert (bank: BankKey, memories: readonly NewMemory[], options: InsertOptions): Promise<InsertOutcome[]> {
    return await this.#write(bank, async () => await this.#writer.insert(bank, memories, options))
  }

  async replaceDocuments (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]> {
    return await this.#write(bank, async () => (
      await this.#writer.replaceDocuments(bank, replacement, memories, options)
    ))
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    return request.current === true
      ? await this.#searcher.search(request)
      : await this.#read(request.banks, async (_, searcher) => await searcher.search(request))
  }

  override async list (bank: BankKey, request: ListRequest): Promise<Memory[]> {
    return request.current === true
      ? await super.list(bank, request)
      : await this.#read([bank], async (reader) => await reader.list(bank, request))
  }

  override async countMemories (...args: Parameters<SqlReader['countMemories']>): Promise<number> {
    return await this.#read([args[0]], async (reader) => await reader.countMemories(...args))
  }

  override async neighbours (...args: Parameters<SqlReader['neighbours']>): Promise<Neighbourhood | undefined> {
    return await this.#read([args[0]], async (reader) => await reader.neighbours(...args))
  }

  override async listBanks (request: ListBanksRequest): Promise<BankSummary[]> {
    return await this.#read(undefined, async (reader) => await reader.listBanks(request))
  }

  override async statistics (bank: BankKey, now: number): Promise<BankStatistics> {
    return await this.#read([bank], async (reader) => await reader.statistics(bank, now))
  }

  override async countByDay (bank: BankKey, range: DayRange): Promise<DayCounts> {
    return await this.#read([bank], async (reader) => await reader.countByDay(bank, range))
  }

  override async listConversations (
    bank: BankKey, request: ListConversationsRequest,
  ): Promise<ConversationSummary[]> {
    return await this.#read([bank], async (reader) => await reader.listConversations(bank, request))
  }

  async remove (bank: BankKey, selector: Selector, options: RemoveOptions): Promise<RemoveOutcome> {
    return await this.#write(bank, async () => await this.#writer.remove(bank, selector, options))
  }

  async attachVectors (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    return await this.#write(bank, async () => await this.#writer.attachVectors(bank, vectors, now))
  }

  async listUnembedded (
    request: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]> {
    return this.#space === undefined ? [] : await this.unembeddedOf(this.#space, request)
  }

  async scan (bank: BankKey, now: number, signal?: AbortSignal, isWhole = false): Promise<Scan> {
    const { schema, shared = true } = this.#options
    const readAheadBytes = shared ? READ_AHEAD_BYTES : UNSHARED_READ_AHEAD_BYTES
    const onEnd = await this.#exports.acquire({ signal })
    return await openScan({
      executor: this.#executor, schema, bank, now, isWhole, signal, readAheadBytes, onEnd,
    })
  }

  async import (bank: BankKey, memories: readonly NewMemory[], options: ImportOptions): Promise<ImportOutcome> {
    return await this.#write(bank, async () => await this.#writer.import(bank, memories, options))
  }

  async revise (bank: BankKey, revisions: readonly Revision[], options: WriteOptions): Promise<void> {
    await this.#write(bank, async () => { await this.#writer.revise(bank, revisions, options) })
  }

  async redact (bank: BankKey, memoryId: string, version: number, options: WriteOptions): Promise<boolean> {
    return await this.#write(bank, async () => await this.#writer.redact(bank, memoryId, version, options))
  }

  async removeBank (bank: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank> {
    return await this.#write(bank, async () => await this.#writer.removeBank(bank, now, signal))
  }

  async reserveUsage (entries: readonly UsageReservation[]): Promise<UsageOutcome> {
    return await reserveUsage(this.#executor, this.#options.schema, entries)
  }

  async adjustUsage (entries: readonly UsageEntry[]): Promise<void> {
    await adjustUsage(this.#executor, this.#options.schema, entries)
  }

  async dueExtractions (request: { now: number, limit: number }): Promise<BankKey[]> {
    return await dueExtractions(this.#executor, this.#options.schema, request)
  }

  async takeExtractions (
    bank: BankKey, request: { now: number, until: number, limit: number },
  ): Promise<ExtractionJob[]> {
    return await takeExtractions(this.#executor, this.#options.schema, bank, request)
  }

  async settleExtractions (
    bank: BankKey, held: HeldExtractions, retry?: { retryAt: number, isCounted: boolean },
  ): Promise<void> {
    await settleExtractions(this.#executor, this.#options.schema, bank, held, retry)
  }

  async close (): Promise<void> {
    await this.#sweeper.stop()
    await this.#options.indexes?.stop()
    await this.#standby?.state.stop()
    await this.#executor.close()
  }

  /** Reads banks, or any where none is named, from the standby or from the primary. */
  async #read<T> (
    banks: readonly BankKey[] | undefined, read: (reader: SqlReader, searcher: SqlSearcher) => Promise<T>,
  ): Promise<T> {
    const onPrimary = async () => await read(this.#onPrimary, this.#searcher)
    if (this.#standby === undefined) return await onPrimary()
    const { state, reader, searcher } = this.#standby
    return await state.read(banks, async () => await read(reader, searcher), onPrimary)
  }

  async #write<T> (bank: BankKey, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } finally {
      this.#standby?.state.noteWrite(bank)
    }
  }

  async #isReadOnly (options: ReadOptions = {}): Promise<boolean> {
    const [found] = await this.#executor.read<{ setting: string }>(
      'select current_setting(\'transaction_read_only\') as setting', [], options,
    )
    return found?.setting === 'on'
  }
}
