import { bankKeyString, bankOfKey, type BankKey } from '../../identity/context.js'
import {
  BANK_CONFIG_CHANGE_LIFETIME_MS, BANK_CONFIG_CHANGES,
  type BankConfig, type BankConfigChange, type BankConfigChanges, type BankConfigOutcome, type BankConfigPage,
  type BankConfigStore,
} from '../bank-configs.js'
import { makeBankConfigChangesStatements, type BankConfigChangesStatements } from './bank-config-changes.js'
import { makeBankConfigStatements, type BankConfigStatements } from './bank-config-statements.js'
import type { Executor, Param, Queries } from './executor.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters, toBankKey, type BankRow } from './rows.js'

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
