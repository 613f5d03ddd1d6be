import { BANK_CONFIG_HISTORY } from '../bank-configs.js'

/**
 * Statements on the configuration of one bank: $1 its tenant, $2 its name. All but `history` require the lock of
 * bank-config-changes.ts.
 */
export interface BankConfigStatements {
  /** The revision in force: one row, or none. */
  inForce: string
  /**
   * $3 revision, $4 document or null, $5 updated_at, $6 updated_by: puts the document in force, or removes the one in
   * force, and adds the change to the bank's history and to the list of changes. Deletes the oldest entries of a full
   * history.
   */
  write: string
  /** Removes configuration and history; returns `removed`, whether there was a configuration. */
  remove: string
  /** $3 revision, $4 changed_at: adds a change to the list of changes only, not to the bank's history. */
  noteChange: string
  /** $3 limit, $4 null or a revision: those before it. Newest first, as ConfigRows. */
  history: string
}

/** The columns of a ConfigRow, of the table that has this alias. */
export function configColumns (alias: string): string {
  return `${alias}.revision::float8 as revision, ${alias}.document, ${alias}.updated_at::float8 as updated_at,
    ${alias}.updated_by`
}

/** Statements on the configuration of a bank, for tables in a schema (quoted). */
export function makeBankConfigStatements (schema: string): BankConfigStatements {
  return {
    inForce: `select c.revision::float8 as revision from ${schema}.bank_configurations c where c.tenant_id = $1
      and c.bank_id = $2`,
    // The statement does not see the row that it inserts: it keeps the newest BANK_CONFIG_HISTORY - 1 of the existing
    // rows.
    write: `with kept as (
  insert into ${schema}.bank_configurations as c (tenant_id, bank_id, revision, document, updated_at, updated_by)
  select $1, $2, $3::float8::bigint, $4::text, $5::float8::bigint, $6::text where $4::text is not null
  on conflict (tenant_id, bank_id) do update
  set revision = excluded.revision, document = excluded.document, updated_at = excluded.updated_at,
    updated_by = excluded.updated_by
),
removed as (
  delete from ${schema}.bank_configurations c where c.tenant_id = $1 and c.bank_id = $2 and $4::text is null
),
added as (
  insert into ${schema}.bank_configuration_history (tenant_id, bank_id, revision, document, updated_at, updated_by)
  values ($1, $2, $3::float8::bigint, $4::text, $5::float8::bigint, $6::text)
),
dropped as (
  delete from ${schema}.bank_configuration_history h where h.tenant_id = $1 and h.bank_id = $2 and h.revision <= (
    select o.revision from ${schema}.bank_configuration_history o where o.tenant_id = $1 and o.bank_id = $2
    order by o.revision desc offset ${BANK_CONFIG_HISTORY - 1} limit 1
  )
)
insert into ${schema}.bank_configuration_changes (tenant_id, bank_id, revision, changed_at)
  values ($1, $2, $3::float8::bigint, $5::float8::bigint)`,
    remove: `with gone as (
  delete from ${schema}.bank_configurations c where c.tenant_id = $1 and c.bank_id = $2 returning c.revision
),
gone_history as (
  delete from ${schema}.bank_configuration_history h where h.tenant_id = $1 and h.bank_id = $2
)
select exists (select from gone) as removed`,
    noteChange: `insert into ${schema}.bank_configuration_changes (tenant_id, bank_id, revision, changed_at)
      values ($1, $2, $3::float8::bigint, $4::float8::bigint)`,
    history: `select ${configColumns('h')} from ${schema}.bank_configuration_history h
where h.tenant_id = $1 and h.bank_id = $2 and ($4::float8 is null or h.revision < $4::float8::bigint)
order by h.revision desc limit $3::int`,
  }
}
