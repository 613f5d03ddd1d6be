import { REACH } from '../context.js'

/** Documents that one write locks one by one; beyond these it locks the whole bank. */
export const MOST_DOCUMENTS = 32

export interface ContextStatements {
  /**
   * $1 tenant, $2 bank: nobody else changes a document of the bank, until the transaction ends. A statement sees what was there when it
   * began, so a lock comes in one of its own.
   */
  lockBank: string
  /** $1 tenant, $2 bank, $3 documents: nobody else changes these documents, or has the whole bank. Taken in one order. */
  lockDocuments: string
  /** $1 tenant, $2 bank, of places $3 documents, $4 instants and $5 ids: the members that stand next to them, as MemberRows. */
  neighbours: string
  /** $1 tenant, $2 bank, $3 terms and $4 ids of rows of the index that go. */
  drop: string
  /** $1 tenant, $2 bank, of rows of the index $3 terms, $4 ids, $5 weights, $6 own ones, $7 lengths and $8 expiries. */
  write: string
}

/** Statements on the context of a bank's memories, for tables in a schema (quoted). */
export function makeContextStatements (schema: string): ContextStatements {
  const bankKey = 'hashtextextended(\'memory-gateway context \' || $1 || chr(1) || $2, 0)'
  const at = (alias: string) => `(coalesce(${alias}.occurred_at, ${alias}.retained_at), ${alias}.memory_id)`
  const beside = (alias: string, comparison: '<' | '>') => `(select ${alias}.memory_id from ${schema}.memories ${alias}
      where ${alias}.tenant_id = $1 and ${alias}.bank_id = $2 and ${alias}.document_id = p.document_id and ${alias}.own_terms is not null and ${at(alias)} ${comparison} (p.at, p.memory_id)
      order by coalesce(${alias}.occurred_at, ${alias}.retained_at)${comparison === '<' ? ' desc' : ''}, ${alias}.memory_id${comparison === '<' ? ' desc' : ''} limit ${2 * REACH})`
  return {
    lockBank: `select pg_advisory_xact_lock(${bankKey})::text`,
    lockDocuments: `select pg_advisory_xact_lock_shared(${bankKey})::text as locked
union all
select pg_advisory_xact_lock(d.key)::text from (
  select distinct hashtextextended('memory-gateway document ' || $1 || chr(1) || $2 || chr(1) || t.document, 0) as key from unnest($3::text[]) as t(document) order by 1
) d`,
    neighbours: `select ${memberColumns('m')}
from (
  select distinct n.memory_id
  from unnest($3::text[], $4::text[]::bigint[], $5::text[]::uuid[]) as p(document_id, at, memory_id) cross join lateral (
    ${beside('b', '<')}
    union all
    ${beside('f', '>')}
  ) n
) n
cross join lateral (
  select m.* from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = n.memory_id offset 0
) m`,
    drop: `delete from ${schema}.postings p using unnest($3::text[], $4::text[]::uuid[]) as d(term, memory_id)
where p.tenant_id = $1 and p.bank_id = $2 and p.term = d.term and p.memory_id = d.memory_id`,
    write: `insert into ${schema}.postings as p (tenant_id, bank_id, term, memory_id, ordinal, weight, own, length, expires_at)
select $1, $2, w.term, w.memory_id, 0, w.weight, w.own, w.length, w.expires_at
from unnest($3::text[], $4::text[]::uuid[], $5::text[]::real[], $6::text[]::real[], $7::text[]::real[], $8::text[]::bigint[])
  as w(term, memory_id, weight, own, length, expires_at)
order by w.term, w.memory_id
on conflict (tenant_id, bank_id, term, memory_id, ordinal) do update set weight = excluded.weight, own = excluded.own`,
  }
}

/** The columns of a MemberRow. @param question,ownTerms what stands for those two; by default what is stored */
export function memberColumns (alias: string, question = `${alias}.question`, ownTerms = `${alias}.own_terms`): string {
  return `${alias}.memory_id::text as memory_id, ${alias}.document_id, coalesce(${alias}.occurred_at, ${alias}.retained_at)::float8 as at,
  ${alias}.expires_at::float8 as expires_at, ${alias}.passages_length, ${question} as question, ${ownTerms} as own_terms`
}
