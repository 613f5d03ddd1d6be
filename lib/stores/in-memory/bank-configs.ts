import { bankKeyString, identityOf, type BankKey } from '../../access/context.js'
import {
  BANK_CONFIG_CHANGE_LIFETIME_MS, BANK_CONFIG_CHANGES, BANK_CONFIG_HISTORY,
  type BankConfig, type BankConfigChange, type BankConfigChanges, type BankConfigOutcome, type BankConfigPage,
  type BankConfigStore,
  type NewBankConfig,
} from '../bank-configs.js'
import { Capacity, textBytes } from './bank.js'

/** Measured bytes of a configuration without its document. */
const CONFIG_BYTES = 400
/** Maximum number of old changes dropped with each new one, which bounds the time of a write. */
const DROP_BATCH = 64

interface Configured {
  bank: BankKey
  /** Undefined when the configuration was removed. */
  inForce: BankConfig | undefined
  /** Oldest first. */
  history: BankConfig[]
}

interface LastChange {
  bank: BankKey
  revision: number
  changedAt: number
}

/** The configuration of banks in process memory. No method awaits anything, so each one is atomic. */
export class InMemoryBankConfigs implements BankConfigStore {
  readonly isShared = false
  readonly #banks = new Map<string, Configured>()
  /** The last change of each bank, in the order of their revisions. */
  readonly #changes = new Map<string, LastChange>()
  readonly #capacity: Capacity
  #bytes = 0
  #newest = 0
  /** The newest revision whose change was dropped from `#changes`. */
  #dropped = 0

  /** @param capacity the capacity that configurations count against */
  constructor (capacity = new Capacity()) {
    this.#capacity = capacity
  }

  async read (banks: readonly BankKey[]): Promise<Array<{ bank: BankKey, config: BankConfig }>> {
    return [...new Set(banks.map(bankKeyString))].flatMap((id) => {
      const { bank, inForce } = this.#banks.get(id) ?? {}
      return bank === undefined || inForce === undefined ? [] : [{ bank: { ...bank }, config: { ...inForce } }]
    })
  }

  async write (bank: BankKey, change: BankConfigChange): Promise<BankConfigOutcome> {
    // A removal needs no room, so that a full store can be cleared.
    if (change.document !== null) this.#capacity.check(configBytes(change))
    return this.set(bank, change)
  }

  async history (bank: BankKey, { limit, before = Infinity }: BankConfigPage): Promise<BankConfig[]> {
    const older = (this.#banks.get(bankKeyString(bank))?.history ?? []).filter(({ revision }) => revision < before)
    return older.slice(-limit).map((config) => ({ ...config })).reverse()
  }

  async changedSince (revision: number): Promise<BankConfigChanges> {
    if (revision === -1) return { revision: this.#newest, banks: [] }
    if (revision < this.#dropped || revision > this.#newest) return { revision: this.#newest, banks: undefined }
    const banks = [...this.#changes.values()]
      .filter((change) => change.revision > revision)
      .map(({ bank }) => ({ ...bank }))
    return { revision: this.#newest, banks: banks.length > BANK_CONFIG_CHANGES ? undefined : banks }
  }

  /** `write`, synchronously and without a check of the capacity. */
  set (bank: BankKey, { expected, document, updatedAt, updatedBy }: BankConfigChange): BankConfigOutcome {
    const id = bankKeyString(bank)
    const { inForce, history = [] } = this.#banks.get(id) ?? {}
    if (expected !== undefined && expected !== (inForce?.revision ?? 0)) {
      return { changed: false, revision: inForce?.revision ?? 0 }
    }
    if (document === null && inForce === undefined) return { changed: true, revision: 0 }
    const config = { revision: this.#noteChange(bank, updatedAt), document, updatedAt, updatedBy }
    this.#take(configBytes(config))
    history.push(config)
    if (history.length > BANK_CONFIG_HISTORY) this.#take(-configBytes(history.shift()!))
    this.#banks.set(id, { bank: identityOf(bank), history, inForce: document === null ? undefined : config })
    return { changed: true, revision: document === null ? 0 : config.revision }
  }

  /** Removes configuration and history. @returns whether there was a configuration */
  remove (bank: BankKey, now: number): boolean {
    const id = bankKeyString(bank)
    const known = this.#banks.get(id)
    const removed = known?.inForce !== undefined
    for (const config of known?.history ?? []) this.#take(-configBytes(config))
    this.#banks.delete(id)
    if (removed) this.#noteChange(bank, now)
    return removed
  }

  /** Removes all configurations and changes. */
  clear (): void {
    this.#take(-this.#bytes)
    this.#banks.clear()
    this.#changes.clear()
    this.#dropped = this.#newest
  }

  #take (bytes: number): void {
    this.#bytes += bytes
    this.#capacity.usedBytes += bytes
  }

  #noteChange (bank: BankKey, changedAt: number): number {
    let dropped = 0
    for (const [id, change] of this.#changes) {
      if (dropped++ === DROP_BATCH || change.changedAt >= changedAt - BANK_CONFIG_CHANGE_LIFETIME_MS) break
      this.#changes.delete(id)
      this.#dropped = change.revision
    }
    const id = bankKeyString(bank)
    const revision = ++this.#newest
    // A Map keeps the position of an existing key; after the deletion the key is inserted last.
    this.#changes.delete(id)
    this.#changes.set(id, { bank: identityOf(bank), revision, changedAt })
    return revision
  }
}

export function configBytes ({ document, updatedBy }: NewBankConfig): number {
  return CONFIG_BYTES + textBytes(document ?? '') + textBytes(updatedBy ?? '')
}
