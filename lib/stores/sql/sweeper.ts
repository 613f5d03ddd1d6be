import type { Clock } from '../../time/clock.js'
import { dayOf } from '../../time/days.js'
import type { BankKey } from '../../identity/context.js'
import { IDEMPOTENCY_LIFETIME_MS } from '../vector-store.js'
import type { Executor, Queries } from './executor.js'
import { removeChosen } from './removal.js'
import { EXPIRED_BATCH } from './removal-statements.js'
import { retrySerializationFailures } from './retrying.js'
import { toBankKey } from './rows.js'
import type { Statements } from './statements.js'
import { messageOf } from '../../errors/message-of.js'

export interface SweeperOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  statements: Statements
  /** 0: no periodic sweep. */
  intervalMs: number
  /** Whether to vacuum and analyze here: PGlite has no autovacuum. */
  vacuum: boolean
}

/** Maximum number of banks that one round sweeps. */
const BANKS_PER_ROUND = 1000
/** Memories written or removed after which tables are vacuumed: a minimum, and a share of those at the last vacuum. */
const VACUUM_AFTER = 500
const VACUUM_SHARE = 0.2
/**
 * Number of memories written by this process at which tables are analyzed, first and then at each doubling; above the
 * upper bound autovacuum alone analyzes.
 */
const ANALYZE_FROM = 250
const ANALYZE_UP_TO = 100_000
const VACUUMED = [
  'memories', 'postings', 'embeddings', 'bank_statistics', 'idempotency_keys', 'embedding_spaces', 'daily_usage',
  'bank_configurations', 'bank_configuration_history', 'bank_configuration_changes',
]

/**
 * Permanently removes what has expired: memories, which no result contains any more, records of idempotency keys, and
 * the usage counts of past days. Any number of servers may sweep concurrently. It proceeds bank by bank, because a
 * transaction involves one bank.
 */
export class Sweeper {
  readonly #options: SweeperOptions
  #timer: NodeJS.Timeout | undefined
  #inFlight: Promise<void> | undefined
  #stopped = false
  #warn: (message: string) => void = () => {}
  #analyzing = false
  #analyzeAt = ANALYZE_FROM
  #changes = 0
  #changesVacuumed = 0

  constructor (options: SweeperOptions) {
    this.#options = options
  }

  start (clock: Clock, warn: (message: string) => void): void {
    this.#warn = warn
    const { intervalMs } = this.#options
    if (intervalMs === 0) return
    this.#timer = setInterval(() => {
      this.#inFlight ??= this.sweep(clock())
        .catch((error: unknown) => {
          warn(`vector_store: expired memories could not be removed: ${messageOf(error)}`)
        })
        .finally(() => { this.#inFlight = undefined })
    }, intervalMs)
    this.#timer.unref()
  }

  /**
   * Counts memories that were written or removed. The tables of a new database are analyzed as they grow: the server's
   * autoanalyze comes a minute late, and until then plans for empty tables are slow. A large write waits for the
   * analysis: a search right after it could scan the whole bank for each memory that it finds.
   */
  async noteChanges (memories: number): Promise<void> {
    this.#changes += memories
    if (this.#options.intervalMs === 0 || this.#analyzing || this.#stopped) return
    if (this.#changes < this.#analyzeAt || this.#analyzeAt > ANALYZE_UP_TO) return
    while (this.#analyzeAt <= this.#changes) this.#analyzeAt *= 2
    this.#analyzing = true
    const analysis = this.#analyze().catch((error: unknown) => {
      // A closing store does not wait for the analysis, and so cancels it.
      if (!this.#stopped) this.#warn(`vector_store: the tables could not be analyzed: ${messageOf(error)}`)
    }).finally(() => { this.#analyzing = false })
    if (memories >= ANALYZE_FROM) await analysis
  }

  async stop (): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#inFlight
  }

  /** Removes what has expired at `now`. */
  async sweep (now: number): Promise<void> {
    const { executor, schema, statements } = this.#options
    const expired = await executor.read<{ tenant_id: string, bank_id: string }>(`select distinct m.tenant_id, m.bank_id
      from ${schema}.memories m
where m.expires_at <= $1::float8::bigint limit ${BANKS_PER_ROUND}`, [now])
    for (const bank of expired) {
      let removed: number
      do {
        removed = await this.#removeBatch(toBankKey(bank), now)
      } while (removed === EXPIRED_BATCH && !this.#stopped)
      if (this.#stopped) return
    }
    const expiredBefore = now - IDEMPOTENCY_LIFETIME_MS
    const banksWithRecords = await executor.read<{ tenant_id: string, bank_id: string }>(`select distinct k.tenant_id,
      k.bank_id from ${schema}.idempotency_keys k
where k.kept_at <= $1::float8::bigint limit ${BANKS_PER_ROUND}`, [expiredBefore])
    for (const { tenant_id: tenant, bank_id: bank } of banksWithRecords) {
      await executor.query(statements.dropIdempotencyRecords, [tenant, bank, expiredBefore])
    }
    // Yesterday is kept: reservations from before midnight may still be adjusted, and other servers' clocks may be
    // behind.
    const firstDay = dayOf(now) - 1
    const usedBanks = await executor.read<{ tenant_id: string, bank_id: string }>(`select distinct u.tenant_id,
      u.bank_id from ${schema}.daily_usage u
where u.day < $1::int limit ${BANKS_PER_ROUND}`, [firstDay])
    for (const bank of usedBanks) await executor.query(statements.usage.drop, [bank.tenant_id, bank.bank_id, firstDay])
    // Servers of the previous release, which may still run, also index a memory under the terms of its neighbours. Such
    // postings remain after the neighbour is removed.
    const neighbourPostings = await executor.read<{ tenant_id: string, bank_id: string }>(`select distinct p.tenant_id,
      p.bank_id from ${schema}.postings p
where p.own = 0 limit ${BANKS_PER_ROUND}`)
    for (const { tenant_id: tenant, bank_id: bank } of neighbourPostings) {
      const drop = async (tx: Queries) => await tx.query(statements.removal.dropNeighbourPostings, [tenant, bank])
      await executor.transaction(drop, { bulk: true })
    }
    await this.#vacuum()
  }

  async #removeBatch (bank: BankKey, now: number): Promise<number> {
    const { executor, statements } = this.#options
    const { count } = await retrySerializationFailures(async () => (
      await executor.transaction(async (tx) => (
        await removeChosen(tx, statements, bank, { kind: 'expired', now }, { shard: 0, idLimit: 0 })
      ))
    ))
    return count
  }

  /**
   * For a role that does not own the tables the server only raises a notice. A table that another session vacuums or
   * indexes is skipped instead of waited for.
   */
  async #analyze (): Promise<void> {
    const { executor, schema } = this.#options
    for (const table of VACUUMED) await executor.maintain(`analyze (skip_locked) ${schema}.${table}`)
  }

  /** Frees space for new rows, and updates planner statistics. */
  async #vacuum (): Promise<void> {
    const { executor, schema, vacuum } = this.#options
    const threshold = Math.max(VACUUM_AFTER, this.#changesVacuumed * VACUUM_SHARE)
    if (!vacuum || this.#changes - this.#changesVacuumed < threshold) return
    this.#changesVacuumed = this.#changes
    for (const table of VACUUMED) await executor.maintain(`vacuum (analyze) ${schema}.${table}`)
  }
}
