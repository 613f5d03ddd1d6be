import { setTimeout as sleep } from 'node:timers/promises'
import {
  BrokenCircuitError, circuitBreaker, CircuitState, ConsecutiveBreaker, handleWhen, retry, TaskCancelledError, timeout, TimeoutStrategy,
  type CircuitBreakerPolicy,
} from 'cockatiel'
import { linkedAbort } from './linked-abort.js'
import { ModelCallError } from './model-call-error.js'
import { Slots } from './slots.js'

/** The first retry waits up to this long; each further one up to twice as long as the one before. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000
/** An endpoint that wants to be left alone for longer has failed the call. */
const LONGEST_RETRY_AFTER_MS = 60_000

/** What tests put in place of time and chance. */
export interface ResilienceTools {
  /** Milliseconds of a clock that only rises. */
  timer: () => number
  /** At least 0, below 1. */
  random: () => number
  /** Settles after so many milliseconds; rejects once the signal is aborted. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

export interface ResilienceOptions {
  /** What is asked, for messages: `embedding endpoint`. */
  what: string
  /** Calls under way at a time, of each priority. */
  maxConcurrency: number
  /** Calls that may wait for others to end, of each priority. */
  maxWaiting: number
  /** Milliseconds that one attempt may take. */
  attemptTimeoutMs: number
  /** Attempts after the first. */
  maxRetries: number
  /** Faults in a row that open the circuit, and how long it stays open. */
  breaker: { threshold: number, recoveryMs: number }
  tools?: Partial<ResilienceTools>
}

export type CallPriority = 'interactive' | 'background'

export interface CallOptions {
  signal?: AbortSignal
  /** Milliseconds that the whole call may take, waiting and retries included. Default: no limit but those of the attempts. */
  timeoutMs?: number
  /** Calls of the two never wait for each other. Default `background`. */
  priority?: CallPriority
}

/** The trial of an open circuit ended because its caller left: it told nothing, so another one has to be made later. */
class AbandonedTrial extends Error {}

/**
 * Calls to one endpoint: bounded in number and time, tried again where that may help, and given up at once while the endpoint is
 * known to be down. A slot is held through the retries of a call, so that an endpoint in trouble is asked less.
 */
export class ResilientCalls {
  readonly #options: ResilienceOptions
  readonly #tools: ResilienceTools
  readonly #slots: Record<CallPriority, Slots>
  readonly #breaker: CircuitBreakerPolicy
  readonly #underWay = new Set<AbortController>()
  #closed = false

  constructor (options: ResilienceOptions) {
    const { what, maxConcurrency, maxWaiting, breaker, tools } = options
    this.#options = options
    this.#tools = {
      timer: () => performance.now(),
      random: Math.random,
      sleep: async (milliseconds, signal) => { await sleep(milliseconds, undefined, { signal }) },
      ...tools,
    }
    const slots = () => new Slots({ what, slots: maxConcurrency, maxWaiting })
    this.#slots = { interactive: slots(), background: slots() }
    this.#breaker = circuitBreaker(handleWhen((error) => error instanceof AbandonedTrial || (error instanceof ModelCallError && error.isFault)), {
      halfOpenAfter: breaker.recoveryMs,
      breaker: new ConsecutiveBreaker(breaker.threshold),
    })
  }

  /**
   * @param work one attempt; throws ModelCallError, and lets go of everything once its signal is aborted
   * @throws ModelCallError; the reason of the caller's signal once it is aborted
   */
  async call<T> (work: (signal: AbortSignal) => Promise<T>, { signal: callers, timeoutMs = Infinity, priority = 'background' }: CallOptions = {}): Promise<T> {
    if (this.#closed) throw this.#closing()
    const { controller, unlink } = linkedAbort(callers)
    const deadline = this.#tools.timer() + timeoutMs
    this.#underWay.add(controller)
    try {
      const giveBack = await this.#slots[priority].take(controller.signal, timeoutMs)
      try {
        return await this.#retried(work, controller.signal, deadline)
      } finally {
        giveBack()
      }
    } catch (error) {
      controller.signal.throwIfAborted()
      throw error
    } finally {
      unlink()
      this.#underWay.delete(controller)
    }
  }

  /** Ends what is under way and refuses what comes. */
  close (): void {
    this.#closed = true
    for (const controller of this.#underWay) controller.abort(this.#closing())
  }

  async #retried<T> (work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal, deadline: number): Promise<T> {
    const { timer, sleep } = this.#tools
    let failures = 0
    let pauseMs = 0
    // The policy's own pauses cannot be aborted, so it has none: an attempt begins with the pause.
    const policy = retry(handleWhen((error) => {
      if (signal.aborted || !(error instanceof ModelCallError && error.isRetryable)) return false
      pauseMs = this.#pauseAfter(error, ++failures)
      return (error.retryAfterMs ?? 0) <= LONGEST_RETRY_AFTER_MS && timer() + pauseMs < deadline
    }), { maxAttempts: this.#options.maxRetries })
    return await policy.execute(async ({ attempt }) => {
      if (attempt > 0) await sleep(pauseMs, signal)
      return await this.#attempt(work, signal, deadline - timer())
    })
  }

  /** Full jitter (Brooker 2015), on top of what the endpoint asks for: those it sent away together must not come back together. */
  #pauseAfter ({ retryAfterMs = 0 }: ModelCallError, failures: number): number {
    return retryAfterMs + this.#tools.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  }

  async #attempt<T> (work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal, leftMs: number): Promise<T> {
    signal.throwIfAborted()
    // The policy would let all callers wait for the trial; they are better served by an answer at once.
    if (this.#breaker.state === CircuitState.HalfOpen) throw this.#open()
    const isTrial = this.#breaker.state === CircuitState.Open
    try {
      return await this.#breaker.execute(async () => {
        try {
          return await this.#timed(work, signal, Math.min(this.#options.attemptTimeoutMs, leftMs))
        } catch (error) {
          // The policy takes an error that is no fault for a sign of life and would close the circuit.
          throw isTrial && signal.aborted ? new AbandonedTrial() : error
        }
      })
    } catch (error) {
      throw error instanceof BrokenCircuitError ? this.#open() : error
    }
  }

  async #timed<T> (work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal, limitMs: number): Promise<T> {
    try {
      return await timeout(Math.max(limitMs, 0), TimeoutStrategy.Aggressive).execute(async ({ signal: own }) => {
        try {
          return await work(own)
        } catch (error) {
          throw own.aborted ? new TaskCancelledError() : error
        }
      }, signal)
    } catch (error) {
      if (!(error instanceof TaskCancelledError) || signal.aborted) throw error
      throw new ModelCallError('timeout', `The ${this.#options.what} did not answer within ${Math.round(limitMs)} ms`)
    }
  }

  #open (): ModelCallError {
    return new ModelCallError('circuit_open', `The ${this.#options.what} failed ${this.#options.breaker.threshold} times in a row and is not asked for a while`)
  }

  #closing (): ModelCallError {
    return new ModelCallError('unreachable', `The ${this.#options.what} is asked no more: the provider is closed`)
  }
}
