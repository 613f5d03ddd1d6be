import { bankKeyString, type BankKey } from '../../identity/context.js'
import {
  BANK_CONFIG_CHANGE_LIFETIME_MS, BANK_CONFIG_CHANGES, BANK_CONFIG_HISTORY,
  type BankConfig, type BankConfigChange, type BankConfigChanges, type BankConfigOutcome, type BankConfigStore,
} from '../bank-configs.js'
import { textBytes, type Capacity } from './capacity.js'

// Bytes, as measured: a configuration beside its document, and a bank that has or had one.
const CONFIG_BYTES = 200
const CONFIGURED_BYTES = 900
/** Changes that are forgotten at most by one new one, so that none takes long. */
const DROPPED_AT_ONCE = 64

interface Configured {
  bank: BankKey
  /** Absent when it was taken back. */
  inForce?: BankConfig
  /** Oldest first. */
  history: BankConfig[]
}

interface LastChange {
  bank: BankKey
  revision: number
  changedAt: number
}

/**
 * The configuration of banks in the memory of the process. Nothing is awaited inside a method, so each one is atomic.
 */
export class InMemoryBankConfigs implements BankConfigStore {
  readonly isShared = false
  readonly #banks = new Map<string, Configured>()
  /** The last change of each bank, in the order of their revisions. */
  readonly #changes = new Map<string, LastChange>()
  readonly #room: Capacity | undefined
  #bytes = 0
  #newest = 0
  /** The newest revision whose change is no longer among them. */
  #dropped = 0

  /** @param room where the configurations have to fit in */
  constructor (room?: Capacity) {
    this.#room = room
  }

  async read (banks: readonly BankKey[]): Promise<Array<{ bank: BankKey, config: BankConfig }>> {
    return [...new Set(banks.map(bankKeyString))].flatMap((id) => {
      const { bank, inForce } = this.#banks.get(id) ?? {}
      return bank === undefined || inForce === undefined ? [] : [{ bank: { ...bank }, config: { ...inForce } }]
    })
  }

  async write (bank: BankKey, change: BankConfigChange): Promise<BankConfigOutcome> {
    const giveBack = this.reserve(change)
    try {
      return this.set(bank, change)
    } finally {
      giveBack()
    }
  }

  /**
   * Keeps room for a change that is to come.
   * @returns gives it back, to be called once after the change
   * @throws ServiceError when there is none
   */
  reserve ({ document, updatedBy }: BankConfigChange): () => void {
    const bytes = CONFIGURED_BYTES + CONFIG_BYTES + textBytes(document ?? '') + textBytes(updatedBy ?? '')
    // What is taken back needs no room, so that a full store can be cleared.
    if (document !== null) this.#room?.reserve(bytes)
    return () => { if (document !== null) this.#room?.adjust(-bytes) }
  }

  async history (bank: BankKey): Promise<BankConfig[]> {
    return (this.#banks.get(bankKeyString(bank))?.history ?? []).map((config) => ({ ...config })).reverse()
  }

  async changedSince (revision: number): Promise<BankConfigChanges> {
    if (revision === -1) return { revision: this.#newest, banks: [] }
    if (revision < this.#dropped || revision > this.#newest) return { revision: this.#newest, banks: undefined }
    const banks = [...this.#changes.values()]
      .filter((change) => change.revision > revision)
      .map(({ bank }) => ({ ...bank }))
    return { revision: this.#newest, banks: banks.length > BANK_CONFIG_CHANGES ? undefined : banks }
  }

  /** What `write` does, at once. */
  set (bank: BankKey, { expected, document, updatedAt, updatedBy }: BankConfigChange): BankConfigOutcome {
    const id = bankKeyString(bank)
    const { inForce, history = [] } = this.#banks.get(id) ?? {}
    if (expected !== undefined && expected !== (inForce?.revision ?? 0)) {
      return { changed: false, revision: inForce?.revision ?? 0 }
    }
    if (document === null && inForce === undefined) return { changed: true, revision: 0 }
    const config = { revision: this.#noteChange(bank, updatedAt), document, updatedAt, updatedBy }
    this.#take(configBytes(config) + (history.length === 0 ? CONFIGURED_BYTES : 0))
    history.push(config)
    if (history.length > BANK_CONFIG_HISTORY) this.#take(-configBytes(history.shift()!))
    this.#banks.set(id, { bank: { ...bank }, history, ...(document !== null && { inForce: config }) })
    return { changed: true, revision: document === null ? 0 : config.revision }
  }

  /** Takes away configuration and history. @returns whether there was a configuration */
  remove (bank: BankKey, now: number): boolean {
    const id = bankKeyString(bank)
    const known = this.#banks.get(id)
    const removed = known?.inForce !== undefined
    for (const config of known?.history ?? []) this.#take(-configBytes(config))
    if (this.#banks.delete(id)) this.#take(-CONFIGURED_BYTES)
    if (removed) this.#noteChange(bank, now)
    return removed
  }

  /** Forgets everything. */
  clear (): void {
    this.#take(-this.#bytes)
    this.#banks.clear()
    this.#changes.clear()
    this.#dropped = this.#newest
  }

  #take (bytes: number): void {
    this.#bytes += bytes
    this.#room?.adjust(bytes)
  }

  #noteChange (bank: BankKey, changedAt: number): number {
    let dropped = 0
    for (const [id, change] of this.#changes) {
      if (dropped++ === DROPPED_AT_ONCE || change.changedAt >= changedAt - BANK_CONFIG_CHANGE_LIFETIME_MS) break
      this.#changes.delete(id)
      this.#dropped = change.revision
    }
    const id = bankKeyString(bank)
    const revision = ++this.#newest
    // Deleted first, so that it comes last.
    this.#changes.delete(id)
    this.#changes.set(id, { bank: { ...bank }, revision, changedAt })
    return revision
  }
}

function configBytes ({ document, updatedBy }: BankConfig): number {
  return CONFIG_BYTES + textBytes(document ?? '') + textBytes(updatedBy ?? '')
}
