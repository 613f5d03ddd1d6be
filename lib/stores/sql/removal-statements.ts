import { countInto, tagCondition } from './fragments.js'

/** Expired memories that one statement takes away: so many take well under a second. */
export const EXPIRED_BATCH = 500

type Kind = 'ids' | 'any' | 'all' | 'expired'

/**
 * A memory goes in two statements of a transaction: the first locks its row, the second takes it away with everything
 * that belongs to it. The second sees what others had done to it before they let the first have the lock, as vectors
 * that came late.
 */
export interface RemovalStatements {
  /**
   * $1 tenant, $2 bank, $3 now, $4 ids or tags: locks the memories, a batch of them for `expired`, and answers their
   * `ids` in order, in one text. One row, however many they are, is read in one look at the bank and without holding up
   * the process.
   */
  choose: Record<Kind, string>
  /**
   * The same of the memories in documents: $4 documents, $5 ids and $6 fingerprints of those that are left.
   */
  chooseDocuments: string
  /**
   * $1 tenant, $2 bank, $3 ids, $4 shard. Answers what the bank's statistics lose: a row of Counts, each 0 or above.
   */
  remove: string
  /** The same without the statistics. */
  removeUncounted: string
  /** $1 tenant, $2 bank, $3 now, $4 shard, $5 ids named at most: everything, expired or not; counts what was there. */
  removeBank: string
  /** $1 tenant, $2 bank, $3 now, $4 ids named at most, $5 ids or tags. */
  wouldRemove: Record<'ids' | 'any' | 'all' | 'bank', string>
  /** $1 tenant, $2 bank: the rows of the index that servers of the last release lent to neighbours. */
  dropLent: string
}

export function makeRemovalStatements (schema: string): RemovalStatements {
  const unexpired = '(m.expires_at is null or m.expires_at > $3::float8::bigint)'
  const selectors = {
    ids: (at: string) => `m.memory_id = any(${at}::text[]::uuid[]) and ${unexpired}`,
    any: (at: string) => `${tagCondition(at, 'any')} and ${unexpired}`,
    all: (at: string) => `${tagCondition(at, 'all')} and ${unexpired}`,
  }
  const expired = 'm.expires_at <= $3::float8::bigint'
  const choose = (selector: string, limit = '') => `with chosen as materialized (
  select m.memory_id from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and ${selector} order by m.memory_id${limit} for update
)
select coalesce((select string_agg(c.memory_id::text, '' order by c.memory_id) from chosen c), '') as ids`
  const wouldRemove = (selector: string) => answer('m.memory_id', `${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and ${selector}`, '$4')
  return {
    choose: { ids: choose(selectors.ids('$4')), any: choose(selectors.any('$4')), all: choose(selectors.all('$4')), expired: choose(expired, ` limit ${EXPIRED_BATCH}`) },
    chooseDocuments: choose(`m.document_id = any($4::text[]) and ${unexpired}
    and m.memory_id <> all($5::text[]::uuid[]) and m.fingerprint <> all($6::text[])`),
    remove: remove(schema, true),
    removeUncounted: remove(schema, false),
    removeBank: removeBank(schema),
    wouldRemove: {
      ids: wouldRemove(selectors.ids('$5')),
      any: wouldRemove(selectors.any('$5')),
      all: wouldRemove(selectors.all('$5')),
      bank: wouldRemove(unexpired),
    },
    dropLent: `delete from ${schema}.postings p where p.tenant_id = $1 and p.bank_id = $2 and p.own = 0`,
  }
}

function remove (schema: string, counted: boolean): string {
  return `with gone as (
  delete from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = any($3::text[]::uuid[])
  returning m.memory_id, m.terms, m.embedded, m.expires_at, cardinality(m.passage_starts) as passages, m.passages_length
),
gone_postings as (
  delete from ${schema}.postings p using (select g.memory_id, t.term from gone g, unnest(g.terms) as t(term)) g
  where p.tenant_id = $1 and p.bank_id = $2 and p.term = g.term and p.memory_id = g.memory_id
),
gone_embeddings as (
  delete from ${schema}.embeddings e using gone g where e.tenant_id = $1 and e.bank_id = $2 and e.memory_id = g.memory_id
)${counted ? `,\n${counting(schema)}` : ''}
select count(*)::int as memories, (count(*) filter (where g.embedded))::int as embedded, (count(*) filter (where g.expires_at is not null))::int as expiring,
  coalesce(sum(g.passages), 0)::int as passages, coalesce(sum(g.passages_length), 0) as length
from gone g`
}

/**
 * All memories of a bank, expired ones too, with postings and vectors taken by range. One statement has one snapshot:
 * what is added meanwhile stays whole. The memories are locked in order first, by a condition that is judged once, and
 * then taken by range as well: joined to what was locked, a bank that the planner does not know yet would be looked
 * through again for each of its memories.
 */
function removeBank (schema: string): string {
  return `with target as materialized (
  select m.memory_id from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 order by m.memory_id for update
),
gone as (
  delete from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and (select count(*) from target) > 0
  returning m.memory_id, m.embedded, m.expires_at, cardinality(m.passage_starts) as passages, m.passages_length
),
gone_postings as (
  delete from ${schema}.postings p where p.tenant_id = $1 and p.bank_id = $2
),
gone_embeddings as (
  delete from ${schema}.embeddings e where e.tenant_id = $1 and e.bank_id = $2
),
${counting(schema)}
${answer('g.memory_id', 'gone g where g.expires_at is null or g.expires_at > $3::float8::bigint', '$5')}`
}

function counting (schema: string): string {
  return `counted as (
  ${countInto(schema, '$4', `select -count(*)::float8, -(count(*) filter (where g.embedded))::float8, -(count(*) filter (where g.expires_at is not null))::float8,
    -coalesce(sum(g.passages), 0)::float8, -coalesce(sum(g.passages_length), 0) from gone g having count(*) > 0`)}
)`
}

function answer (id: string, from: string, most: string): string {
  return `select count(*)::int as count, coalesce((array_agg(${id}::text order by ${id}))[1:${most}::int], '{}') as memory_ids from ${from}`
}
