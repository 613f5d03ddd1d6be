import type { BankKey } from '../../access/context.js'
import type { Clock } from '../../base/clock.js'
import { dayOf } from '../../base/days.js'
import { messageOf } from '../../base/message-of.js'
import { IDEMPOTENCY_LIFETIME_MS } from '../vector-store.js'
import { ALL_BANKS } from './bank-configs.js'
import { retrySerializationFailures, SqlError, type Executor, type Param } from './executor.js'
import { EXPIRED_BATCH, removeChosen } from './removal.js'
import { bankParameters, toBankKey, type BankRow } from './rows.js'

interface SweeperOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  /** 0: no sweeps, and this process neither vacuums nor analyzes. */
  intervalMs: number
  /** Whether to vacuum and analyze here: PGlite has no autovacuum. */
  vacuum: boolean
}

/** Maximum number of banks that one round sweeps, of each kind of row. */
const BANKS_PER_ROUND = 1000
/** Maximum number of idempotency records that one statement deletes, in well under a second. */
const RECORDS_BATCH = 1000
/** Interval of the search for banks without memories, which reads the statistics of all banks. */
const EMPTY_INTERVAL_MS = 3_600_000
/** Memories written or removed after which tables are vacuumed: a minimum, and a share of those at the last vacuum. */
const VACUUM_AFTER = 500
const VACUUM_SHARE = 0.2
/**
 * Number of memories written by this process at which tables are analyzed, first and then at each doubling; above the
 * upper bound autovacuum alone analyzes.
 */
const ANALYZE_FROM = 250
const ANALYZE_UP_TO = 100_000
const TABLES = [
  'memories', 'postings', 'embeddings', 'memories_past', 'postings_past', 'embeddings_past', 'removed_memories',
  'proposals', 'extraction_jobs', 'bank_statistics', 'bank_locks', 'idempotency_keys', 'embedding_spaces',
  'daily_usage', 'rate_limits', 'bank_configurations', 'bank_configuration_history', 'bank_configuration_changes',
]
/** The condition on the summed statistics of a bank without memories. Lengths are fractions, so they may not add up. */
const EMPTY = 'sum(e.memories) = 0 and sum(e.passages) = 0 and sum(e.embedded) = 0 and sum(e.expiring) = 0'

