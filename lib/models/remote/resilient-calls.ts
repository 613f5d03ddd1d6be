import { setTimeout as sleep } from 'node:timers/promises'
import { linkedAbort } from '../../base/aborting.js'
import {
  CircuitBreaker, KeyedCircuitBreakers, type BreakerOptions, type BreakerOutcome,
} from '../../base/circuit-breaker.js'
import { withTimeLimit, Deadline } from '../../base/deadline.js'
import { exponentialBackOff, retry } from '../../base/retry.js'
import { Semaphore } from '../../base/semaphore.js'
import type { ModelStatus } from '../health.js'
import { ModelCallError } from './model-call-error.js'

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
        signal: controller.signal, waitMs: timeoutMs,
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

/** A stream whose first part has arrived. */
interface OpenedStream<T> {
  first: IteratorResult<T>
  next: () => Promise<IteratorResult<T>>
  /** Ends the work, unless it has ended. */
  cancel: () => void
}

interface StreamAttempt<T> {
  open: (signal: AbortSignal) => AsyncIterable<T>
  isEnd: (part: T) => boolean
  reportOutcome: ReportAttempt
  /** Runs work within the time of an attempt. */
  withinTimeLimit: <R>(work: () => Promise<R>) => Promise<R>
}

/** Makes one attempt at an answer that comes in parts, and waits for the first. */
export async function openStream<T> (
  call: ActiveCall, { open, isEnd, reportOutcome: ended, withinTimeLimit: within }: StreamAttempt<T>,
): Promise<OpenedStream<T>> {
  const { controller, unlink } = linkedAbort(call.controller.signal)
  let iterator: AsyncIterator<T> | undefined
  const cancel = () => {
    ended({ abandoned: true })
    unlink()
    controller.abort(new DOMException('The answer is not read on', 'AbortError'))
    // return() may wait for a part that is still pending, so it is not awaited.
    void Promise.resolve(iterator).then(async (left) => await left?.return?.()).catch(() => {})
  }
  const next = async () => {
    try {
      iterator ??= open(controller.signal)[Symbol.asyncIterator]()
      const source = iterator
      const part = await within(async () => await source.next())
      // A reader may stop after the last part without asking for the end.
      if (part.done === true || isEnd(part.value)) ended({})
      return part
    } catch (error) {
      ended({ error, abandoned: call.controller.signal.aborted })
      cancel()
      throw error
    }
  }
  return { first: await next(), next, cancel }
}

interface StreamSource<T> {
  /** Waits for a permit. */
  begin: (signal: AbortSignal) => Promise<ActiveCall>
  /** Makes attempts until the first part has arrived. */
  open: (call: ActiveCall) => Promise<OpenedStream<T>>
  /** Milliseconds that the call has left, at least 0. */
  leftMs: (call: ActiveCall) => number
  /** The error of a call whose time is over. */
  timeoutError: () => Error
}

/** An answer in parts for one reader. The call begins when the first part is requested. */
class ResilientStream<T> implements AsyncIterableIterator<T> {
  readonly #abort = new AbortController()
  readonly #parts: AsyncGenerator<T, undefined, undefined>

  /** @param callers signal that ends the reading with its reason */
  constructor (source: StreamSource<T>, callers: AbortSignal | undefined) {
    this.#parts = readSource(source, callers, this.#abort.signal)
  }

