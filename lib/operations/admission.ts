import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { bankKeyString, type BankKey, type RequestContext } from '../access/context.js'
import type { Clock } from '../base/clock.js'
import { DAY_MS, dayOf } from '../base/days.js'
import { redactedReason } from '../base/message-of.js'
import { invalidField, retryAfter, ServiceError } from '../base/service-error.js'
import type { Telemetry } from '../base/telemetry.js'
import type { BankSettings } from '../config/schema.js'
import type { UsageReservation, UsageEntry, UsageOutcome, VectorStore } from '../stores/vector-store.js'
import { ProcessRates, type CountedUse, type RateCounts } from './rate-counts.js'

/**
 * `configure` changes the configuration of a bank and counts towards the global limit only. The global limit counts an
 * import once; the limits of imports count its memories.
 */
export type Operation = 'retain' | 'import' | 'recall' | 'reflect' | 'forget' | 'configure'

/** A bank, and the limits on its use. */
export interface LimitedBank {
  readonly key: BankKey
  readonly settings: Pick<BankSettings, 'homeostasis'>
}

const MINUTE = 60_000

const CALLS = 'model_calls_per_day'
const TOKENS = 'model_tokens_per_day'

/** A limit of the configuration, without `_per_minute`. */
type RateScope = Exclude<Operation, 'configure'> | 'global'

interface Charge {
  key: string
  scope: RateScope
  perMinute: number
  amount: number
}

/** What is left of a rate limit. */
export interface RateState {
  scope: RateScope
  perMinute: number
  remaining: number
  /** Until the next minute begins. */
  resetSeconds: number
}

/** Who calls. */
export interface Caller {
  readonly context: RequestContext
  /** Gets the state of each rate limit that was charged, of several banks the one with the least left. */
  noteRates? (states: readonly RateState[]): void
}

/** An operation that its limits have admitted. */
export interface Admission {
  /** Returns the daily quota of an operation that failed. It takes effect once, and callers do not wait for it. */
  release (): void
}

/** The budget that is reserved for a call of a language model. */
export interface Reservation {
  /**
   * Replaces the reserved amounts by the actual ones. Call it once; it runs in the background.
   * @param tokens of prompt and answer; a function is called only when a budget of tokens is set, because counting
   *   takes time
   * @param called whether the call reached the model; one that did not is not counted
   */
  settle (tokens: number | (() => number), called: boolean): void
}

const UNLIMITED: Admission = { release: () => {} }

/**
 * Rate limits (for each principal and bank, in minutes of the clock), and daily quotas and budgets of the language
 * model (for each bank and UTC day). Both are counted where all gateways count, if there is such a place.
 */
export class AdmissionControl {
  readonly #clock: Clock
  readonly #telemetry: Pick<Telemetry, 'refused'>
  readonly #usage: UsageCounters
  readonly #rates: RateCounts

  constructor (
    clock: Clock, telemetry: Pick<Telemetry, 'refused'>, usage: UsageCounters, rates: RateCounts = new ProcessRates(),
  ) {
    this.#clock = clock
    this.#telemetry = telemetry
    this.#usage = usage
    this.#rates = rates
  }

