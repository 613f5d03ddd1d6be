import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.js'
import type { ServiceError } from '../errors.js'
import { bankKeyString } from '../identity/context.js'
import { refused } from './admission.js'
import { NO_TELEMETRY, type Telemetry } from '../telemetry.js'
import type { ResolvedBank } from './bank.js'

const DAY = 86_400_000
/** See MAX_COUNTERS of lib/policy/admission.ts. */
const MAX_COUNTERS = 100_000
const BOUND = { maxSize: MAX_COUNTERS, sizeCalculation: () => 1 }

interface Used {
  calls: number
  tokens: number
}

/** What a call of a language model has been allowed to use. */
export interface Reservation {
  /**
   * Puts what was used in the place of what was reckoned with; call it once.
   * @param tokens of prompt and answer; a function is asked only when a budget counts them, since counting takes time
   * @param called whether the call came to the model at all; one that did not is not counted
   */
  settle (tokens: number | (() => number), called: boolean): void
}

const FREE: Reservation = { settle: () => {} }

/**
 * Budgets of the language model, a bank and UTC day: calls and tokens (`homeostasis.quotas.model_calls_per_day`,
 * `model_tokens_per_day`). They are counted before a call, with the most that it may use, so that calls at the same moment cannot
 * spend one rest twice. A call on several banks counts for each of them.
 */
export class ModelBudget {
  readonly #clock: Clock
  readonly #telemetry: Pick<Telemetry, 'refused'>
  readonly #used = new LRUCache<string, Used>(BOUND)

  constructor (clock: Clock, telemetry: Pick<Telemetry, 'refused'> = NO_TELEMETRY) {
    this.#clock = clock
    this.#telemetry = telemetry
  }

  /**
   * @param tokens the most that the call may use; asked for only when a budget of tokens is set
   * @throws ServiceError quota_exceeded with `retry_after_seconds`; nothing is counted then
   */
  reserve (banks: readonly ResolvedBank[], tokens: () => number): Reservation {
    const limits = banks.flatMap(({ key: bank, settings }) => {
      const { model_calls_per_day: calls, model_tokens_per_day: most } = settings.homeostasis.quotas ?? {}
      return calls === undefined && most === undefined ? [] : [{ bank, calls, most }]
    })
    if (limits.length === 0) return FREE
    const now = this.#clock()
    const wanted = limits.some(({ most }) => most !== undefined) ? tokens() : 0
    const counters = limits.map(({ bank, calls, most }) => {
      const key = `${Math.floor(now / DAY)} ${bankKeyString(bank)}`
      const used = this.#used.get(key) ?? { calls: 0, tokens: 0 }
      if (calls !== undefined && used.calls + 1 > calls) throw this.#refused(`model_calls_per_day (${calls}) is used up`, DAY - now % DAY)
      if (most !== undefined && used.tokens + wanted > most) throw this.#refused(`model_tokens_per_day (${most}) leaves no room for this request`, DAY - now % DAY)
      return { key, used }
    })
    for (const { key, used } of counters) this.#used.set(key, { calls: used.calls + 1, tokens: used.tokens + wanted })
    return {
      settle: (tokens, called) => {
        const spent = typeof tokens === 'number' ? tokens : called && wanted > 0 ? tokens() : 0
        for (const { key } of counters) {
          const used = this.#used.get(key)
          if (used === undefined) continue
          this.#used.set(key, { calls: Math.max(0, used.calls - (called ? 0 : 1)), tokens: Math.max(0, used.tokens - wanted + (called ? spent : 0)) })
        }
      },
    }
  }

  #refused (what: string, waitMs: number): ServiceError {
    this.#telemetry.refused('quota_exceeded')
    return refused('quota_exceeded', what, waitMs)
  }
}
