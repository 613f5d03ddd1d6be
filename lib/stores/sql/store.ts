import type { Semaphore } from '../../concurrency/semaphore.js'
import type { BankKey } from '../../identity/context.js'
import { sumTokens } from '../../text/tokens.js'
import type {
  DocumentReplacement, EmbeddingSpace, ImportOptions, ImportOutcome, InsertOutcome, LateVectors, NewMemory, PoolStatus,
  RemovedBank, RemoveOptions, RemoveOutcome, Scan, SearchRequest, SearchResult, Selector, StoreHealth, StoreStart,
  Unembedded, UsageEntry, UsageOutcome, UsageReservation, VectorStore, WriteOptions,
} from '../vector-store.js'
import { BankConfigWriter, SqlBankConfigs } from './bank-configs.js'
import { busySemaphore } from './executor.js'
import type { Executor, ReadOptions } from './executor.js'
import { readMigrations } from './migrations.js'
import { Readiness } from './readiness.js'
import { openScan, SqlReader } from './reader.js'
import { SqlSearcher } from './searcher.js'
import { makeStatements, type Statements } from './statements.js'
import { Sweeper } from './sweeper.js'
import { adjustUsage, reserveUsage } from './usage.js'
import type { VectorIndexes } from './vector-indexes.js'
import { SqlWriter } from './writer.js'
import { messageOf } from '../../errors/message-of.js'

/** Bytes of an export that are read before it is answered: beyond, a connection waits for the reader. */
const READ_AHEAD_BYTES = 4 * 1024 * 1024
const UNSHARED_READ_AHEAD_BYTES = 32 * 1024 * 1024
/** How long an export waits for others, in milliseconds. */
const EXPORT_WAIT_MS = 10_000

interface SqlVectorStoreOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  bootstrapSchema: boolean
  /** Absent: every search is exact. */
  indexes?: VectorIndexes
  /** Interval at which expired memories are removed, in milliseconds. 0: only when they conflict with a write. */
  sweepIntervalMs: number
  /** Whether this process has to vacuum, because the database has no autovacuum. Default false. */
  vacuum?: boolean
  /** Whether other processes may use the database. Default true. */
  shared?: boolean
}

/**
 * Banks in PostgreSQL with pgvector: one statement for a search, one more if the bank has a vector index, and one
 * transaction for a write, on any Executor.
 */
export class SqlVectorStore implements VectorStore {
  readonly bankConfigs: SqlBankConfigs
  readonly findIdempotencyRecord: SqlReader['findIdempotencyRecord']
  readonly get: SqlReader['get']
  readonly findRepeated: SqlReader['findRepeated']
  readonly list: SqlReader['list']
  readonly countMemories: SqlReader['countMemories']
  readonly neighbours: SqlReader['neighbours']
  readonly listBanks: SqlReader['listBanks']
  readonly statistics: SqlReader['statistics']
  readonly countByDay: SqlReader['countByDay']
  readonly #executor: Executor
  readonly #statements: Statements
  readonly #readiness: Readiness
  readonly #indexes: VectorIndexes | undefined
  readonly #sweeper: Sweeper
  readonly #reader: SqlReader
  readonly #searcher: SqlSearcher
  readonly #writer: SqlWriter
  /** Of large banks an export holds a connection until it is read: half of all are left to others. */
  readonly #exports: Semaphore
  readonly #readAheadBytes: number
  readonly #schema: string
  #space: EmbeddingSpace | undefined