  /**
   * Charges every limit on every bank, or none of them and throws. What a refused operation counts is given back, so
   * that concurrent operations together never get more than a limit; until it is, they may get less.
   * @param items what the operation costs: a batch counts each item, an import each memory
   * @throws ServiceError rate_limited or quota_exceeded with `retryAfterSeconds`; invalid_request when the batch is
   *   larger than a whole limit; dependency_unavailable when the place that counts is down
   */
  async admit (
    operation: Operation, caller: Caller, banks: readonly LimitedBank[], items = 1,
  ): Promise<Admission> {
    // Most banks have none.
    if (banks.every(isUnlimited)) return UNLIMITED
    const now = this.#clock()
    const charges = banks.flatMap((bank) => this.#charges(operation, caller.context, bank, items))
    const quotas = banks.flatMap((bank) => this.#quota(operation, bank, items, now))
    for (const { scope, perMinute, amount } of charges) {
      if (amount > perMinute) throw amountAboveLimit(operation, nameOf(scope), perMinute)
    }
    for (const { counter, limit } of quotas) {
      if (items > limit) throw amountAboveLimit(operation, counter, limit)
    }
    const giveBack = charges.length === 0 ? undefined : await this.#chargeRates(charges, caller, now)
    if (quotas.length === 0) return UNLIMITED
    const usedUp = await this.#usage.reserve(quotas).catch(async (error: unknown) => {
      await giveBack?.()
      throw error
    })
    if (usedUp !== undefined) {
      await giveBack?.()
      throw this.#refused('quota_exceeded', `${usedUp.counter} (${usedUp.limit}) is used up`, DAY_MS - now % DAY_MS)
    }
    let isReleased = false
    return {
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#usage.adjust(quotas.map(({ bank, day, counter, amount }) => ({ bank, day, counter, amount: -amount })))
      },
    }
  }

  /**
   * Reserves the most that a call of the language model may use (`homeostasis.quotas.model_calls_per_day`,
   * `model_tokens_per_day`), so that concurrent calls, also on other gateways with the same store, cannot exceed the
   * budget together. A call on several banks counts for each of them.
   * @param tokens the most that the call may use; called only when a budget of tokens is set
   * @throws ServiceError quota_exceeded with `retryAfterSeconds`, and nothing is counted; invalid_request for more
   *   tokens than a budget ever has; dependency_unavailable
   */
  async reserveModelCall (
    banks: readonly LimitedBank[], tokens: () => number | Promise<number>,
  ): Promise<Reservation> {
    const limits = banks.flatMap(({ key: bank, settings }) => {
      const { [CALLS]: calls, [TOKENS]: maxTokens } = settings.homeostasis.quotas ?? {}
      return calls === undefined && maxTokens === undefined ? [] : [{ bank, calls, maxTokens }]
    })
    if (limits.length === 0) return { settle: () => {} }
    const reserved = limits.some(({ maxTokens }) => maxTokens !== undefined) ? await tokens() : 0
    const now = this.#clock()
    const day = dayOf(now)
    for (const { maxTokens } of limits) {
      // Waiting does not help, so it is not `quota_exceeded`.
      if (maxTokens !== undefined && reserved > maxTokens) {
        throw invalidField('max_tokens', `with the prompt, the request may take ${reserved} tokens of the language ` +
          `model, more than ${TOKENS} (${maxTokens}) allows`)
      }
    }
    const entries = limits.flatMap(({ bank, calls, maxTokens }) => [
      ...(calls === undefined ? [] : [{ bank, day, counter: CALLS, amount: 1, limit: calls }]),
      ...(maxTokens === undefined ? [] : [{ bank, day, counter: TOKENS, amount: reserved, limit: maxTokens }]),
    ])
    const usedUp = await this.#usage.reserve(entries)
    if (usedUp !== undefined) {
      const { counter, limit } = usedUp
      const reason = counter === CALLS ? 'is used up' : 'has too few tokens left for this request'
      throw this.#refused('quota_exceeded', `${counter} (${limit}) ${reason}`, DAY_MS - now % DAY_MS)
    }
    return {
      settle: (tokens, called) => {
        const usedTokens = typeof tokens === 'number' ? tokens : called && reserved > 0 ? tokens() : 0
        const calls = called ? 0 : -1
        const tokensBeyond = (called ? usedTokens : 0) - reserved
        this.#usage.adjust(entries.map(({ bank, day, counter }) => (
          { bank, day, counter, amount: counter === CALLS ? calls : tokensBeyond }
        )))
      },
    }
  }

  /**
   * One limit after the other, so that an operation that one refuses takes nothing of the next, not even for a moment.
   * @returns what undoes the charges
   */
  async #chargeRates (charges: readonly Charge[], caller: Caller, now: number): Promise<() => Promise<void>> {
    const minute = Math.floor(now / MINUTE)
    const uses: CountedUse[] = []
    const report = (isCharged: boolean) => caller.noteRates?.(statesOf(charges, uses, isCharged, now))
    const giveBack = async () => {
      report(false)
      // What cannot be given back stays counted until the minute ends.
      await Promise.allSettled(uses.map(async (use) => { await use.giveBack() }))
    }
    for (const { key, scope, perMinute, amount } of charges) {
      const use = await this.#rates.add({ minute, key, amount }).catch(async (error: unknown) => {
        await giveBack()
        throw error
      })
      uses.push(use)
      if (use.total > perMinute) {
        await giveBack()
        throw this.#refused('rate_limited', `${nameOf(scope)} (${perMinute}) is used up`, MINUTE - now % MINUTE)
      }
    }
    report(true)
    return giveBack
  }

  /** The error of an exhausted limit, with the time after which the caller can retry. */
  #refused (code: 'rate_limited' | 'quota_exceeded', message: string, waitMs: number): ServiceError {
    this.#telemetry.refused(code)
    const retry = retryAfter(waitMs)
    return new ServiceError(code, `The limit ${message}; try again in ${retry.retryAfterSeconds} s`, retry)
  }

  #charges (
    operation: Operation, context: RequestContext, { key: bank, settings }: LimitedBank, items: number,
  ): Charge[] {
    const { rate_limits: limits } = settings.homeostasis
    if (limits === undefined) return []
    // A digest, because names of callers may be long, and belong into no other system.
    const caller = hash('sha256', context.principal ?? '', 'base64url')
    const scopes: RateScope[] = operation === 'configure' ? ['global'] : [operation, 'global']
    return scopes.flatMap((scope) => {
      const perMinute = limits[`${scope}_per_minute`]
      const amount = operation === 'import' && scope === 'global' ? 1 : items
      // An import of only a header takes nothing.
      return perMinute === undefined || amount === 0
        ? []
        : [{ key: `${bankKeyString(bank)} ${scope} ${caller}`, scope, perMinute, amount }]
    })
  }

  #quota (
    operation: Operation, { key: bank, settings: { homeostasis: { quotas } } }: LimitedBank, items: number, now: number,
  ): UsageReservation[] {
    // An import of only a header uses no quota.
    if ((operation !== 'retain' && operation !== 'import' && operation !== 'reflect') || items === 0) return []
    const counter = `${operation}_per_day` as const
    const limit = quotas?.[counter]
    if (limit === undefined) return []
    return [{ bank, day: dayOf(now), counter, amount: items, limit }]
  }
}

