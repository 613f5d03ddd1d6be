import type { Clock } from '../time/clock.js'
import { invalidField, type ServiceError } from '../errors/service-error.js'
import { limitExceeded } from './admission.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { ResolvedBank } from './bank.js'
import { DAY_MS, dayOf } from '../time/days.js'
import type { UsageCounters } from './usage-counters.js'

const CALLS = 'model_calls_per_day'
const TOKENS = 'model_tokens_per_day'

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

const UNLIMITED: Reservation = { settle: () => {} }

/**
 * Budgets of the language model for each bank and UTC day: calls and tokens (`homeostasis.quotas.model_calls_per_day`,
 * `model_tokens_per_day`). The most that a call may use is reserved before it, so that concurrent calls, also on other
 * gateways with the same store, cannot exceed the budget together. A call on several banks counts for each of them.
 */
export class ModelBudget {
  readonly #clock: Clock
  readonly #telemetry: Pick<Telemetry, 'refused'>
  readonly #usage: UsageCounters

  constructor (clock: Clock, telemetry: Pick<Telemetry, 'refused'>, usage: UsageCounters) {
    this.#clock = clock
    this.#telemetry = telemetry
    this.#usage = usage
  }

  /**
   * @param tokens the most that the call may use; called only when a budget of tokens is set
   * @throws ServiceError quota_exceeded with `retryAfterSeconds`, and nothing is counted; invalid_request for more
   *   tokens than a budget ever has; dependency_unavailable
   */
  async reserve (
    banks: readonly ResolvedBank[], tokens: () => number | Promise<number>,
  ): Promise<Reservation> {
    const limits = banks.flatMap(({ key: bank, settings }) => {
      const { modelCalls: calls, modelTokens: maxTokens } = settings.quotas ?? {}
      return calls === undefined && maxTokens === undefined ? [] : [{ bank, calls, maxTokens }]
    })
    if (limits.length === 0) return UNLIMITED
    const reserved = limits.some(({ maxTokens }) => maxTokens !== undefined) ? await tokens() : 0
    const now = this.#clock()
    const day = dayOf(now)
    for (const { maxTokens } of limits) {
      // Waiting does not help, so it is not `quota_exceeded`.
      if (maxTokens !== undefined && reserved > maxTokens) throw amountAboveLimit(reserved, maxTokens)
    }
    const entries = limits.flatMap(({ bank, calls, maxTokens }) => [
      ...(calls === undefined ? [] : [{ bank, day, counter: CALLS, amount: 1, limit: calls }]),
      ...(maxTokens === undefined ? [] : [{ bank, day, counter: TOKENS, amount: reserved, limit: maxTokens }]),
    ])
    const usedUp = await this.#usage.reserve(entries)
    if (usedUp !== undefined) {
      const { counter, limit } = usedUp
      const reason = counter === CALLS ? 'is used up' : 'has too few tokens left for this request'
      throw this.#refused(`${counter} (${limit}) ${reason}`, DAY_MS - now % DAY_MS)
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

  #refused (message: string, waitMs: number): ServiceError {
    this.#telemetry.refused('quota_exceeded')
    return limitExceeded('quota_exceeded', message, waitMs)
  }
}

function amountAboveLimit (tokens: number, limit: number): ServiceError {
  return invalidField('max_tokens', `with the prompt, the request may take ${tokens} tokens of the language model, ` +
    `more than ${TOKENS} (${limit}) allows`)
}
