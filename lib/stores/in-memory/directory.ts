import type { BankKey } from '../../identity/context.js'
import { SortedList } from '../sorted-list.js'
import { SplitMap } from '../split-map.js'
import type { ListBanksRequest } from '../vector-store.js'
import type { Bank } from './bank.js'
import { compareText } from '../../text/compare-text.js'
import type { Capacity } from './capacity.js'

/** The banks of a store that have memories, and the bytes that they use. */
export class Directory {
  readonly #capacity: Capacity
  readonly #banks = new SplitMap<Bank>()
  readonly #ordered = new SortedList<Bank>((a, b) => compareKeys(a.key, b.key))
  readonly #bytes = new WeakMap<Bank, number>()
  #totalBytes = 0

  constructor (capacity: Capacity) {
    this.#capacity = capacity
  }

  get (id: string): Bank | undefined {
    return this.#banks.get(id)
  }

  /** By tenant (no tenant first), then by id. Banks added or removed during the iteration may or may not be yielded. */
  inOrder (isBefore?: (bank: Bank) => boolean): Generator<Bank> {
    return this.#ordered.forwards(isBefore)
  }

  /**
   * The keys of the banks of a tenant, or of all, in order; with a bank id only that key, whether or not the bank
   * exists.
   */
  * keys ({ tenantId, bankId, after }: Pick<ListBanksRequest, 'tenantId' | 'bankId' | 'after'>): Generator<BankKey> {
    if (tenantId !== undefined && bankId !== undefined) {
      const key = { tenantId, bankId }
      if (after === undefined || compareKeys(key, after) > 0) yield key
      return
    }
    const isBefore = ({ key }: Bank) => (
      (after !== undefined && compareKeys(key, after) <= 0) ||
      (tenantId !== undefined && compareTenants(key.tenantId, tenantId) < 0)
    )
    for (const { key } of this.inOrder(isBefore)) {
      if (tenantId !== undefined && key.tenantId !== tenantId) return
      yield key
    }
  }

  /** Registers the state of a bank; drops it if it has no memories, and drops a different bank with the same key. */
  note (bank: Bank): void {
    const { id } = bank
    const known = this.#banks.get(id)
    if (known !== undefined && (known !== bank || bank.size === 0)) this.#drop(id, known)
    if (bank.size === 0) {
      bank.release()
      return
    }
    if (known !== bank) {
      this.#banks.set(id, bank)
      this.#ordered.add(bank)
    }
    this.#count(bank, bank.bytes)
  }

  /** Releases the capacity of all banks. The directory is not used afterwards. */
  close (): void {
    this.#capacity.adjust(-this.#totalBytes)
    this.#totalBytes = 0
  }

  /** Drops a bank with its memories, in constant time. */
  drop (bank: Bank): void {
    if (this.#banks.get(bank.id) === bank) this.#drop(bank.id, bank)
  }

  #drop (id: string, bank: Bank): void {
    this.#banks.delete(id)
    this.#ordered.remove(bank)
    this.#count(bank, 0)
    bank.release()
  }

  #count (bank: Bank, bytes: number): void {
    const more = bytes - (this.#bytes.get(bank) ?? 0)
    this.#bytes.set(bank, bytes)
    this.#totalBytes += more
    this.#capacity.adjust(more)
  }
}

export function compareKeys (a: BankKey, b: BankKey): number {
  return compareTenants(a.tenantId, b.tenantId) || compareText(a.bankId, b.bankId)
}

function compareTenants (a: string | null, b: string | null): number {
  if (a === b) return 0
  return a === null ? -1 : b === null ? 1 : compareText(a, b)
}
