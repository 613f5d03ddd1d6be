import { countInto } from './fragments.js'
import { findExisting, insertStatement } from './insertion.js'
import { makeRemovalStatements, type RemovalStatements } from './removal.js'
import { makeSpaceStatements, type SpaceStatements } from './vector-writer.js'
import { makeUsageStatements, type UsageStatements } from './usage.js'
import { makeVectorStatements, type VectorStatements } from './vector-writer.js'

/** Number of rows among which a bank's statistics are divided; each write updates one of them. */
export const STATISTICS_SHARDS = 8

/** The condition on the summed statistics of a bank without memories. Lengths are fractions, so they may not add up. */
export const EMPTY = 'sum(e.memories) = 0 and sum(e.passages) = 0 and sum(e.embedded) = 0 and sum(e.expiring) = 0'

/**
 * Statements that take the advisory locks of a bank ($1 bank), which end with the transaction. Each lock is
 * a statement of its own, because a statement sees only what was committed before it began.
 */
interface BankLocks {
  /** Exclusive; conflicts with `lockBank` and `shareBank` of other transactions. */
  lockBank: string
  /** Shared; conflicts with `lockBank` of other transactions. */
  shareBank: string
  /** Exclusive right to import into the bank. */
  lockImports: string
}

export interface Statements {
  /**
   * The arrays of an InsertionBatch, the model and dimensions of the vectors, and the shard; returns a row for each
   * memory, in order.
   */
  insert: string
  /** The same without updating the statistics, which a transaction of several inserts updates once, at its end. */
  insertUncounted: string
  /** $1 bank, $2 shard, $3–$7 change of each count. */
  count: string
  /** $1 bank, $2 ids, $3 fingerprints: the memories that have one of them, as ExistingRows. */
  findExisting: string
  /** The same, and locks the rows. */
  lockExisting: string
  removal: RemovalStatements
  locks: BankLocks
  spaces: SpaceStatements
  vectors: VectorStatements
  usage: UsageStatements
  /**
   * $1 bank, $2 key, $3 fingerprint, $4 text of the record, $5 now, $6 instant up to which older records are
   * void. Returns a row, or none when the key is taken.
   */
  keepIdempotencyRecord: string
  /** $1 bank, $2 instant up to which records were kept, $3 maximum number. Returns how many `dropped`. */
  dropIdempotencyRecords: string
  /** $1 bank: locks the bank's statistics, so that `dropEmptyStatistics` sees every change to them. */
  lockStatistics: string
  /** $1 bank: deletes the statistics of a bank without memories, which are 0 in sum. */
  dropEmptyStatistics: string
}

/** The statements of the store, for tables in a schema (quoted). $1 is the bank's key. */
export function makeStatements (schema: string): Statements {
  return {
    insert: insertStatement(schema, true),
    insertUncounted: insertStatement(schema, false),
    count: countInto(schema, '$2', 'select $3::float8, $4::float8, $5::float8, $6::float8, $7::float8'),
    findExisting: findExisting(schema),
    lockExisting: `${findExisting(schema)}
order by m.memory_id for update`,
    removal: makeRemovalStatements(schema),
    locks: makeBankLocks(schema),
    spaces: makeSpaceStatements(schema),
    vectors: makeVectorStatements(schema),
    usage: makeUsageStatements(schema),
    keepIdempotencyRecord: `insert into ${schema}.idempotency_keys as k (bank_key, key, request_fingerprint, answer,
  kept_at)
values ($1, $2, $3, $4, $5::float8::bigint)
on conflict (bank_key, key) do update set request_fingerprint = excluded.request_fingerprint,
  answer = excluded.answer, kept_at = excluded.kept_at
where k.kept_at <= $6::float8::bigint
returning k.key`,
    dropIdempotencyRecords: `with gone as (
  delete from ${schema}.idempotency_keys k where k.bank_key = $1 and k.key = any(array(
    select o.key from ${schema}.idempotency_keys o where o.bank_key = $1
      and o.kept_at <= $2::float8::bigint order by o.kept_at limit $3::int
  )) and k.kept_at <= $2::float8::bigint returning k.key
)
select count(*)::int as dropped from gone`,
    lockStatistics: `select s.shard from ${schema}.bank_statistics s where s.bank_key = $1
order by s.shard for update`,
    dropEmptyStatistics: `delete from ${schema}.bank_statistics s where s.bank_key = $1 and exists (
  select 1 from ${schema}.bank_statistics e where e.bank_key = $1 having ${EMPTY}
)`,
  }
}

/**
 * The keys include the schema, because advisory locks belong to the database: work in one schema must not wait for work
 * in another.
 * @param schema quoted
 */
export function makeBankLocks (schema: string): BankLocks {
  const key = (what: string) => `hashtextextended('memory-gateway ${what} ${schema} ' || $1, 0)`
  return {
    lockBank: `select pg_advisory_xact_lock(${key('context')})::text`,
    shareBank: `select pg_advisory_xact_lock_shared(${key('context')})::text`,
    lockImports: `select pg_advisory_xact_lock(${key('import')})::text`,
  }
}
