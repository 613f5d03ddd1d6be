import { bankKeyString, type BankKey } from '../../identity/context.js'
import { planImport } from '../import-plan.js'
import {
  RECEIPT_LIFETIME_MS, ReceiptTaken, type BankStatistics, type BankSummary, type Candidate, type EmbeddingSpace, type ImportOutcome, type InsertOutcome,
  type KeptReceipt, type ListBanksRequest, type ListRequest, type Memory, type NewMemory, type Receipt, type RemoveOptions, type RemoveOutcome,
  type SearchRequest, type SearchResult, type Selector, type StoreHealth, type StoreStart, type VectorStore,
} from '../vector-store.js'
import { SqlError, type Executor, type Param, type Queries, type Transaction, type TransactionOptions } from './executor.js'
import { addCounts, hasVectors, insertMemories, NO_COUNTS, type Counts, type Insertion } from './insertion.js'
import { readMigrations } from './migrations.js'
import { Readiness } from './readiness.js'
import { listBanksStatement, listStatement } from './reading-statements.js'
import { bankParameters, toBankKey, toMemory, type MemoryRow } from './rows.js'
import { mergeCandidates, toCandidates, type CandidateRow } from './search-results.js'
import { searchStatement } from './search-statement.js'
import { isTaken, isUndone, retryUndone } from './retrying.js'
import { toServiceError } from './slots.js'
import { Spools } from './spool.js'
import { makeStatements, STATISTICS_SHARDS, type Statements } from './statements.js'
import { Sweeper } from './sweeper.js'
import type { VectorIndexes } from './vector-indexes.js'

/** Banks of one request that are searched at a time, so that a request over many leaves connections to others. */
const BANKS_AT_A_TIME = 4
/** $1 tenant, $2 bank: the right to import into the bank, until the transaction ends. */
const LOCK_IMPORTS = 'select pg_advisory_xact_lock(hashtextextended(\'memory-gateway import \' || $1 || chr(1) || $2, 0))::text'
/** Memories that one statement of an export reads. */
const SCAN_PAGE = 1000

export interface SqlVectorStoreOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  bootstrapSchema: boolean
  /** Absent: every search is exact. */
  indexes?: VectorIndexes
  /** How often expired memories are swept away, in milliseconds. 0: only when they are in the way. */
  sweepIntervalMs: number
  /** Whether the database leaves vacuuming to us. Default false. */
  vacuum?: boolean
}

/** Banks in PostgreSQL with pgvector: one statement a search, one transaction a write, on whatever runs the statements. */
export class SqlVectorStore implements VectorStore {
  readonly #executor: Executor
  readonly #schema: string
  readonly #statements: Statements
  readonly #readiness: Readiness
  readonly #indexes: VectorIndexes | undefined
  readonly #sweeper: Sweeper
  readonly #spools = new Spools()
  /** Banks that are known to have our embedding space. */
  readonly #adopted = new Set<string>()
  readonly #foreign = new Set<string>()
  #space: EmbeddingSpace | undefined
  #warn: (message: string) => void = () => {}
  #turn = 0

  constructor ({ executor, schema, bootstrapSchema, indexes, sweepIntervalMs, vacuum = false }: SqlVectorStoreOptions) {
    this.#executor = executor
    this.#schema = schema
    this.#statements = makeStatements(schema)
    this.#readiness = new Readiness({ executor, schema, migrations: readMigrations(), bootstrapSchema })
    this.#indexes = indexes
    this.#sweeper = new Sweeper({ executor, schema, statements: this.#statements, intervalMs: sweepIntervalMs, vacuum })
  }

  async start ({ space, clock, warn, info = () => {} }: StoreStart): Promise<void> {
    this.#space = space
    this.#warn = warn
    await this.#readiness.start({ ...(space !== undefined && { space }), warn, info })
    this.#sweeper.start(clock, warn)
    this.#indexes?.start(space, { warn, info })
  }

  async health (): Promise<StoreHealth> {
    try {
      await this.#readiness.ensure()
      await this.#executor.read('select 1 as alive')
      return { healthy: true }
    } catch (error) {
      return { healthy: false, message: error instanceof Error ? error.message : String(error) }
    }
  }

