import { setTimeout as sleep } from 'node:timers/promises'
import { handleWhen, retry } from 'cockatiel'
import type { ModelStatus } from '../status.js'
import type { BreakerOptions } from './circuit-breaker.js'
import { Circuits } from './circuits.js'
import { linkedAbort, unlessAborted } from '../../concurrency/aborting.js'
import { ModelCallError } from './model-call-error.js'
import { openParts, Parts, type CallUnderWay } from './resilient-parts.js'
import { Slots } from './slots.js'

/** The first retry waits up to this long; each further one up to twice as long as the one before. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000
/** An endpoint that wants to be left alone for longer has failed the call. */
const LONGEST_RETRY_AFTER_MS = 60_000
/** An attempt that had less than this part of its time tells nothing when that is over; a little goes by before each begins. */
const FULL_ATTEMPT = 0.9
/** Weight of the last call in the mean duration, and the shortest wait that a caller is told. */
const LAST_CALL_WEIGHT = 0.2
const SHORTEST_WAIT_MS = 1000

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
  breaker: BreakerOptions
  tools?: Partial<ResilienceTools>
}

export type CallPriority = 'interactive' | 'background'

export interface CallOptions {
  signal?: AbortSignal
  /** Milliseconds that the whole call may take, waiting and retries included. Default: no limit but those of the attempts. */
  timeoutMs?: number
  /** Milliseconds that one attempt of this call may take, when the endpoint's operator wants less than usual for calls of its kind. */
  attemptTimeoutMs?: number
  /** Calls of the two never wait for each other. Default `background`. */
  priority?: CallPriority
  /** Whose call it is; each tenant has a circuit of its own. Default: nobody's. */
  tenantId?: string | null
}

/**
 * Calls to one endpoint: bounded in number and time, tried again where that may help, and given up at once while the endpoint is
 * known to be down. A slot is held through the retries of a call, so that an endpoint in trouble is asked less.
 */
