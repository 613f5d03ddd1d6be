import { DAY_MS } from '../../time/days.js'
import { MAX_COUNTED_VALUES } from '../most-frequent.js'
import { countInto, liveAt, READ_COLUMNS, termsOf } from './fragments.js'
import { neighboursStatement } from './reader.js'
import { isSpeaker, statedSpeaker } from './speakers.js'

/** Number of rows among which a bank's statistics are divided; each write updates one of them. */
export const STATISTICS_SHARDS = 8

export interface Statements {
  /** Quoted. */
  schema: string
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
    schema,
    insert: insert(schema, true),
    insertUncounted: insert(schema, false),
    count: countInto(schema, '$2', 'select $3::float8, $4::float8, $5::float8, $6::float8, $7::float8'),
    findExisting,
    lockExisting: `${findExisting}
order by m.memory_id for update`,
    get: `select ${READ_COLUMNS} from ${schema}.memories m
where m.bank_key = $1 and m.memory_id = $2::text::uuid and ${unexpired('$3')}`,
    neighbours: neighboursStatement(schema),
    // Both reads of `live` are from its copy, which has no texts.
    statistics: `with live as materialized (
  select cardinality(m.passage_starts) as passages, m.embedded, m.tokens, m.retained_at, m.occurred_at, m.tags,
    ${statedSpeaker('m')} as speaker
  from ${schema}.memories m where m.bank_key = $1 and ${unexpired('$2')}
)
select count(*)::int as memories, coalesce(sum(passages), 0)::int as passages,
  (count(*) filter (where not embedded))::int as unembedded, coalesce(sum(tokens), 0)::float8 as tokens,
  min(retained_at)::float8 as first_retained_at, max(retained_at)::float8 as last_retained_at,
  min(occurred_at)::float8 as first_occurred_at, max(occurred_at)::float8 as last_occurred_at,
  ${mostFrequent('tag', 'live, unnest(tags) as tag')} as tags,
  ${mostFrequent('speaker', `live where ${isSpeaker('speaker')}`)} as speakers
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
  }
}

/**
 * Inserts memories with their postings and vectors, all or none. The unique key excludes exact repeats. Rows are
 * inserted by fingerprint, so that two batches lock shared fingerprints in the same order; the statistics come last, so
 * that no transaction waits for a memory while it holds their lock. The lock on the embedding space keeps the bank from
 * being given to another model before the vectors are committed; a move by reembed does not wait for it.
 */
function insert (schema: string, counted: boolean): string {
  return `with input_rows as (
  select * from unnest($2::text[]::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]::bigint[],
    $8::text[]::bigint[],
    $9::text[]::bigint[], $10::text[], $11::text[], $12::text[]::int[], $13::text[], $14::text[], $15::text[],
      $16::text[]::float8[], $17::text[]::boolean[],
    $18::text[]::boolean[], $19::text[])
    with ordinality as g(memory_id, fingerprint, text, tags, metadata, occurred_at, retained_at, expires_at,
      document_id, source, tokens,
      passage_starts, passage_ends, terms, passages_length, embedded, question, trust, position)
),
space as (
  select 1 from ${schema}.embedding_spaces v where v.bank_key = $1 and v.model = $28::text
    and v.dimensions = $29::int for key share
),
added as (
  insert into ${schema}.memories as m (bank_key, memory_id, fingerprint, text, tags, metadata, occurred_at,
    retained_at, expires_at,
    document_id, source, tokens, passage_starts, passage_ends, terms, passages_length, embedded, question, trust)
  select $1, g.memory_id, g.fingerprint, g.text, array(select jsonb_array_elements_text(g.tags::jsonb)),
    g.metadata::jsonb,
    g.occurred_at, g.retained_at, g.expires_at, g.document_id, g.source, g.tokens,
    g.passage_starts::int[], g.passage_ends::int[], ${termsOf('g.terms')}, g.passages_length,
    g.embedded and exists (select 1 from space), g.question, g.trust
  from input_rows g order by g.fingerprint, g.position
  on conflict (bank_key, fingerprint) do nothing
  returning m.memory_id, m.expires_at, m.embedded, cardinality(m.passage_starts) as passages, m.passages_length
),
added_postings as (
  insert into ${schema}.postings (bank_key, term, memory_id, ordinal, weight, length, expires_at)
  select $1, t.term, p.memory_id, p.ordinal, t.weight, p.length, a.expires_at
  from unnest($20::text[]::uuid[], $21::text[]::smallint[], $22::text[]::real[], $23::text[], $24::text[])
    as p(memory_id, ordinal, length, terms, weights)
  join added a on a.memory_id = p.memory_id
  cross join lateral unnest(${termsOf('p.terms')}, p.weights::real[]) as t(term, weight)
),
added_embeddings as (
  insert into ${schema}.embeddings (bank_key, memory_id, ordinal, model, dimensions, expires_at, embedding)
  select $1, e.memory_id, e.ordinal, $28::text, $29::int, a.expires_at, e.embedding::halfvec
  from unnest($25::text[]::uuid[], $26::text[]::smallint[], $27::text[]) as e(memory_id, ordinal, embedding)
  join added a on a.memory_id = e.memory_id and a.embedded
)${counted
  ? `,
counted as (
  ${countInto(schema, '$30', `select count(*)::float8, count(*) filter (where a.embedded),
    count(*) filter (where a.expires_at is not null),
    coalesce(sum(a.passages), 0), coalesce(sum(a.passages_length), 0) from added a having count(*) > 0`)}
)`
  : ''}
select a.memory_id is not null as stored, a.embedded, a.passages, (a.expires_at is not null) as expiring,
  a.passages_length
from input_rows g left join added a on a.memory_id = g.memory_id order by g.position`
}