  async findReceipt (bank: BankKey, key: string, now: number): Promise<KeptReceipt | undefined> {
    const [row] = await this.#read<{ request_fingerprint: string, answer: string }>(this.#statements.findReceipt, [...bankParameters(bank), key, now - RECEIPT_LIFETIME_MS])
    return row === undefined ? undefined : { requestFingerprint: row.request_fingerprint, answer: row.answer }
  }

  async insert (bank: BankKey, memories: readonly NewMemory[], now: number, receipt?: Receipt<InsertOutcome[]>): Promise<InsertOutcome[]> {
    if (memories.length === 0) return []
    return await this.#guard(async () => {
      const space = await this.#adopt(bank, memories)
      const options = { statements: this.#statements, bank, now, space, shard: this.#nextShard() }
      if (memories.length === 1 && receipt === undefined) {
        // One statement is a transaction by itself, and saves two round trips. Where something is in its way that has expired or is going,
        // it takes a transaction after all.
        try {
          return this.#noticed(bank, await insertMemories(this.#executor, memories, { ...options, counted: true })).outcomes
        } catch (error) {
          if (!isUndone(error) && !isTaken(error)) throw error
        }
      }
      return await this.#write(bank, now, receipt, async (tx) => {
        const insertion = await insertMemories(tx, memories, { ...options, counted: false })
        await this.#count(tx, bank, options.shard, insertion.counts)
        return this.#noticed(bank, insertion).outcomes
      })
    })
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    return await this.#guard(async () => {
      const found: Array<{ lexical: Candidate[], semantic: Candidate[], total: number }> = []
      const banks = request.banks.values()
      const next = async () => {
        for (const bank of banks) found.push(await this.#searchBank(bank, request))
      }
      await Promise.all(Array.from({ length: Math.min(BANKS_AT_A_TIME, request.banks.length) }, next))
      return {
        ...(request.lexical !== undefined && { lexical: mergeCandidates(found.map(({ lexical }) => lexical), request.limit) }),
        ...(request.semantic !== undefined && { semantic: mergeCandidates(found.map(({ semantic }) => semantic), request.limit) }),
        total: found.reduce((sum, { total }) => sum + total, 0),
      }
    })
  }

  async get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    const [row] = await this.#read<MemoryRow>(this.#statements.get, [...bankParameters(bank), memoryId, now])
    return row === undefined ? undefined : toMemory(row)
  }

  async list (bank: BankKey, request: ListRequest): Promise<Memory[]> {
    const statement = listStatement(this.#schema, bank, request)
    return statement === undefined ? [] : (await this.#read<MemoryRow>(statement.text, statement.values)).map(toMemory)
  }

  async remove (bank: BankKey, selector: Selector, { now, dryRun, idLimit }: RemoveOptions, receipt?: Receipt<RemoveOutcome>): Promise<RemoveOutcome> {
    const key = bankParameters(bank)
    const kind = selector.kind === 'all' ? 'bank' : selector.kind === 'ids' ? 'ids' : selector.match
    const chosen: Param[] = selector.kind === 'all' ? [] : [selector.kind === 'ids' ? selector.memoryIds : selector.tags]
    const answer = ([row]: Array<{ count: number, memory_ids: string[] }>): RemoveOutcome => {
      if (!dryRun) this.#sweeper.noteChanges(row!.count)
      return { count: row!.count, memoryIds: row!.memory_ids }
    }
    return await this.#guard(async () => {
      const run = async (queries: Queries) => dryRun
        ? answer(await queries.query(this.#statements.wouldRemove[kind], [...key, now, idLimit, ...chosen]))
        : answer(await queries.query(this.#statements.remove[kind], [...key, now, this.#nextShard(), idLimit, ...chosen]))
      if (receipt === undefined && kind === 'ids') return await retryUndone(async () => await run(this.#executor))
      return await this.#write(bank, now, receipt, run, { bulk: true })
    })
  }

  async listBanks (request: ListBanksRequest): Promise<BankSummary[]> {
    const { text, values } = listBanksStatement(this.#schema, request)
    const rows = await this.#read<{ tenant_id: string, bank_id: string, memories: number, last_retained_at: number }>(text, values)
    return rows.map((row) => ({ ...toBankKey(row), memoryCount: row.memories, lastRetainedAt: row.last_retained_at }))
  }

  async statistics (bank: BankKey, now: number): Promise<BankStatistics> {
    const [row] = await this.#read<StatisticsRow>(this.#statements.statistics, [...bankParameters(bank), now])
    return {
      ...bank,
      memoryCount: row!.memories,
      passageCount: row!.passages,
      tokens: row!.tokens,
      tagCounts: new Map(JSON.parse(row!.tags) as Array<[string, number]>),
      firstRetainedAt: row!.first_retained_at,
      lastRetainedAt: row!.last_retained_at,
      firstOccurredAt: row!.first_occurred_at,
      lastOccurredAt: row!.last_occurred_at,
    }
  }

  async scan (bank: BankKey, now: number): Promise<{ count: number, memories: AsyncIterable<Memory> }> {
    return await this.#guard(async () => await this.#executor.transaction(async (tx) => (
      await this.#spools.spool(this.#pages(tx, bank, now))
    ), { snapshot: true, bulk: true }))
  }

  async import (bank: BankKey, memories: readonly NewMemory[], onConflict: 'skip' | 'overwrite', now: number, receipt?: Receipt<ImportOutcome>): Promise<ImportOutcome> {
    if (memories.length === 0) return { imported: 0, skipped: 0, overwritten: 0 }
    return await this.#guard(async () => {
      const space = await this.#adopt(bank, memories)
      return await this.#write(bank, now, receipt, async (tx) => await this.#importInto(tx, bank, memories, onConflict, now, space), { bulk: true })
    })
  }

  async close (): Promise<void> {
    await this.#sweeper.stop()
    await this.#indexes?.stop()
    await this.#executor.close()
    await this.#spools.close()
  }

  async #searchBank (bank: BankKey, request: SearchRequest): Promise<{ lexical: Candidate[], semantic: Candidate[], total: number }> {
    const ask = async (indexed: boolean): Promise<CandidateRow[]> => {
      const statement = searchStatement(bank, request, { schema: this.#schema, indexed, ...(this.#space !== undefined && { space: this.#space }) })
      if (statement === undefined) return []
      return await this.#executor.read<CandidateRow>(statement.text, statement.values, { keepPlan: statement.keepPlan === true })
    }
    const indexed = request.semantic !== undefined && this.#indexes?.has(bank) === true
    let rows = await ask(indexed)
    // An index gives up after so many neighbours that a filter takes out, or that are passages of the same memories.
    const found = rows.filter((row) => row.semantic_score !== null).length
    if (indexed && found < Math.min(request.limit, rows[0]?.total ?? Infinity)) rows = await ask(false)
    return { lexical: toCandidates(bank, rows, 'lexical'), semantic: toCandidates(bank, rows, 'semantic'), total: rows[0]?.total ?? 0 }
  }

  async #importInto (tx: Transaction, bank: BankKey, memories: readonly NewMemory[], onConflict: 'skip' | 'overwrite', now: number, space: EmbeddingSpace | undefined): Promise<ImportOutcome> {
    const key = bankParameters(bank)
    const shard = this.#nextShard()
    // Imports into one bank take turns: each then sees what the last one has put in the place of what it overwrote.
    await tx.query(LOCK_IMPORTS, key)
    const rows = await tx.query<{ memory_id: string, fingerprint: string, expires_at: number | null }>(this.#statements.lockStanding, [
      ...key, memories.map(({ memoryId }) => memoryId), memories.map(({ fingerprint }) => fingerprint),
    ])
    const standing = rows.filter(({ expires_at: expiresAt }) => expiresAt === null || expiresAt > now)
      .map((row) => ({ memoryId: row.memory_id, fingerprint: row.fingerprint }))
    const { added, removed, outcome } = planImport(memories, standing, onConflict)
    const counts = { ...NO_COUNTS }
    if (removed.size > 0) {
      const [gone] = await tx.query<Counts>(this.#statements.removeUncounted.ids, [...key, now, [...removed].map(({ memoryId }) => memoryId)])
      addCounts(counts, gone!)
    }
    const insertion = await insertMemories(tx, added, { statements: this.#statements, bank, now, space, shard, counted: false })
      .catch((error: unknown) => { throw isTaken(error) ? collision() : error })
    // Somebody else stored one of the memories between our look and our insert: look again.
    if (insertion.outcomes.some(({ stored }) => !stored)) throw collision()
    addCounts(counts, insertion.counts)
    await this.#count(tx, bank, shard, counts)
    this.#noticed(bank, insertion)
    return outcome
  }

  async * #pages (tx: Transaction, bank: BankKey, now: number): AsyncGenerator<Memory[]> {
    let last: Memory | undefined
    for (;;) {
      const rows = await tx.query<MemoryRow>(this.#statements.scan, [...bankParameters(bank), now, SCAN_PAGE, last?.retainedAt ?? null, last?.memoryId ?? null])
      const page = rows.map(toMemory)
      yield page
      last = page.at(-1)
      if (page.length < SCAN_PAGE) return
    }
  }

  /** Sees to it that the bank has our embedding space before vectors come, unless it is another's. @returns the space, when there are vectors */
  async #adopt (bank: BankKey, memories: readonly NewMemory[]): Promise<EmbeddingSpace | undefined> {
    if (!memories.some(hasVectors)) return undefined
    if (this.#space === undefined) throw new Error('The store was started without an embedding space and cannot keep vectors')
    const { model, dimensions } = this.#space
    const id = bankKeyString(bank)
    if (!this.#adopted.has(id)) {
      await this.#executor.query(this.#statements.adoptSpace, [...bankParameters(bank), model, dimensions])
      remember(this.#adopted, id)
    }
    return this.#space
  }

  #noticed (bank: BankKey, insertion: Insertion): Insertion {
    const id = bankKeyString(bank)
    this.#sweeper.noteChanges(insertion.counts.memories)
    if (insertion.unembedded > 0) {
      this.#adopted.delete(id)
      if (!this.#foreign.has(id)) this.#warn(`embedding_provider: the bank ${bank.bankId} was moved to another model; what is retained there has no vector until the server runs with that provider`)
      remember(this.#foreign, id)
    }
    return insertion
  }

  async #count (tx: Queries, bank: BankKey, shard: number, counts: Counts): Promise<void> {
    const { memories, embedded, expiring, passages, length } = counts
    if (Object.values(counts).some((amount) => amount !== 0)) await tx.query(this.#statements.count, [...bankParameters(bank), shard, memories, embedded, expiring, passages, length])
  }

  /** A write in one transaction with its receipt. It is made again when it surely was undone, and with a receipt also when that is not known. */
  async #write<T> (bank: BankKey, now: number, receipt: Receipt<T> | undefined, work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const once = async () => await this.#executor.transaction(async (tx) => {
      const outcome = await work(tx)
      if (receipt !== undefined) {
        const kept = await tx.query(this.#statements.keepReceipt, [
          ...bankParameters(bank), receipt.key, receipt.requestFingerprint, receipt.answer(outcome), now, now - RECEIPT_LIFETIME_MS,
        ])
        if (kept.length === 0) throw new ReceiptTaken()
      }
      return outcome
    }, options)
    try {
      return await retryUndone(once)
    } catch (error) {
      if (receipt === undefined || !(error instanceof SqlError && error.kind === 'connection')) throw error
      return await once()
    }
  }

  async #read<R extends object> (text: string, values: readonly Param[]): Promise<R[]> {
    return await this.#guard(async () => await this.#executor.read<R>(text, values))
  }

  /** Every question to the database goes through here, once: it has to be ready, and what it says of itself stays inside. */
  async #guard<T> (work: () => Promise<T>): Promise<T> {
    try {
      await this.#readiness.ensure()
      return await work()
    } catch (error) {
      throw toServiceError(error)
    }
  }

  #nextShard (): number {
    this.#turn = (this.#turn + 1) % STATISTICS_SHARDS
    return this.#turn
  }
}

/** The work of an import is to be done anew. */
function collision (): SqlError {
  return new SqlError('statement', 'A memory of the import was stored by somebody else meanwhile', { code: '40001' })
}

interface StatisticsRow {
  memories: number
  passages: number
  tokens: number
  first_retained_at: number | null
  last_retained_at: number | null
  first_occurred_at: number | null
  last_occurred_at: number | null
  tags: string
}

/** Bank names that are remembered at most. */
const REMEMBERED = 100_000

function remember (set: Set<string>, id: string): void {
  if (set.size >= REMEMBERED) set.clear()
  set.add(id)
}
