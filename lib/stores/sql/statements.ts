import { DAY_MS } from '../../time/days.js'
import { MAX_COUNTED_VALUES } from '../most-frequent.js'
import { countInto, liveAt } from './fragments.js'
import { insertStatement } from './insertion.js'
import { neighboursStatement } from './reader.js'
import { makeRemovalStatements, type RemovalStatements } from './removal.js'
import { READ_COLUMNS } from './rows.js'
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
  /** $1 bank, $2 id, $3 now. */
  get: string
  /** neighboursStatement() */
  neighbours: string
  /** $1 bank, $2 now. */
  statistics: string
  /** $1 bank, $2 now, $3 first day, $4 last day; earlier days are counted under the day before the first. */
  countByDay: string
  /** $1 bank, $2 key, $3 instant after which the record was kept. */
  findIdempotencyRecord: string
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

/** The most frequent values of a column as a JSON array of pairs, as `mostFrequent` has them. */
function mostFrequent (column: string, rows: string): string {
  return `(select coalesce(json_agg(json_build_array(t.value, t.uses)), '[]')::text
   from (
     select ${column} as value, count(*)::int as uses from ${rows}
     group by 1 order by uses desc, ${column} collate "C" limit ${MAX_COUNTED_VALUES}
   ) t)`
}

/** The statements of the store, for tables in a schema (quoted). $1 is the bank's key. */
export function makeStatements (schema: string): Statements {
  const unexpired = (now: string) => liveAt('m', `${now}::float8::bigint`)
  const findExisting = `select m.memory_id::text as memory_id, m.fingerprint, cardinality(m.passage_starts) as passages,
    m.expires_at::float8 as expires_at, m.trust
from ${schema}.memories m
where m.bank_key = $1
  and (m.memory_id = any($2::text[]::uuid[]) or m.fingerprint = any($3::text[]))`
  return {
    insert: insertStatement(schema, true),
    insertUncounted: insertStatement(schema, false),
    count: countInto(schema, '$2', 'select $3::float8, $4::float8, $5::float8, $6::float8, $7::float8'),
    findExisting,
    lockExisting: `${findExisting}
order by m.memory_id for update`,
    removal: makeRemovalStatements(schema),
    locks: makeBankLocks(schema),
    spaces: makeSpaceStatements(schema),
    vectors: makeVectorStatements(schema),
    usage: makeUsageStatements(schema),
    get: `select ${READ_COLUMNS} from ${schema}.memories m
where m.bank_key = $1 and m.memory_id = $2::text::uuid and ${unexpired('$3')}`,
    neighbours: neighboursStatement(schema),
    // Both reads of `live` are from its copy, which has no texts.
    statistics: `with live as materialized (
  select cardinality(m.passage_starts) as passages, m.embedded, m.tokens, m.retained_at, m.occurred_at, m.tags,
    m.speaker
  from ${schema}.memories m where m.bank_key = $1 and ${unexpired('$2')}
)
select count(*)::int as memories, coalesce(sum(passages), 0)::int as passages,
  (count(*) filter (where not embedded))::int as unembedded, coalesce(sum(tokens), 0)::float8 as tokens,
  min(retained_at)::float8 as first_retained_at, max(retained_at)::float8 as last_retained_at,
  min(occurred_at)::float8 as first_occurred_at, max(occurred_at)::float8 as last_occurred_at,
  ${mostFrequent('tag', 'live, unnest(tags) as tag')} as tags,
  ${mostFrequent('speaker', 'live where speaker is not null')} as speakers
from live`,
    // An index-only scan of `memories_in_order`.
    countByDay: `select greatest(floor(m.retained_at::float8 /
      ${DAY_MS})::int, $3::int - 1) as day, count(*)::int as memories
from ${schema}.memories m
where m.bank_key = $1
  and ${unexpired('$2')} and m.retained_at < ($4::int + 1)::bigint * ${DAY_MS}
group by 1`,
    findIdempotencyRecord: `select k.request_fingerprint, k.answer from ${schema}.idempotency_keys k
where k.bank_key = $1 and k.key = $2 and k.kept_at > $3::float8::bigint`,
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
