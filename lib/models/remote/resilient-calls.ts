import { setTimeout as sleep } from 'node:timers/promises'
import { linkedAbort } from '../../concurrency/aborting.js'
import type { BreakerOptions } from '../../concurrency/circuit-breaker.js'
import { withTimeLimit } from '../../concurrency/deadline.js'
import { exponentialBackOff, retry } from '../../concurrency/retry.js'
import { Semaphore } from '../../concurrency/semaphore.js'
import type { ModelStatus } from '../status.js'
import type { CallOptions, CallPriority, ActiveCall } from './call-options.js'
import { ModelCallError } from './model-call-error.js'
import { ModelCircuitBreakers } from './model-circuit-breakers.js'
import { openStream, ResilientStream } from './resilient-stream.js'

/** The first retry waits up to this long; each further one up to twice as long as the one before. */
const BASE_DELAY_MS = 250
const MAX_DELAY_MS = 8000
/** A call fails when the endpoint asks for a longer pause than this. */
const MAX_RETRY_AFTER_MS = 60_000
/**
 * A timeout counts against the endpoint only when the attempt had at least this share of its time. It is below 1
 * because a little time passes before each attempt begins.
 */
const FULL_ATTEMPT_SHARE = 0.9
/** Weight of the last call in the mean duration, and the shortest wait reported to a caller. */
const LAST_CALL_WEIGHT = 0.2
const MIN_WAIT_MS = 1000

/** Replacements of timer, random numbers and sleep for tests. */
export interface ResilienceTools {
  /** Milliseconds of a monotonic clock. */
  timer: () => number
  /** At least 0, below 1. */
  random: () => number
  /** Resolves after these milliseconds; rejects once the signal is aborted. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

export interface ResilienceOptions {
  /** Name of the endpoint in messages: `embedding endpoint`. */
  service: string
  /** Calls under way at a time, of each priority. */
  maxConcurrency: number
  /** Calls that may wait for others to end, of each priority. */
  maxWaiting: number
  /** Milliseconds that one attempt may take. */
  attemptTimeoutMs: number
  /** Attempts after the first. */
  maxRetries: number
  breaker: BreakerOptions
  tools?: Partial<ResilienceTools>
}

/**
 * Calls to one endpoint with bounded concurrency and time, retries, and a circuit breaker. A call holds its permit
 * during its retries, so that a failing endpoint gets fewer calls.
 */
export class ResilientCalls {
  readonly #options: ResilienceOptions
  readonly #tools: ResilienceTools
  readonly #semaphores: Record<CallPriority, Semaphore>
  readonly #breakers: ModelCircuitBreakers
  readonly #activeCalls = new Set<AbortController>()
  #meanMs = 0
  #closed = false