export class ResilientCalls {
  readonly #options: ResilienceOptions
  readonly #tools: ResilienceTools
  readonly #slots: Record<CallPriority, Slots>
  readonly #circuits: Circuits
  readonly #underWay = new Set<AbortController>()
  #meanMs = 0
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
    const retryAfterMs = () => Math.max(SHORTEST_WAIT_MS, Math.round(this.#meanMs))
    const slots = () => new Slots({ what, slots: maxConcurrency, maxWaiting, retryAfterMs })
    this.#slots = { interactive: slots(), background: slots() }
    this.#circuits = new Circuits(what, breaker, this.#tools.timer)
  }

  /**
   * @param work one attempt; throws ModelCallError, and lets go of everything once its signal is aborted
   * @throws ModelCallError; what else the work throws; the reason of the caller's signal once it is aborted
   */
  async call<T> (work: (signal: AbortSignal) => Promise<T>, options: CallOptions = {}): Promise<T> {
    const call = await this.#begin(options)
    try {
      return await this.#retried(async () => await this.#attempt(work, call), call)
    } catch (error) {
      call.controller.signal.throwIfAborted()
      throw error
    } finally {
      call.end()
    }
  }

  /**
   * An answer that comes in parts. It is tried again until its first part is there; the slot is held until the last. Between two
   * parts there may go by as much time as an attempt may take; `timeoutMs` bounds all of it, the reader's own time too. A reader
   * that stops reading ends the work.
   * @param open one attempt; throws as the work of call() does
   * @param isEnd whether the answer is complete with this part
   * @throws as call()
   */
  stream<T> (open: (signal: AbortSignal) => AsyncIterable<T>, isEnd: (part: T) => boolean, options: CallOptions = {}): AsyncIterableIterator<T> {
    return new Parts({
      begin: async (signal) => await this.#begin({ ...options, signal }),
      open: async (call) => await this.#retried(async () => await openParts(call, {
        open,
        isEnd,
        settle: this.#circuits.enter(call.tenantId),
        within: async (work) => await this.#timed(work, call),
      }), call),
      leftMs: ({ deadline }) => deadline - this.#tools.timer(),
      late: () => this.#late(options.timeoutMs ?? Infinity, true),
    }, options.signal)
  }

  status (): Required<Pick<ModelStatus, 'breaker' | 'running' | 'waiting'>> {
    const slots = Object.values(this.#slots)
    return {
      breaker: this.#circuits.status,
      running: slots.reduce((sum, { taken }) => sum + taken, 0),
      waiting: slots.reduce((sum, { waiting }) => sum + waiting, 0),
    }
  }

  /** Ends what is under way and refuses what comes. */
  close (): void {
    this.#closed = true
    for (const controller of this.#underWay) controller.abort(this.#closing())
  }

  /** Waits for a slot. */
  async #begin ({ signal: callers, timeoutMs = Infinity, attemptTimeoutMs = Infinity, priority = 'background', tenantId }: CallOptions): Promise<CallUnderWay> {
    if (this.#closed) throw this.#closing()
    callers?.throwIfAborted()
    // Here already, for the slots may be held by calls that hang while the circuit is open.
    this.#circuits.check(tenantId ?? undefined)
    const { controller, unlink } = linkedAbort(callers)
    const { timer } = this.#tools
    const beganAt = timer()
    this.#underWay.add(controller)
    const leave = () => {
      unlink()
      this.#underWay.delete(controller)
    }
    try {
      const giveBack = await this.#slots[priority].take(controller.signal, timeoutMs)
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
          giveBack()
          leave()
        },
      }
    } catch (error) {
      leave()
      controller.signal.throwIfAborted()
      throw error
    }
  }

  async #retried<T> (attempt: () => Promise<T>, { controller: { signal }, deadline }: CallUnderWay): Promise<T> {
    const { timer, sleep } = this.#tools
    let failures = 0
    let pauseMs = 0
    // The policy's own pauses cannot be aborted, so it has none: an attempt begins with the pause.
    const policy = retry(handleWhen((error) => {
      if (signal.aborted || !(error instanceof ModelCallError && error.isRetryable)) return false
      pauseMs = this.#pauseAfter(error, ++failures)
      return (error.retryAfterMs ?? 0) <= LONGEST_RETRY_AFTER_MS && timer() + pauseMs < deadline
    }), { maxAttempts: this.#options.maxRetries })
    return await policy.execute(async ({ attempt: number }) => {
      if (number > 0) await sleep(pauseMs, signal)
      signal.throwIfAborted()
      return await attempt()
    })
  }

  /** Full jitter (Brooker 2015), on top of what the endpoint asks for: those it sent away together must not come back together. */
  #pauseAfter ({ retryAfterMs = 0 }: ModelCallError, failures: number): number {
    return retryAfterMs + this.#tools.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  }

  async #attempt<T> (work: (signal: AbortSignal) => Promise<T>, call: CallUnderWay): Promise<T> {
    const settle = this.#circuits.enter(call.tenantId)
    try {
      const result = await this.#timed(work, call)
      settle({})
      return result
    } catch (error) {
      settle({ error, leaving: call.controller.signal.aborted })
      throw error
    }
  }

  /** The work in the time that an attempt may take and the call has left. */
  async #timed<T> (work: (signal: AbortSignal) => Promise<T>, { controller: { signal }, deadline, attemptTimeoutMs }: CallUnderWay): Promise<T> {
    const limitMs = Math.max(Math.min(attemptTimeoutMs, deadline - this.#tools.timer()), 0)
    // Each part of a stream comes through here, for which a policy of the retries' library does too much.
    const { controller, unlink } = linkedAbort(signal)
    const timer = setTimeout(() => { controller.abort(this.#late(limitMs, limitMs < attemptTimeoutMs * FULL_ATTEMPT)) }, limitMs)
    try {
      return await unlessAborted(work(controller.signal), controller.signal)
    } catch (error) {
      controller.signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      unlink()
    }
  }

  #late (limitMs: number, cutShort: boolean): ModelCallError {
    return new ModelCallError('timeout', `The ${this.#options.what} did not answer within ${Math.round(limitMs)} ms`, { cutShort })
  }

  #closing (): ModelCallError {
    return new ModelCallError('unreachable', `The ${this.#options.what} is asked no more: the provider is closed`)
  }
}
