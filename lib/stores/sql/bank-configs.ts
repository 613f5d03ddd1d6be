import { type BankKey, bankKeyString, bankOfKey } from '../../access/context.js'
import {
  BANK_CONFIG_CHANGE_LIFETIME_MS, BANK_CONFIG_CHANGES, BANK_CONFIG_HISTORY, type BankConfig, type BankConfigChange,
  type BankConfigChanges, type BankConfigOutcome, type BankConfigPage, type BankConfigStore,
} from '../bank-configs.js'
import {
  type Executor, isUniqueViolation, type Queries, retrySerializationFailures, serializationFailure,
} from './executor.js'
import { lockBank } from './fragments.js'
import { bankParameters, type BankRow, toBankKey } from './rows.js'

interface ConfigRow {
  revision: number
  document: string | null
  updated_at: number
  updated_by: string | null
}

/** The columns of a ConfigRow, of the table that has this alias. */
function configColumns (alias: string): string {
  return `${alias}.revision::float8 as revision, ${alias}.document, ${alias}.updated_at::float8 as updated_at,
    ${alias}.updated_by`
}

function toConfig ({ revision, document, updated_at: updatedAt, updated_by: updatedBy }: ConfigRow): BankConfig {
  return { revision, document, updatedAt, updatedBy }
}

/** The row of `bank_locks` that excludes all other changes of configurations: that of no bank. */
export const ALL_BANKS = ''

interface SqlBankConfigsOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  isShared: boolean
}

/**
 * The configuration of banks, with its history. One lock serializes the changes of all banks until they
 * are committed: so the next revision is the newest plus one, and revisions become visible in order. Readers of the
 * changes since a revision rely on that: a lower revision that became visible later would be missed.
 *
 * A transaction takes this lock last, after those of banks and rows of memories. After it come only rows that require
 * this lock, and the record of the transaction's idempotency key. So its holder never waits for a transaction that may
 * wait for the lock.
 */
export class SqlBankConfigs implements BankConfigStore {
  readonly isShared: boolean
  readonly #executor: Executor
  readonly #schema: string

  constructor ({ executor, schema, isShared }: SqlBankConfigsOptions) {
    this.isShared = isShared
    this.#executor = executor
    this.#schema = schema
  }