  constructor (options: ResilienceOptions) {
    const { service, breaker, tools } = options
    this.#options = options
    this.#tools = {
      timer: () => performance.now(),
      random: Math.random,
      sleep: async (milliseconds, signal) => { await sleep(milliseconds, undefined, { signal }) },
      ...tools,
    }
    this.#semaphores = { interactive: this.#semaphore(), background: this.#semaphore() }
    this.#breakers = new ModelCircuitBreakers(service, breaker, this.#tools.timer)
  }

  /**
   * @param work one attempt; throws ModelCallError, and releases everything once its signal is aborted
   * @throws ModelCallError; any other error of the work; the reason of the caller's signal once it is aborted
   */
  async call<T> (work: (signal: AbortSignal) => Promise<T>, options: CallOptions = {}): Promise<T> {
    const call = await this.#begin(options)
    try {
      return await this.#withRetries(async () => await this.#attempt(work, call), call)
    } catch (error) {
      call.controller.signal.throwIfAborted()
      throw error
    } finally {
      call.end()
    }
  }

  /**
   * Streams an answer in parts. Attempts are repeated until the first part has arrived; the permit is held until the
   * last. Two parts may be as far apart as an attempt may take; `timeoutMs` limits the whole, including the reader's
   * own time. A reader that stops reading ends the work.
   * @param open one attempt; throws like the work of call()
   * @param isEnd whether the answer is complete with this part
   * @throws as call()
   */
  stream<T> (
    open: (signal: AbortSignal) => AsyncIterable<T>,
    isEnd: (part: T) => boolean,
    options: CallOptions = {},
  ): AsyncIterableIterator<T> {
    return new ResilientStream({
      begin: async (signal) => await this.#begin({ ...options, signal }),
      open: async (call) => await this.#withRetries(async () => await openStream(call, {
        open,
        isEnd,
        reportOutcome: this.#breakers.tryAcquire(call.tenantId),
        withinTimeLimit: async (work) => await this.#withinTimeLimit(work, call),
      }), call),
      leftMs: ({ deadline }) => Math.max(0, deadline - this.#tools.timer()),
      timeoutError: () => this.#timeoutError(options.timeoutMs ?? Infinity, true),
    }, options.signal)
  }

  status (): Required<Pick<ModelStatus, 'breaker' | 'running' | 'waiting'>> {
    const semaphores = Object.values(this.#semaphores)
    return {
      breaker: this.#breakers.status,
      running: semaphores.reduce((sum, { held }) => sum + held, 0),
      waiting: semaphores.reduce((sum, { waiting }) => sum + waiting, 0),
    }
  }

  /** Ends the calls in progress and refuses further ones. */
  close (): void {
    this.#closed = true
    for (const controller of this.#activeCalls) controller.abort(this.#closedError())
  }

  #semaphore (): Semaphore {
    const { service, maxConcurrency: permits, maxWaiting } = this.#options
    const overloaded = (message: string) => {
      return new ModelCallError('overloaded', message, {
        retryAfterMs: Math.max(MIN_WAIT_MS, Math.round(this.#meanMs)),
      })
    }
    return new Semaphore({
      permits,
      maxWaiting,
      queueFullError: () => overloaded(`All ${permits} calls to the ${service} are under way and ${maxWaiting} wait`),
      timeoutError: (waitMs) => overloaded(`None of the ${permits} calls to the ${service} ended within ` +
        `${Math.round(waitMs)} ms`),
    })
  }

  /** Waits for a permit. */
  async #begin (options: CallOptions): Promise<ActiveCall> {
    const {
      signal: callers, timeoutMs = Infinity, attemptTimeoutMs = Infinity, priority = 'background', tenantId,
    } = options
    if (this.#closed) throw this.#closedError()
    callers?.throwIfAborted()
    // Checked before waiting for a permit, because calls that hang may hold the permits while the circuit is open.
    this.#breakers.check(tenantId ?? undefined)
    const { controller, unlink } = linkedAbort(callers)
    const { timer } = this.#tools
    const beganAt = timer()
    this.#activeCalls.add(controller)
    const leave = () => {
      unlink()
      this.#activeCalls.delete(controller)
    }
    try {
      const release = await this.#semaphores[priority].acquire({
        signal: controller.signal, waitMs: timeoutMs, flow: [tenantId ?? ''],
      })
      const tookAt = timer()
      let ended = false
      return {
        controller,
        deadline: beganAt + timeoutMs,
        attemptTimeoutMs: Math.min(this.#options.attemptTimeoutMs, attemptTimeoutMs),
        tenantId: tenantId ?? undefined,
        end: () => {
          if (ended) return
          ended = true
          this.#meanMs += LAST_CALL_WEIGHT * (timer() - tookAt - this.#meanMs)
          release()
          leave()
        },
      }
    } catch (error) {
      leave()
      controller.signal.throwIfAborted()
      throw error
    }
  }

  async #withRetries<T> (attempt: () => Promise<T>, { controller: { signal }, deadline }: ActiveCall): Promise<T> {
    const { timer, sleep } = this.#tools
    return await retry(async () => {
      signal.throwIfAborted()
      return await attempt()
    }, {
      delayMs: (error, failures) => {
        if (signal.aborted || failures > this.#options.maxRetries) return undefined
        if (!(error instanceof ModelCallError && error.isRetryable)) return undefined
        const delayMs = this.#delayAfter(error, failures)
        return (error.retryAfterMs ?? 0) <= MAX_RETRY_AFTER_MS && timer() + delayMs < deadline ? delayMs : undefined
      },
      sleep: async (milliseconds) => { await sleep(milliseconds, signal) },
    })
  }

  /**
   * Full jitter (Brooker 2015), added to the pause that the endpoint asks for, so that clients which were refused
   * together do not retry together.
   */
  #delayAfter ({ retryAfterMs = 0 }: ModelCallError, failures: number): number {
    return retryAfterMs + this.#tools.random() * exponentialBackOff(failures, BASE_DELAY_MS, MAX_DELAY_MS)
  }

  async #attempt<T> (work: (signal: AbortSignal) => Promise<T>, call: ActiveCall): Promise<T> {
    const ended = this.#breakers.tryAcquire(call.tenantId)
    try {
      const result = await this.#withinTimeLimit(work, call)
      ended({})
      return result
    } catch (error) {
      ended({ error, abandoned: call.controller.signal.aborted })
      throw error
    }
  }

  /** Runs work within the time of an attempt and the rest of the call's time. */
  async #withinTimeLimit<T> (work: (signal: AbortSignal) => Promise<T>, call: ActiveCall): Promise<T> {
    const { controller: { signal }, deadline, attemptTimeoutMs } = call
    const limitMs = Math.max(Math.min(attemptTimeoutMs, deadline - this.#tools.timer()), 0)
    const isShort = limitMs < attemptTimeoutMs * FULL_ATTEMPT_SHARE
    return await withTimeLimit(limitMs, signal, work, () => this.#timeoutError(limitMs, isShort))
  }

  #timeoutError (limitMs: number, cutShort: boolean): ModelCallError {
    return new ModelCallError(
      'timeout', `The ${this.#options.service} did not answer within ${Math.round(limitMs)} ms`, { cutShort },
    )
  }

  #closedError (): ModelCallError {
    return new ModelCallError('unreachable', `The ${this.#options.service} is no longer called: the provider is closed`)
  }
}
