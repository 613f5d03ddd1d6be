import { countInto, insertVectors, liveAt } from './fragments.js'

export interface AttachedRow {
  attached: number
  /** Whether the bank's vectors are of the configured embedding space. */
  is_configured_space: boolean
}

export interface VectorStatements {
  /**
   * $1 tenant, $2 bank, $3 model, $4 dimensions, $5 shard, $6 now; for each memory $7 its id, $8 its fingerprint and
   * $9 its number of vectors; for each vector $10 memory id, $11 ordinal and $12 text: adds vectors to memories without
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
  select v.model from ${schema}.embedding_spaces v where v.tenant_id = $1 and v.bank_id = $2 and v.model = $3
    and v.dimensions = $4::int for share
),
existing as materialized (
  select m.memory_id, m.expires_at from ${schema}.memories m
  join unnest($7::text[]::uuid[], $8::text[], $9::text[]::int[]) as g(memory_id, fingerprint, vectors)
    on g.memory_id = m.memory_id and g.fingerprint = m.fingerprint and g.vectors = cardinality(m.passage_starts)
  where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = any($7::text[]::uuid[]) and exists (select from space)
    and not m.embedded and ${liveAt('m', '$6::float8::bigint')}
  order by m.memory_id for no key update of m
),
added as (
  ${insertVectors(schema)}
),
flagged as (
  update ${schema}.memories m set embedded = true from existing s where m.tenant_id = $1 and m.bank_id = $2
    and m.memory_id = s.memory_id
  returning m.memory_id
),
counted as (
  ${countInto(schema, '$5', 'select 0::float8, count(*), 0, 0, 0 from flagged f having count(*) > 0')}
)
select (select count(*)::int from flagged) as attached, exists (select from space) as is_configured_space`,
  }
}