  async read (banks: readonly BankKey[]): Promise<Array<{ bank: BankKey, config: BankConfig }>> {
    if (banks.length === 0) return []
    const rows = await this.#executor.read<ConfigRow & BankRow>(
      `select c.bank_key, ${configColumns('c')} from ${this.#schema}.bank_configurations c
where c.bank_key = any($1::text[])`, [banks.map(bankKeyString)],
    )
    return rows.map((row) => ({ bank: toBankKey(row), config: toConfig(row) }))
  }

  async write (bank: BankKey, change: BankConfigChange): Promise<BankConfigOutcome> {
    return await retrySerializationFailures(async () => (
      await this.#executor.transaction(async (tx) => await this.writeIn(tx, bank, change))
    ))
  }

  /** As `write`, within a transaction. */
  async writeIn (
    tx: Queries, bank: BankKey, { expected, document, updatedAt, updatedBy }: BankConfigChange,
  ): Promise<BankConfigOutcome> {
    const [key, schema] = [bankParameters(bank), this.#schema]
    // On Citus the lock of all banks may be free before the last writer's commit has reached the bank's node.
    await tx.query(lockBank(schema), key)
    await this.#lock(tx)
    const [row] = await tx.query<{ revision: number }>(
      `select c.revision::float8 as revision from ${schema}.bank_configurations c where c.bank_key = $1`, key,
    )
    const inForce = row?.revision ?? 0
    if (expected !== undefined && expected !== inForce) return { changed: false, revision: inForce }
    if (document === null && inForce === 0) return { changed: true, revision: 0 }
    const revision = await this.#addChange(tx, bank, updatedAt)
    const values = [...key, revision, document, updatedAt, updatedBy]
    if (document === null) {
      await tx.query(`delete from ${schema}.bank_configurations c where c.bank_key = $1`, key)
    } else {
      await tx.query(`insert into ${schema}.bank_configurations as c (bank_key, revision, document, updated_at,
  updated_by)
values ($1, $2::float8::bigint, $3, $4::float8::bigint, $5)
on conflict (bank_key) do update set revision = excluded.revision, document = excluded.document,
  updated_at = excluded.updated_at, updated_by = excluded.updated_by`, values)
    }
    await tx.query(`insert into ${schema}.bank_configuration_history (bank_key, revision, document, updated_at,
  updated_by) values ($1, $2::float8::bigint, $3, $4::float8::bigint, $5)`, values)
    await tx.query(`delete from ${schema}.bank_configuration_history h where h.bank_key = $1 and h.revision <= (
  select o.revision from ${schema}.bank_configuration_history o where o.bank_key = $1
  order by o.revision desc offset ${BANK_CONFIG_HISTORY} limit 1
)`, key)
    return { changed: true, revision: document === null ? 0 : revision }
  }

  /** Removes configuration and history within a transaction. @returns whether there was a configuration */
  async removeIn (tx: Queries, bank: BankKey, now: number): Promise<boolean> {
    await this.#lock(tx)
    const [row] = await tx.query<{ removed: boolean }>(`with gone as (
  delete from ${this.#schema}.bank_configurations c where c.bank_key = $1 returning c.revision
),
gone_history as (
  delete from ${this.#schema}.bank_configuration_history h where h.bank_key = $1
)
select exists (select 1 from gone) as removed`, bankParameters(bank))
    if (row!.removed) await this.#addChange(tx, bank, now)
    return row!.removed
  }

  async history (bank: BankKey, { limit, before }: BankConfigPage): Promise<BankConfig[]> {
    const rows = await this.#executor.read<ConfigRow>(
      `select ${configColumns('h')} from ${this.#schema}.bank_configuration_history h
where h.bank_key = $1 and ($3::float8 is null or h.revision < $3::float8::bigint)
order by h.revision desc limit $2::int`, [...bankParameters(bank), limit, before ?? null],
    )
    return rows.map(toConfig)
  }

  async changedSince (revision: number): Promise<BankConfigChanges> {
    const schema = this.#schema
    // One row without a bank when nothing was changed since, or the changes since are not known.
    const rows = await this.#executor.read<{ newest: number, oldest: number, bank_key: string | null }>(`with known as (
  select max(c.revision) as newest, min(c.revision) as oldest from ${schema}.bank_configuration_changes c
)
select coalesce(k.newest, 0)::float8 as newest, coalesce(k.oldest, 0)::float8 as oldest, b.bank_key
from known k left join lateral (
  select distinct c.bank_key from ${schema}.bank_configuration_changes c
  where $1::float8 >= 0 and $1::float8 >= k.oldest - 1 and c.revision > $1::float8::bigint
  limit ${BANK_CONFIG_CHANGES + 1}
) b on true`, [revision])
    const { newest, oldest } = rows[0]!
    if (revision === -1) return { revision: newest, banks: [] }
    // A revision higher than the newest one is from another database, or from this one before it was restored: the
    // changes since are unknown.
    if (revision < oldest - 1 || revision > newest) return { revision: newest, banks: undefined }
    const banks = rows.flatMap(({ bank_key: key }) => key === null ? [] : [bankOfKey(key)])
    return { revision: newest, banks: banks.length > BANK_CONFIG_CHANGES ? undefined : banks }
  }

  async #lock (tx: Queries): Promise<void> {
    await tx.query(lockBank(this.#schema), [ALL_BANKS])
  }

  /**
   * Adds a change to the list of changes, and deletes those up to the last one that was made too long ago. The
   * revisions that remain have no gaps, even if servers' clocks differ.
   * @returns the revision of the change
   */
  async #addChange (tx: Queries, bank: BankKey, now: number): Promise<number> {
    const changes = `${this.#schema}.bank_configuration_changes`
    const [row] = await tx.query<{ newest: number }>(
      `select coalesce(max(c.revision), 0)::float8 as newest from ${changes} c`,
    )
    await tx.query(`delete from ${changes} c where c.revision <= (
  select max(o.revision) from ${changes} o where o.changed_at < $1::float8::bigint
)`, [now - BANK_CONFIG_CHANGE_LIFETIME_MS])
    const revision = row!.newest + 1
    const inserted = tx.query(`insert into ${changes} (bank_key, revision, changed_at)
values ($1, $2::float8::bigint, $3::float8::bigint)`, [...bankParameters(bank), revision, now])
    await inserted.catch((error: unknown) => {
      // On Citus the newest change may not have been seen yet.
      throw isUniqueViolation(error) ? serializationFailure('Another change has the revision') : error
    })
    return revision
  }
}