  async next (): Promise<IteratorResult<T, undefined>> {
    try {
      return await this.#parts.next()
    } catch (error) {
      if (this.#abort.signal.aborted) return { done: true, value: undefined }
      throw error
    }
  }

  /** Ends the work at once, even while a part is waited for; a generator alone would wait for that part. */
  async return (): Promise<IteratorResult<T, undefined>> {
    this.#abort.abort()
    return await this.#parts.return(undefined)
  }

  [Symbol.asyncIterator] (): this {
    return this
  }
}

type Parts<T> = AsyncGenerator<T, undefined, undefined>

async function * readSource<T> (
  source: StreamSource<T>, callers: AbortSignal | undefined, consumerSignal: AbortSignal,
): Parts<T> {
  const { controller, unlink } = linkedAbort(callers)
  consumerSignal.addEventListener('abort', () => { controller.abort(consumerSignal.reason) })
  try {
    yield * readCall(source, await source.begin(controller.signal))
  } finally {
    unlink()
  }
}

async function * readCall<T> (source: StreamSource<T>, call: ActiveCall): Parts<T> {
  const { signal } = call.controller
  let stream: OpenedStream<T> | undefined
  let deadline: Deadline | undefined
  try {
    const opened = stream = await source.open(call)
    deadline = new Deadline(source.leftMs(call), { expired: source.timeoutError })
    // A reader that never asks again must not keep the permit.
    deadline.signal.addEventListener('abort', () => {
      call.controller.abort(deadline?.signal.reason)
      opened.cancel()
      call.end()
    })
    for (let part = opened.first; part.done !== true; part = await opened.next()) {
      yield part.value
      signal.throwIfAborted()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    deadline?.end()
    stream?.cancel()
    call.end()
  }
}

/** Reports the end of an attempt: without an error when it was answered, `abandoned` when it was cancelled. */
type ReportAttempt = (end: { error?: unknown, abandoned?: boolean }) => void

/** Failures without a call of the endpoint. */
const NOT_SENT: ReadonlySet<string> = new Set(['overloaded', 'circuit_open'])

/**
 * The circuit breakers of a model and of each tenant, so that one tenant's bad requests do not block the others.
 */
class ModelCircuitBreakers {
  readonly #service: string
  readonly #threshold: number
  readonly #model: CircuitBreaker
  readonly #tenants: KeyedCircuitBreakers

  constructor (service: string, options: BreakerOptions, timer: () => number) {
    this.#service = service
    this.#threshold = options.threshold
    this.#model = new CircuitBreaker(options, timer)
    this.#tenants = new KeyedCircuitBreakers(options, timer)
  }

  get status (): NonNullable<ModelStatus['breaker']> {
    return { state: this.#model.state, tenantsOpen: this.#tenants.notClosed }
  }

  /** @throws ModelCallError circuit_open, when a call would be refused now */
  check (tenantId: string | undefined): void {
    if (this.#model.waitMs > 0) throw this.#refusal(this.#model.waitMs)
    const waitMs = tenantId === undefined ? 0 : this.#tenants.waitMs(tenantId)
    if (waitMs > 0) throw this.#tenantRefusal(waitMs)
  }

  /** Allows an attempt. @throws ModelCallError circuit_open */
  tryAcquire (tenantId: string | undefined): ReportAttempt {
    const endedForModel = this.#model.tryAcquire()
    if (endedForModel === undefined) throw this.#refusal(this.#model.waitMs)
    const endedForTenant = tenantId === undefined ? undefined : this.#tenants.tryAcquire(tenantId)
    if (tenantId !== undefined && endedForTenant === undefined) {
      endedForModel('ignored')
      throw this.#tenantRefusal(this.#tenants.waitMs(tenantId))
    }
    return ({ error, abandoned = false }) => {
      const outcome = abandoned ? 'ignored' : outcomeOf(error)
      endedForTenant?.(outcome)
      // An unusable answer may be the fault of what this tenant asked for, and it shows that the endpoint is up.
      const isTenants = endedForTenant !== undefined && error instanceof ModelCallError && error.kind === 'unusable'
      endedForModel(isTenants && outcome === 'failure' ? 'success' : outcome)
    }
  }

  #refusal (retryAfterMs: number): ModelCallError {
    const message = `The ${this.#service} failed ${this.#threshold} times in a row and is not asked for a while`
    return new ModelCallError('circuit_open', message, { retryAfterMs: Math.ceil(retryAfterMs) })
  }

  #tenantRefusal (retryAfterMs: number): ModelCallError {
    const message = `The ${this.#service} failed ${this.#threshold} times in a row for this tenant and is not asked ` +
      'by it for a while'
    return new ModelCallError('circuit_open', message, { retryAfterMs: Math.ceil(retryAfterMs) })
  }
}

/** An error other than ModelCallError is a failure; a model of an operator's own class may throw any. */
function outcomeOf (error: unknown): BreakerOutcome {
  if (error === undefined) return 'success'
  if (!(error instanceof ModelCallError)) return 'failure'
  if (error.cutShort === true || NOT_SENT.has(error.kind)) return 'ignored'
  return error.isFault ? 'failure' : 'success'
}

type CallPriority = 'interactive' | 'background'

export interface CallOptions {
  signal?: AbortSignal | undefined
  /**
   * Milliseconds that the whole call may take, waiting and retries included. Default: no limit but those of the
   * attempts.
   */
  timeoutMs?: number | undefined
  /**
   * Milliseconds that one attempt of this call may take, where calls of this kind have less time than others.
   */
  attemptTimeoutMs?: number
  /** Calls of different priority never wait for each other. Default `background`. */
  priority?: CallPriority
  /** Tenant of the call; each has a circuit breaker of its own. Default: none. */
  tenantId?: string | null | undefined
}

/** A call that holds its permit. */
interface ActiveCall {
  /** Aborted when the caller leaves and when the provider closes. */
  controller: AbortController
  /** In milliseconds of the timer. */
  deadline: number
  attemptTimeoutMs: number
  tenantId: string | undefined
  /** Releases the permit and the listeners; may be called twice. */
  end: () => void
}