  constructor (options: SqlVectorStoreOptions) {
    const { executor, schema, bootstrapSchema, indexes, sweepIntervalMs, vacuum = false, shared = true } = options
    this.#executor = executor
    this.#statements = makeStatements(schema)
    this.#readiness = new Readiness({ executor, schema, migrations: readMigrations(), bootstrapSchema })
    this.#indexes = indexes
    const statements = this.#statements
    this.#sweeper = new Sweeper({ executor, schema, statements, intervalMs: sweepIntervalMs, vacuum })
    const noteChanges = async (memories: number) => { await this.#sweeper.noteChanges(memories) }
    const whenReady = async <T>(work: () => Promise<T>) => await this.#whenReady(work)
    const configs = new BankConfigWriter(schema)
    const reader = new SqlReader(executor, schema)
    const readWhenReady = <Args extends unknown[], T>(read: (...args: Args) => Promise<T>) =>
      async (...args: Args) => await this.#whenReady(async () => await read.apply(reader, args))

    this.findIdempotencyRecord = readWhenReady(reader.findIdempotencyRecord)
    this.get = readWhenReady(reader.get)
    this.findRepeated = readWhenReady(reader.findRepeated)
    this.list = readWhenReady(reader.list)
    this.countMemories = readWhenReady(reader.countMemories)
    this.neighbours = readWhenReady(reader.neighbours)
    this.listBanks = readWhenReady(reader.listBanks)
    this.statistics = readWhenReady(reader.statistics)
    this.countByDay = readWhenReady(reader.countByDay)
    this.#reader = reader
    this.#searcher = new SqlSearcher({ executor, schema, indexes })
    this.#schema = schema
    this.#readAheadBytes = shared ? READ_AHEAD_BYTES : UNSHARED_READ_AHEAD_BYTES
    this.#exports = busySemaphore('exports', 'run already, and none ended', {
      permits: Math.max(1, Math.floor((executor.status?.().size ?? 1) / 2)), maxWaiting: 100, waitMs: EXPORT_WAIT_MS,
    })
    this.#writer = new SqlWriter({ executor, statements, configs, noteChanges })
    this.bankConfigs = new SqlBankConfigs({ executor, schema, writer: configs, isShared: shared, whenReady })
  }

  async start ({ space, isDefaultSpace = false, clock, warn, info = () => {} }: StoreStart): Promise<void> {
    this.#space = space
    this.#searcher.start(space)
    this.#writer.start(space, warn)
    await this.#readiness.start({ space, isDefaultSpace, warn, info })
    this.#sweeper.start(clock, warn)
    this.#indexes?.start(space, { warn, info })
  }

  async health (): Promise<StoreHealth> {
    try {
      await this.#readiness.ensure()
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

  async insert (bank: BankKey, memories: readonly NewMemory[], options: WriteOptions): Promise<InsertOutcome[]> {
    if (memories.length === 0 && options.idempotency === undefined) return []
    await countTokens(memories)
    return await this.#whenReady(async () => await this.#writer.insert(bank, memories, options))
  }

  async replaceDocuments (
    bank: BankKey, replacement: DocumentReplacement, memories: readonly NewMemory[], options: WriteOptions,
  ): Promise<InsertOutcome[]> {
    await countTokens(memories)
    return await this.#whenReady(async () => await this.#writer.replaceDocuments(bank, replacement, memories, options))
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    return await this.#whenReady(async () => await this.#searcher.search(request))
  }

  async remove (bank: BankKey, selector: Selector, options: RemoveOptions): Promise<RemoveOutcome> {
    return await this.#whenReady(async () => await this.#writer.remove(bank, selector, options))
  }

  async attachVectors (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    if (vectors.length === 0) return 0
    return await this.#whenReady(async () => await this.#writer.attachVectors(bank, vectors, now))
  }

  async listUnembedded (
    request: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]> {
    const space = this.#space
    if (space === undefined) return []
    return await this.#whenReady(async () => await this.#reader.listUnembedded(space, request))
  }

  async scan (bank: BankKey, now: number, signal?: AbortSignal): Promise<Scan> {
    return await this.#whenReady(async () => {
      const onEnd = await this.#exports.acquire({ signal })
      const [executor, schema, readAheadBytes] = [this.#executor, this.#schema, this.#readAheadBytes]
      return await openScan({ executor, schema, bank, now, signal, readAheadBytes, onEnd })
    })
  }

  async import (bank: BankKey, memories: readonly NewMemory[], options: ImportOptions): Promise<ImportOutcome> {
    if (memories.length === 0 && options.config === undefined && options.idempotency === undefined) {
      return { imported: 0, skipped: 0, overwritten: 0 }
    }
    await countTokens(memories)
    return await this.#whenReady(async () => await this.#writer.import(bank, memories, options))
  }

  async removeBank (bank: BankKey, now: number, signal?: AbortSignal): Promise<RemovedBank> {
    return await this.#whenReady(async () => await this.#writer.removeBank(bank, { now, signal }))
  }

  async reserveUsage (entries: readonly UsageReservation[]): Promise<UsageOutcome> {
    return await this.#whenReady(async () => await reserveUsage(this.#executor, this.#statements.usage, entries))
  }

  async adjustUsage (entries: readonly UsageEntry[]): Promise<void> {
    await this.#whenReady(async () => { await adjustUsage(this.#executor, this.#statements.usage, entries) })
  }

  async close (): Promise<void> {
    await this.#sweeper.stop()
    await this.#indexes?.stop()
    await this.#executor.close()
  }

  async #isReadOnly (options: ReadOptions = {}): Promise<boolean> {
    const [found] = await this.#executor.read<{ setting: string }>(
      'select current_setting(\'transaction_read_only\') as setting', [], options,
    )
    return found?.setting === 'on'
  }

  /** Every access to the database waits until it is ready. @throws SqlError */
  async #whenReady<T> (work: () => Promise<T>): Promise<T> {
    await this.#readiness.ensure()
    return await work()
  }
}

/** The number of tokens is a column. It is counted before a connection is acquired, not within the transaction. */
async function countTokens (memories: readonly NewMemory[]): Promise<void> {
  await sumTokens(memories.map(({ tokens }) => tokens))
}
