import { LRUCache } from 'lru-cache'
import type { Clock } from '../time/clock.js'
import { invalidField, retryAfter, ServiceError } from '../errors/service-error.js'
import { bankKeyString, type RequestContext } from '../identity/context.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { UsageReservation } from '../stores/vector-store.js'
import type { ResolvedBank } from './bank.js'
import { DAY_MS, dayOf } from '../time/days.js'
import { bytesOfCount, type UsageCounters } from './usage-counters.js'

/**
 * `configure` changes the configuration of a bank and counts towards the global limit only. The global limit counts an
 * import once; the limits of imports count its memories.
 */
export type Operation = 'retain' | 'import' | 'recall' | 'reflect' | 'forget' | 'configure'

const MINUTE = 60_000
/**
 * The most bytes of buckets in memory, some 100,000 with short names: names of callers and banks may be long, and a
 * caller may have many of both. Beyond that the least recently used bucket is evicted, which forgives its owner at most
 * one minute's use.
 */
const MAX_BUCKET_BYTES = 20_000_000
/** `maxSize`, because with `max` the cache allocates all entries at once, which costs each start some 12 ms. */
const BOUND = { maxSize: MAX_BUCKET_BYTES, sizeCalculation: (_bucket: Bucket, key: string) => bytesOfCount(key) }

interface Bucket {
  tokens: number
  refilledAt: number
}

interface Charge {
  key: string
  name: string
  perMinute: number
  /** The tokens that the operation takes. */
  amount: number
}

/** An operation that its limits have admitted. */
export interface Admission {
  /** Returns the daily quota of an operation that failed. It takes effect once, and callers do not wait for it. */
  release (): void
}

const UNLIMITED: Admission = { release: () => {} }

/**
 * Rate limits (a token bucket for each principal and bank), which each process counts by itself, and daily quotas (for
 * each bank and UTC day), which the store counts if it supports that.
 */
export class AdmissionControl {
  readonly #clock: Clock
  readonly #telemetry: Pick<Telemetry, 'refused'>
  readonly #buckets = new LRUCache<string, Bucket>(BOUND)
  readonly #usage: UsageCounters

  constructor (clock: Clock, telemetry: Pick<Telemetry, 'refused'>, usage: UsageCounters) {
    this.#clock = clock
    this.#telemetry = telemetry
    this.#usage = usage
  }

  /**
   * Charges every limit on every bank, or none of them and throws.
   * @param items what the operation costs: a batch counts each item, an import each memory
   * @throws ServiceError rate_limited or quota_exceeded with `retryAfterSeconds`; invalid_request when the batch is
   *   larger than a whole limit; dependency_unavailable when the store that counts quotas is down
   */
  async admit (
    operation: Operation, context: RequestContext, banks: readonly ResolvedBank[], items = 1,
  ): Promise<Admission> {
    // Most banks have none.
    if (banks.every(isUnlimited)) return UNLIMITED
    const now = this.#clock()
    const charges = banks.flatMap((bank) => this.#charges(operation, context, bank, items))
    const quotas = banks.flatMap((bank) => this.#quota(operation, bank, items, now))
    this.#checkRates(operation, charges, now)
    for (const { counter, limit } of quotas) {
      if (items > limit) throw amountAboveLimit(operation, counter, limit)
    }
    for (const { key, perMinute, amount } of charges) {
      const bucket = this.#refilled(key, perMinute, now)
      this.#buckets.set(key, { tokens: bucket.tokens - amount, refilledAt: now })
    }
    if (quotas.length === 0) return UNLIMITED
    const usedUp = await this.#usage.reserve(quotas).catch((error: unknown) => {
      this.#refund(charges)
      throw error
    })
    if (usedUp !== undefined) {
      this.#refund(charges)
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
   * Undoes the rate charges of a refused quota. They are charged before it, so that concurrent requests cannot use the
   * same tokens.
   */
  #refund (charges: readonly Charge[]): void {
    const now = this.#clock()
    for (const { key, perMinute, amount } of charges) {
      const { tokens } = this.#refilled(key, perMinute, now)
      this.#buckets.set(key, { tokens: Math.min(perMinute, tokens + amount), refilledAt: now })
    }
  }

  #checkRates (operation: Operation, charges: readonly Charge[], now: number): void {
    let wait = 0
    let tightest: Charge | undefined
    for (const charge of charges) {
      if (charge.amount > charge.perMinute) throw amountAboveLimit(operation, charge.name, charge.perMinute)
      // Refilling adds fractions, so a rounding error below a whole token counts as a whole one.
      const missing = charge.amount - this.#refilled(charge.key, charge.perMinute, now).tokens - 1e-9
      const needed = missing * MINUTE / charge.perMinute
      if (needed > wait) {
        wait = needed
        tightest = charge
      }
    }
    if (tightest === undefined) return
    throw this.#refused('rate_limited', `${tightest.name} (${tightest.perMinute}) is used up`, wait)
  }

