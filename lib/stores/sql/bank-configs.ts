import { type BankKey, bankKeyString, bankOfKey } from '../../identity/context.js'
import {
  BANK_CONFIG_CHANGE_LIFETIME_MS, BANK_CONFIG_CHANGES, BANK_CONFIG_HISTORY, type BankConfig, type BankConfigChange,
  type BankConfigChanges, type BankConfigOutcome, type BankConfigPage, type BankConfigStore,
} from '../bank-configs.js'
import type { Executor, Param, Queries } from './executor.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters, type BankRow, toBankKey } from './rows.js'

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

interface ConfigRow {
  revision: number
  document: string | null
  updated_at: number
  updated_by: string | null
}

interface ChangeRow {
  newest: number
  oldest: number
  bank_key: string | null
}

/**
 * Changes the configuration of banks within transactions. One advisory lock for each schema serializes changes of all
 * banks until they are committed: so the next revision is the newest plus one, and revisions become visible in order.
 * Readers of the changes since a revision rely on that: a lower revision that became visible later would be missed.
 *
 * A transaction takes this lock last, after those of imports, banks and rows of memories. After it come only rows that
 * require this lock, and the record of the transaction's idempotency key. So its holder never waits for a transaction
 * that may wait for the lock.
 */
export class BankConfigWriter {
  readonly #bankStatements: BankConfigStatements
  readonly #changeStatements: BankConfigChangesStatements

  /** @param schema quoted */
  constructor (schema: string) {
    this.#bankStatements = makeBankConfigStatements(schema)
    this.#changeStatements = makeBankConfigChangesStatements(schema)
  }

  async write (
    tx: Queries, bank: BankKey, { expected, document, updatedAt, updatedBy }: BankConfigChange,
  ): Promise<BankConfigOutcome> {
    const key = bankParameters(bank)
    await this.#lock(tx)
    const [row] = await tx.query<{ revision: number }>(this.#bankStatements.inForce, key)
    const inForce = row?.revision ?? 0
    if (expected !== undefined && expected !== inForce) return { changed: false, revision: inForce }
    if (document === null && inForce === 0) return { changed: true, revision: 0 }
    const revision = await this.#nextRevision(tx, updatedAt)
    const { put, takeBack, addToHistory, shortenHistory } = this.#bankStatements
    const values = [...key, revision, document, updatedAt, updatedBy]
    if (document === null) await tx.query(takeBack, key)
    else await tx.query(put, values)
    await tx.query(addToHistory, values)
    await tx.query(shortenHistory, key)
    await tx.query(this.#bankStatements.noteChange, [...key, revision, updatedAt])
    return { changed: true, revision: document === null ? 0 : revision }
  }

  /** Removes configuration and history. @returns whether there was a configuration */
  async remove (tx: Queries, bank: BankKey, now: number): Promise<boolean> {
    const key = bankParameters(bank)
    await this.#lock(tx)
    const [row] = await tx.query<{ removed: boolean }>(this.#bankStatements.remove, key)
    if (row!.removed) await tx.query(this.#bankStatements.noteChange, [...key, await this.#nextRevision(tx, now), now])
    return row!.removed
  }

  async #lock (tx: Queries): Promise<void> {
    await tx.query(this.#changeStatements.lock, [this.#changeStatements.lockName])
  }

  /** Also deletes changes that are too old; the caller adds the newest one. */
  async #nextRevision (tx: Queries, now: number): Promise<number> {
    const values = [now - BANK_CONFIG_CHANGE_LIFETIME_MS]
    const [row] = await tx.query<{ newest: number }>(this.#changeStatements.newest, values)
    return row!.newest + 1
  }
}

interface SqlBankConfigsOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  writer: BankConfigWriter
  isShared: boolean
  /** Runs work that queries the database when that is ready. */
  whenReady: <T>(work: () => Promise<T>) => Promise<T>
}

/** The configuration of banks, in the tables of migration 0004. */
export class SqlBankConfigs implements BankConfigStore {
  readonly isShared: boolean
  readonly #executor: Executor
  readonly #bankStatements: BankConfigStatements
  readonly #changeStatements: BankConfigChangesStatements
  readonly #writer: BankConfigWriter
  readonly #whenReady: SqlBankConfigsOptions['whenReady']

  constructor ({ executor, schema, writer, isShared, whenReady }: SqlBankConfigsOptions) {
    this.isShared = isShared
    this.#executor = executor
    this.#bankStatements = makeBankConfigStatements(schema)
    this.#changeStatements = makeBankConfigChangesStatements(schema)
    this.#writer = writer
    this.#whenReady = whenReady
  }

  async read (banks: readonly BankKey[]): Promise<Array<{ bank: BankKey, config: BankConfig }>> {
    if (banks.length === 0) return []
    const rows = await this.#read<ConfigRow & BankRow>(
      this.#changeStatements.read, [banks.map(bankKeyString)],
    )
    return rows.map((row) => ({ bank: toBankKey(row), config: toConfig(row) }))
  }

  async write (bank: BankKey, change: BankConfigChange): Promise<BankConfigOutcome> {
    return await this.#whenReady(async () => await retrySerializationFailures(async () => (
      await this.#executor.transaction(async (tx) => await this.#writer.write(tx, bank, change))
    )))
  }

  async history (bank: BankKey, { limit, before }: BankConfigPage): Promise<BankConfig[]> {
    const values = [...bankParameters(bank), limit, before ?? null]
    const rows = await this.#read<ConfigRow>(this.#bankStatements.history, values)
    return rows.map(toConfig)
  }

  async changedSince (revision: number): Promise<BankConfigChanges> {
    const rows = await this.#read<ChangeRow>(this.#changeStatements.changedSince, [revision])
    const { newest, oldest } = rows[0]!
    if (revision === -1) return { revision: newest, banks: [] }
    // A revision higher than the newest one is from another database, or from this one before it was restored: the
    // changes since are unknown.
    if (revision < oldest - 1 || revision > newest) return { revision: newest, banks: undefined }
    const banks = rows.flatMap(({ bank_key: key }) => key === null ? [] : [bankOfKey(key)])
    return { revision: newest, banks: banks.length > BANK_CONFIG_CHANGES ? undefined : banks }
  }

  async #read<R extends object> (text: string, values: readonly Param[]): Promise<R[]> {
    return await this.#whenReady(async () => await this.#executor.read<R>(text, values))
  }
}

function toConfig ({ revision, document, updated_at: updatedAt, updated_by: updatedBy }: ConfigRow): BankConfig {
  return { revision, document, updatedAt, updatedBy }
}
