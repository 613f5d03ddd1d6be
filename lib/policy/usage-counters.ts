import { LRUCache } from 'lru-cache'
import { redactedReason } from '../errors/message-of.js'
import { bankKeyString } from '../identity/context.js'
import type { UsageEntry, UsageOutcome, UsageReservation, VectorStore } from '../stores/vector-store.js'

/**
 * The most bytes of counts of a process that counts by itself, some 200,000 with short names. Beyond that the least
 * recently used count is evicted, which forgives its bank at most one day's use.
 */
const MAX_COUNT_BYTES = 40_000_000

/** About what a count takes in a cache: an entry, and two bytes for each character of its key. */
export function bytesOfCount (key: string): number {
  return 100 + 2 * key.length
}

/** Where daily quotas are counted: in a store or in this process. */
export type UsageStore = Required<Pick<VectorStore, 'reserveUsage' | 'adjustUsage'>>

/** Counts in this process, which a restart loses. No method awaits anything, so each is atomic. */
export class ProcessUsage implements UsageStore {
  readonly #counts = new LRUCache<string, number>({
    maxSize: MAX_COUNT_BYTES, sizeCalculation: (_count, key) => bytesOfCount(key),
  })

  async reserveUsage (entries: readonly UsageReservation[]): Promise<UsageOutcome> {
    const newCounts = new Map<string, number>()
    for (const [index, entry] of entries.entries()) {
      const key = keyOf(entry)
      const count = (newCounts.get(key) ?? this.#counts.get(key) ?? 0) + entry.amount
      if (count > entry.limit) return { granted: false, usedUp: index }
      newCounts.set(key, count)
    }
    for (const [key, count] of newCounts) this.#counts.set(key, count)
    return { granted: true }
  }

  async adjustUsage (entries: readonly UsageEntry[]): Promise<void> {
    for (const entry of entries) {
      const key = keyOf(entry)
      const count = this.#counts.get(key)
      if (count !== undefined) this.#counts.set(key, Math.max(0, count + entry.amount))
    }
  }
}

interface Correction {
  banks: ReadonlySet<string>
  done: Promise<void>
}

interface UsageCountersOptions {
  /** When absent, this process counts by itself. Its rejections go to the caller of reserve(). */
  store?: Pick<VectorStore, keyof UsageStore>
  /** Takes sentences for the operator's log. */
  warn?: (message: string) => void
}

/** Counts the use of daily quotas. */
export class UsageCounters {
  readonly #store: UsageStore
  readonly #warn: (message: string) => void
  readonly #corrections = new Set<Correction>()

  constructor ({ store = {}, warn = () => {} }: UsageCountersOptions = {}) {
    this.#store = hasUsageCounts(store) ? store : new ProcessUsage()
    this.#warn = warn
  }

  /**
   * Reserves all entries or none.
   * @returns an entry that exceeds its limit; undefined when all are reserved
   * @throws ServiceError dependency_unavailable
   */
  async reserve (entries: readonly UsageReservation[]): Promise<UsageReservation | undefined> {
    if (entries.length === 0) return undefined
    const underWay = this.#correctionsOf(entries)
    let outcome = await this.#store.reserveUsage(entries)
    if (!outcome.granted && underWay.length > 0) {
      // Earlier corrections of this process may not be counted yet.
      await Promise.all(underWay)
      outcome = await this.#store.reserveUsage(entries)
    }
    return outcome.granted ? undefined : entries[outcome.usedUp] ?? entries[0]
  }

  /**
   * Adds amounts to what was reserved, in the background: the answer neither waits for it nor fails with it. A
   * correction that fails leaves the higher count.
   */
  adjust (entries: readonly UsageEntry[]): void {
    const amounts = entries.filter(({ amount }) => amount !== 0)
    if (amounts.length === 0) return
    const correction: Correction = {
      banks: banksOf(amounts),
      done: this.#store.adjustUsage(amounts)
        .catch((error: unknown) => {
          this.#warn(`homeostasis.quotas: ${describe(amounts)} could not be corrected to the amounts used, ` +
            `so the reserved amounts stay counted for the day (${redactedReason(error)})`)
        })
        .finally(() => { this.#corrections.delete(correction) }),
    }
    this.#corrections.add(correction)
  }

  /** Resolves when all corrections are counted or have failed. */
  async idle (): Promise<void> {
    await Promise.all([...this.#corrections].map(async ({ done }) => { await done }))
  }

  #correctionsOf (entries: readonly UsageEntry[]): Array<Promise<void>> {
    if (this.#corrections.size === 0) return []
    const banks = banksOf(entries)
    return [...this.#corrections]
      .filter((correction) => [...correction.banks].some((bank) => banks.has(bank)))
      .map(({ done }) => done)
  }
}

function keyOf ({ bank, day, counter }: UsageEntry): string {
  return `${counter} ${day} ${bankKeyString(bank)}`
}

function banksOf (entries: readonly UsageEntry[]): Set<string> {
  return new Set(entries.map(({ bank }) => bankKeyString(bank)))
}

function describe (entries: readonly UsageEntry[]): string {
  const counters = new Set(entries.map(({ counter }) => counter))
  const bankIds = new Set(entries.map(({ bank }) => bank.bankId))
  return `${[...counters].join(' and ')} of ${[...bankIds].join(', ')}`
}

function hasUsageCounts (store: Pick<VectorStore, keyof UsageStore>): store is UsageStore {
  return store.reserveUsage !== undefined && store.adjustUsage !== undefined
}
