import { BANK_CONFIG_CHANGES } from '../bank-configs.js'
import { configColumns } from './bank-config-statements.js'

/** Statements on the configuration of all banks: the order of changes, and the configurations in force. */
export interface BankConfigChangesStatements {
  /**
   * $1 name of the lock (`lockName`): excludes all other changes of configurations until the transaction ends. A
   * statement of its own, because a statement sees only what was committed before it began.
   */
  lock: string
  lockName: string
  /**
   * $1 instant: returns `newest`, the newest revision, or 0 when there is none, and deletes the changes up to the last
   * one made before the instant. The revisions that remain have no gaps, even if servers' clocks differ. The newest one
   * may be deleted too, because the same transaction adds another.
   */
  newest: string
  /**
   * $1 revision: rows of `newest` and `oldest`, each with a bank that was changed since, at most BANK_CONFIG_CHANGES +
   * 1. One row without a bank when there are none, when the revision is -1, or when it precedes the known changes.
   */
  changedSince: string
  /** $1 banks: the configurations in force, as ConfigRows with their bank. */
  read: string
}

/** Statements on the configuration of all banks, for tables in a schema (quoted). */
export function makeBankConfigChangesStatements (schema: string): BankConfigChangesStatements {
  return {
    lock: 'select pg_advisory_xact_lock(hashtextextended($1, 0))::text',
    lockName: `memory-gateway bank configuration ${schema}`,
    newest: `with dropped as (
  delete from ${schema}.bank_configuration_changes c
  where c.revision <= (select max(o.revision)
    from ${schema}.bank_configuration_changes o where o.changed_at < $1::float8::bigint)
)
select coalesce(max(c.revision), 0)::float8 as newest from ${schema}.bank_configuration_changes c`,
    changedSince: `with known as (
  select max(c.revision) as newest, min(c.revision) as oldest from ${schema}.bank_configuration_changes c
)
select coalesce(k.newest, 0)::float8 as newest, coalesce(k.oldest, 0)::float8 as oldest, b.bank_key
from known k left join lateral (
  select distinct c.bank_key from ${schema}.bank_configuration_changes c
  where $1::float8 >= 0 and $1::float8 >= k.oldest - 1 and c.revision > $1::float8::bigint
  limit ${BANK_CONFIG_CHANGES + 1}
) b on true`,
    read: `select c.bank_key, ${configColumns('c')} from ${schema}.bank_configurations c
where c.bank_key = any($1::text[])`,
  }
}