  #refused (...refusal: Parameters<typeof limitExceeded>): ServiceError {
    this.#telemetry.refused(refusal[0])
    return limitExceeded(...refusal)
  }

  #refilled (key: string, perMinute: number, now: number): Bucket {
    const bucket = this.#buckets.get(key)
    if (bucket === undefined) return { tokens: perMinute, refilledAt: now }
    // When the clock was set back, no tokens are lost and refilling starts at the new time.
    bucket.refilledAt = Math.min(bucket.refilledAt, now)
    const tokens = bucket.tokens + (now - bucket.refilledAt) * perMinute / MINUTE
    return { tokens: Math.min(perMinute, tokens), refilledAt: now }
  }

  #charges (
    operation: Operation, context: RequestContext, { key: bank, settings: { rateLimits } }: ResolvedBank, items: number,
  ): Charge[] {
    if (rateLimits === undefined) return []
    const charges: Charge[] = []
    for (const scope of operation === 'configure' ? ['global' as const] : [operation, 'global' as const]) {
      const perMinute = rateLimits[scope]
      if (perMinute === undefined) continue
      const amount = operation === 'import' && scope === 'global' ? 1 : items
      // A principal has no white space, so the key is unambiguous.
      const key = `${scope} ${context.principal ?? ''} ${bankKeyString(bank)}`
      charges.push({ key, name: `${scope}_per_minute`, perMinute, amount })
    }
    return charges
  }

  #quota (
    operation: Operation, { key: bank, settings: { quotas } }: ResolvedBank, items: number, now: number,
  ): UsageReservation[] {
    // An import of only a header uses no quota.
    if ((operation !== 'retain' && operation !== 'import' && operation !== 'reflect') || items === 0) return []
    const limit = quotas?.[operation]
    if (limit === undefined) return []
    return [{ bank, day: dayOf(now), counter: `${operation}_per_day`, amount: items, limit }]
  }
}

function isUnlimited ({ settings: { rateLimits, quotas } }: ResolvedBank): boolean {
  return rateLimits === undefined && quotas === undefined
}

/** The error of an exhausted limit, with the time after which the caller can retry. */
export function limitExceeded (code: 'rate_limited' | 'quota_exceeded', message: string, waitMs: number): ServiceError {
  const retry = retryAfter(waitMs)
  return new ServiceError(code, `The limit ${message}; try again in ${retry.retryAfterSeconds} s`, retry)
}

/** The error for more items than the limit admits at once. Waiting does not help, so it is not `rate_limited`. */
function amountAboveLimit (operation: Operation, name: string, limit: number): ServiceError {
  const limitText = `${name} (${limit}) allows`
  if (operation === 'import') return invalidField('', `The import has more memories than ${limitText}; split it`)
  return invalidField('items', `are more than ${limitText}; split the batch`)
}
