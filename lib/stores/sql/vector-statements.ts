import { countInto, insertVectors, liveAt } from './fragments.js'

export interface AttachedRow {
  attached: number
  /** Whether the bank's vectors are of the configured embedding space. */
  is_configured_space: boolean
}

export interface VectorStatements {
  /**
   * $1 bank, $2 model, $3 dimensions, $4 shard, $5 now; for each memory $6 its id, $7 its fingerprint and
   * $8 its number of vectors; for each vector $9 memory id, $10 ordinal and $11 text: adds vectors to memories without
   * them. Returns an AttachedRow.
   */
  attach: string
}

/** Statements on vectors that are stored after their memories, for tables in a schema (quoted). */
export function makeVectorStatements (schema: string): VectorStatements {
  return {
    // The lock on the space prevents a concurrent move of the bank to another model; those on memories prevent their
    // concurrent removal.
    attach: `with space as materialized (
  select v.model from ${schema}.embedding_spaces v where v.bank_key = $1 and v.model = $2
    and v.dimensions = $3::int for share
),
existing as materialized (
  select m.memory_id, m.expires_at from ${schema}.memories m
  join unnest($6::text[]::uuid[], $7::text[], $8::text[]::int[]) as g(memory_id, fingerprint, vectors)
    on g.memory_id = m.memory_id and g.fingerprint = m.fingerprint and g.vectors = cardinality(m.passage_starts)
  where m.bank_key = $1 and m.memory_id = any($6::text[]::uuid[]) and exists (select 1 from space)
    and not m.embedded and ${liveAt('m', '$5::float8::bigint')}
  order by m.memory_id for no key update of m
),
added as (
  ${insertVectors(schema)}
),
flagged as (
  update ${schema}.memories m set embedded = true from existing s where m.bank_key = $1
    and m.memory_id = s.memory_id
  returning m.memory_id
),
counted as (
  ${countInto(schema, '$4', 'select 0::float8, count(*), 0, 0, 0 from flagged f having count(*) > 0')}
)
select (select count(*)::int from flagged) as attached, exists (select 1 from space) as is_configured_space`,
  }
}