/**
 * Permanently removes what has expired: memories, which no result contains any more, records of idempotency keys, the
 * usage counts of past days and minutes, and the statistics of banks without memories. Any number of servers may sweep
 * concurrently. It proceeds bank by bank, because a transaction involves one bank.
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
  #emptiedAt = -Infinity
  #failures: SqlError[] = []

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
          warn(`vector_store: some expired memories or records could not be removed: ${messageOf(error)}`)
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

  /**
   * Removes what has expired at `now`.
   * @throws the first error, when everything that it does not concern has been removed
   */
  async sweep (now: number): Promise<void> {
    const { executor, schema } = this.#options
    this.#failures = []
    for (const table of ['memories', 'memories_past']) {
      const expired = `from ${schema}.${table} e where e.expires_at <= $1::float8::bigint`
      await this.#eachBank(expired, [now], async (bank) => (
        await this.#removeExpired(bank, now) >= EXPIRED_BATCH
      ))
    }
    const keptBefore = now - IDEMPOTENCY_LIFETIME_MS
    const dropRecords = `with gone as (
  delete from ${schema}.idempotency_keys k where k.bank_key = $1 and k.key = any(array(
    select o.key from ${schema}.idempotency_keys o where o.bank_key = $1
      and o.kept_at <= $2::float8::bigint order by o.kept_at limit $3::int
  )) and k.kept_at <= $2::float8::bigint returning k.key
)
select count(*)::int as dropped from gone`
    const records = `from ${schema}.idempotency_keys e where e.kept_at <= $1::float8::bigint`
    await this.#eachBank(records, [keptBefore], async (bank) => {
      const values = [...bankParameters(bank), keptBefore, RECORDS_BATCH]
      const [row] = await executor.query<{ dropped: number }>(dropRecords, values)
      return row!.dropped === RECORDS_BATCH
    })
    // Yesterday is kept: reservations from before midnight may still be adjusted, and other servers' clocks may be
    // behind.
    const firstDay = dayOf(now) - 1
    await this.#eachBank(`from ${schema}.daily_usage e where e.day < $1::int`, [firstDay], async (bank) => {
      await executor.query(
        `delete from ${schema}.daily_usage u where u.bank_key = $1 and u.day < $2::int`,
        [...bankParameters(bank), firstDay],
      )
    })
    await this.#attempt(async () => {
      if (this.#stopped) return
      // A key has a row of its own in each minute, so no other statement waits for this one.
      await executor.query(`delete from ${schema}.rate_limits r where r.expire <= $1::float8::bigint`, [now])
    })
    await this.#dropEmptyStatistics(now)
    await this.#vacuum()
    const [failure] = this.#failures
    if (failure !== undefined) throw failure
  }

  /**
   * Does the work for each bank with such rows, again while it returns true. What fails is left to the next round; an
   * error that concerns the whole database ends this one.
   * @param rows the clauses that select them, from a table `e`
   */
  async #eachBank (
    rows: string, values: readonly Param[], work: (bank: BankKey) => Promise<boolean | void>,
  ): Promise<void> {
    await this.#attempt(async () => {
      if (this.#stopped) return
      const banks = await this.#options.executor.read<BankRow>(
        `select distinct e.bank_key ${rows} limit ${BANKS_PER_ROUND}`, values,
      )
      for (const bank of banks) {
        await this.#attempt(async () => { while (!this.#stopped && await work(toBankKey(bank)) === true); })
      }
    })
  }

  async #attempt (work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof SqlError && ['statement', 'timeout'].includes(error.kind))) throw error
      this.#failures.push(error)
    }
  }

  /** A bank that was emptied would otherwise leave its name and its statistics for ever. */
  async #dropEmptyStatistics (now: number): Promise<void> {
    const { executor, schema } = this.#options
    if (now - this.#emptiedAt < EMPTY_INTERVAL_MS) return
    this.#emptiedAt = now
    const rows = `from ${schema}.bank_statistics e group by e.bank_key having ${EMPTY}`
    await this.#eachBank(rows, [], async (bank) => {
      const key = bankParameters(bank)
      await retrySerializationFailures(async () => await executor.transaction(async (tx) => {
        // The lock lets the deletion see every change of the statistics.
        await tx.query(`select s.shard from ${schema}.bank_statistics s where s.bank_key = $1
order by s.shard for update`, key)
        await tx.query(`delete from ${schema}.bank_statistics s where s.bank_key = $1 and exists (
  select 1 from ${schema}.bank_statistics e where e.bank_key = $1 having ${EMPTY}
)`, key)
      }))
    })
    // Proposals about memories that are gone, which no list shows any more.
    const isGone = (column: string) => `not exists (
  select 1 from ${schema}.memories m where m.bank_key = e.bank_key and m.memory_id = e.${column}
) and not exists (
  select 1 from ${schema}.memories_past m where m.bank_key = e.bank_key and m.memory_id = e.${column}
)`
    const gone = `((${isGone('memory_id')}) or (${isGone('may_supersede')}))`
    await this.#eachBank(`from ${schema}.proposals e where ${gone}`, [], async (bank) => {
      await executor.query(`delete from ${schema}.proposals e where e.bank_key = $1 and ${gone}`, bankParameters(bank))
    })
    // One that a write holds stays until the next time.
    await this.#eachBank(`from ${schema}.bank_locks e where e.bank_key <> '${ALL_BANKS}' and not exists (
  select 1 from ${schema}.memories m where m.bank_key = e.bank_key
)`, [], async (bank) => {
      await executor.query(`delete from ${schema}.bank_locks l where l.bank_key = $1 and l.bank_key in (
  select o.bank_key from ${schema}.bank_locks o where o.bank_key = $1 for update skip locked
)`, bankParameters(bank))
    })
  }

  async #removeExpired (bank: BankKey, now: number): Promise<number> {
    const { executor, schema } = this.#options
    const { count } = await retrySerializationFailures(async () => (
      await executor.transaction(async (tx) => (
        await removeChosen(tx, schema, bank, { kind: 'expired' }, { now, shard: 0, idLimit: 0 })
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
    for (const table of TABLES) await executor.maintain(`analyze (skip_locked) ${schema}.${table}`)
  }

  /** Frees space for new rows, and updates planner statistics. */
  async #vacuum (): Promise<void> {
    const { executor, schema, vacuum } = this.#options
    const threshold = Math.max(VACUUM_AFTER, this.#changesVacuumed * VACUUM_SHARE)
    if (!vacuum || this.#changes - this.#changesVacuumed < threshold) return
    this.#changesVacuumed = this.#changes
    for (const table of TABLES) {
      if (this.#stopped) return
      await executor.maintain(`vacuum (analyze) ${schema}.${table}`)
    }
  }
}
