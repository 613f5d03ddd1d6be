import { countInto, insertVectors } from './fragments.js'

export type ReembeddingStatements = Record<
  'progress' | 'missing' | 'addVectors' | 'lockSpace' | 'move' | 'flag' | 'dropVectors', string
>

/** $1 bank in each; $2 the model, where needed. */
export function makeReembeddingStatements (schema: string): ReembeddingStatements {
  const lacking = `not exists (
  select 1 from ${schema}.embeddings e
  where e.bank_key = $1 and e.memory_id = m.memory_id and e.model = $2
)`
  return {
    progress: `select count(*)::int as total, (count(*) filter (where not (${lacking})))::int as done
from ${schema}.memories m where m.bank_key = $1`,
    missing: `select m.memory_id::text as memory_id, m.fingerprint, m.text, m.metadata::text as metadata,
  m.passage_starts, m.passage_ends
from ${schema}.memories m
where m.bank_key = $1 and ($4::text is null or m.memory_id > $4::text::uuid) and ${lacking}
order by m.memory_id limit $3::int`,
    // The lock prevents the removal of a memory between the lookup and the insert, which would leave its vector behind.
    // A memory with another fingerprint or other passages has been replaced since its text was read; the next round
    // embeds the new ones. An equal text has other passages when the length of passages was configured anew.
    addVectors: `with existing as (
  select m.memory_id, m.expires_at from ${schema}.memories m
  join unnest($5::text[]::uuid[], $6::text[], $7::text[], $8::text[]) as g(memory_id, fingerprint, starts, ends)
    on g.memory_id = m.memory_id and g.fingerprint = m.fingerprint
    and g.starts::int[] = m.passage_starts and g.ends::int[] = m.passage_ends
  where m.bank_key = $1 and m.memory_id = any($5::text[]::uuid[])
  order by m.memory_id for no key update of m
),
added as (
  ${insertVectors(schema)}
  returning memory_id
),
flagged as (
  update ${schema}.memories m set embedded = true from (select distinct memory_id from added) a
  where m.bank_key = $1 and m.memory_id = a.memory_id and not m.embedded
    and exists (
      select 1 from ${schema}.embedding_spaces v
      where v.bank_key = $1 and v.model = $2 and v.dimensions = $3::int
    )
  returning m.memory_id
)
${countInto(schema, '$4', 'select 0::float8, count(*), 0, 0, 0 from flagged f having count(*) > 0')}`,
    // Writes do not wait for the move, except those that only add vectors.
    lockSpace: `select (v.model = $2 and v.dimensions = $3::int) as is_configured_space
from ${schema}.embedding_spaces v where v.bank_key = $1 for no key update`,
    move: `update ${schema}.embedding_spaces v set model = $2, dimensions = $3::int
where v.bank_key = $1`,
    // Counts the rows that this statement changes, independent of concurrent writes.
    flag: `with flagged as (
  update ${schema}.memories m set embedded = not m.embedded
  where m.bank_key = $1 and m.embedded = ${lacking}
  returning m.embedded
)
${countInto(schema, '$3', `select 0::float8,
  count(*) filter (where f.embedded) - count(*) filter (where not f.embedded), 0, 0, 0
from flagged f having count(*) > 0`)}`,
    dropVectors: `with old as (
  select e.memory_id, e.ordinal, e.model from ${schema}.embeddings e
  where e.bank_key = $1 and e.model <> $2
  order by e.memory_id, e.ordinal limit $3::int
),
dropped as (
  delete from ${schema}.embeddings e using old o
  where e.bank_key = $1 and e.memory_id = o.memory_id and e.ordinal = o.ordinal
    and e.model = o.model
  returning e.memory_id
)
select count(*)::int as dropped from dropped`,
  }
}
