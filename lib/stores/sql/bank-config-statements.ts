import { BANK_CONFIG_HISTORY } from '../bank-configs.js'

/**
 * Statements on the configuration of one bank: $1. All but `history` require the lock of
 * bank-config-changes.ts.
 */
export interface BankConfigStatements {
  /** The revision in force: one row, or none. */
  inForce: string
  /** $2 revision, $3 document, $4 updated_at, $5 updated_by: puts the document in force. */
  put: string
  /** Takes back the document in force. */
  takeBack: string
  /** $2 revision, $3 document or null, $4 updated_at, $5 updated_by: adds the change to the bank's history. */
  addToHistory: string
  /** Deletes the oldest entries of a history that is longer than BANK_CONFIG_HISTORY. */
  shortenHistory: string
  /** Removes configuration and history; returns `removed`, whether there was a configuration. */
  remove: string
  /** $2 revision, $3 changed_at: adds a change to the list of changes only, not to the bank's history. */
  noteChange: string
  /** $2 limit, $3 null or a revision: those before it. Newest first, as ConfigRows. */
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
    inForce: `select c.revision::float8 as revision from ${schema}.bank_configurations c where c.bank_key = $1`,
    put: `insert into ${schema}.bank_configurations as c (bank_key, revision, document, updated_at, updated_by)
values ($1, $2::float8::bigint, $3, $4::float8::bigint, $5)
on conflict (bank_key) do update set revision = excluded.revision, document = excluded.document,
  updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    takeBack: `delete from ${schema}.bank_configurations c where c.bank_key = $1`,
    addToHistory: `insert into ${schema}.bank_configuration_history (bank_key, revision, document, updated_at,
  updated_by) values ($1, $2::float8::bigint, $3, $4::float8::bigint, $5)`,
    shortenHistory: `delete from ${schema}.bank_configuration_history h where h.bank_key = $1 and h.revision <= (
  select o.revision from ${schema}.bank_configuration_history o where o.bank_key = $1
  order by o.revision desc offset ${BANK_CONFIG_HISTORY} limit 1
)`,
    remove: `with gone as (
  delete from ${schema}.bank_configurations c where c.bank_key = $1 returning c.revision
),
gone_history as (
  delete from ${schema}.bank_configuration_history h where h.bank_key = $1
)
select exists (select 1 from gone) as removed`,
    noteChange: `insert into ${schema}.bank_configuration_changes (bank_key, revision, changed_at)
      values ($1, $2::float8::bigint, $3::float8::bigint)`,
    history: `select ${configColumns('h')} from ${schema}.bank_configuration_history h
where h.bank_key = $1 and ($3::float8 is null or h.revision < $3::float8::bigint)
order by h.revision desc limit $2::int`,
  }
}