function nameOf (scope: RateScope): `${RateScope}_per_minute` {
  return `${scope}_per_minute`
}

/** @param uses of the first charges. @param isCharged whether they stay counted */
function statesOf (
  charges: readonly Charge[], uses: readonly CountedUse[], isCharged: boolean, now: number,
): RateState[] {
  const states = new Map<RateScope, RateState>()
  for (const [index, { total }] of uses.entries()) {
    const { scope, perMinute, amount } = charges[index]!
    const remaining = Math.min(perMinute, Math.max(0, perMinute - (isCharged ? total : total - amount)))
    const known = states.get(scope)
    if (known !== undefined && known.remaining <= remaining) continue
    states.set(scope, { scope, perMinute, remaining, resetSeconds: Math.ceil((MINUTE - now % MINUTE) / 1000) })
  }
  return [...states.values()]
}

function isUnlimited ({ settings: { homeostasis } }: LimitedBank): boolean {
  return homeostasis.rate_limits === undefined && homeostasis.quotas === undefined
}

/** The error for more items than the limit admits at once. Waiting does not help, so it is not `rate_limited`. */
function amountAboveLimit (operation: Operation, name: string, limit: number): ServiceError {
  const limitText = `${name} (${limit}) allows`
  if (operation === 'import') return invalidField('', `The import has more memories than ${limitText}; split it`)
  return invalidField('items', `are more than ${limitText}; split the batch`)
}

/**
 * The most bytes of counts of a process that counts by itself, some 200,000 with short names. Beyond that the least
 * recently used count is evicted, which forgives its bank at most one day's use.
 */
const MAX_COUNT_BYTES = 40_000_000

/** About what a count takes in a cache: an entry, and two bytes for each character of its key. */
function bytesOfCount (key: string): number {
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
