import { linkedAbort } from '../base/aborting.js'
import type { BreakerOptions } from '../base/circuit-breaker.js'
import { withTimeLimit } from '../base/deadline.js'
import { withoutUndefined } from '../base/members.js'
import { withoutMessage } from '../base/message-of.js'
import type { ModelCallOutcome, ModelCallRecord, Telemetry } from '../base/telemetry.js'
import { SpanKind, traced } from '../base/tracing.js'
import { ProviderError } from '../config/providers/registry.js'
import { OpenAiLanguageSettings } from '../config/providers/schemas/language-models.js'
import { EmbeddingDecorator, type EmbeddingProvider, type EmbedOptions } from './embedding-provider.js'
import type { ModelStatus } from './health.js'
import type { GenerateRequest, Generation, GenerationPart, LanguageModel } from './language-model.js'
import { ModelCallError } from './remote/model-call-error.js'
import { ResilientCalls, type CallOptions, type ResilienceTools } from './remote/resilient-calls.js'
import type { Reranker } from './reranker.js'

/** Bounds of the calls to a model. */
export interface CallLimits {
  /** Milliseconds that one attempt may take. */
  attemptTimeoutMs: number
  /** Attempts after the first. */
  maxRetries: number
  /** Calls in progress at a time. */
  maxConcurrency: number
  /** Calls that may wait for a permit; further calls fail. */
  maxWaiting: number
}

/** Those of a language model behind HTTP, for a model that does not state its own. */
const {
  timeout_ms: attemptTimeout, max_retries: retries, max_concurrency: concurrency, max_waiting: waiting,
} = OpenAiLanguageSettings.properties
const DEFAULT_LIMITS: CallLimits = {
  attemptTimeoutMs: attemptTimeout.default,
  maxRetries: retries.default,
  maxConcurrency: concurrency.default,
  maxWaiting: waiting.default,
}

/** A model with bounds of its own; a `module:Class` may have them, too. Default of each: DEFAULT_LIMITS. */
export interface LimitedModel {
  readonly limits?: Partial<CallLimits>
}

const MINIMA: Record<keyof CallLimits, number> = {
  attemptTimeoutMs: 1, maxRetries: 0, maxConcurrency: 1, maxWaiting: 0,
}

/**
 * The limits of a model, checked, because it may be of an operator's own class.
 * @param key the configuration key that chose it
 * @throws ProviderError for invalid ones
 */
function limitsOf (key: string, model: LimitedModel): CallLimits {
  const limits = model.limits ?? {}
  const entries = Object.entries(MINIMA) as Array<[keyof CallLimits, number]>
  return Object.fromEntries(entries.map(([name, minimum]) => {
    const value: unknown = limits[name] ?? DEFAULT_LIMITS[name]
    if (!Number.isSafeInteger(value) || Number(value) < minimum) {
      throw new ProviderError(`${key}: limits.${name} must be a whole number of at least ${minimum}`)
    }
    return [name, value]
  })) as Record<keyof CallLimits, number>
}

/**
 * Limits the time in which a custom provider embeds memories, so that a call that hangs holds neither a write nor the
 * backfill. Queries have the limit of the recall. Closing ends the calls in progress.
 */
export class BoundedEmbeddings extends EmbeddingDecorator {
  readonly #timeoutMs: number
  readonly #activeCalls = new Set<AbortController>()

  /** @throws ProviderError when the provider's own limits are invalid */
  constructor (provider: EmbeddingProvider) {
    super(provider)
    this.#timeoutMs = limitsOf('embedding_provider', provider).attemptTimeoutMs
  }

  /** @throws ModelCallError timeout; the reason of the signal once it is aborted; what the provider throws */
  async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    if (options.purpose === 'query') return await this.#embed(texts, options)
    const { controller, unlink } = linkedAbort(options.signal)
    this.#activeCalls.add(controller)
    try {
      return await withTimeLimit(this.#timeoutMs, controller.signal, async (signal) => (
        await this.#embed(texts, { ...options, signal })
      ), () => new ModelCallError(
        'timeout', `The embedding provider did not answer within ${this.#timeoutMs} ms`,
      ))
    } finally {
      unlink()
      this.#activeCalls.delete(controller)
    }
  }

  /** @throws an error without the message of the provider's own, which may contain the texts and would be logged */
  async #embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    try {
      return await this.provider.embed(texts, options)
    } catch (error) {
      throw options.signal?.aborted === true || error instanceof ModelCallError ? error : withoutMessage(error)
    }
  }

  override async close (): Promise<void> {
    for (const controller of this.#activeCalls) controller.abort(new Error('The embedding provider is closed'))
    await super.close()
  }
}

export interface BoundedLanguageModelOptions {
  breaker: Required<BreakerOptions>
  /** Milliseconds of the longest deadline that a request can have, which can change. */
  ceilingMs: () => number
  tools?: Partial<ResilienceTools>
}

/**
 * Share of the longest deadline that an attempt may take, so that a hanging model times out before its caller gives up.
 */
const CEILING_SHARE = 0.75

/**
 * Wraps a language model with bounds: a bounded number of calls with a queue, a timeout of each attempt, retries within
 * the time of the request, and circuit breakers for the model and for each tenant. An error other than ModelCallError
 * counts as a failure, is not retried and is thrown as it is.
 * @throws ProviderError when the model's own limits are invalid
 */
export function boundedLanguageModel (
  model: LanguageModel & LimitedModel,
  { breaker, ceilingMs, tools = {} }: BoundedLanguageModelOptions,
): LanguageModel {
  const calls = new ResilientCalls({ service: 'language model', ...limitsOf('llm_provider', model), breaker, tools })
  const optionsOf = ({ signal, timeoutMs, tenantId }: GenerateRequest): CallOptions => ({
    signal,
    timeoutMs,
    tenantId,
    attemptTimeoutMs: ceilingMs() * CEILING_SHARE,
  })
  const bounded: LanguageModel = {
    ...withoutUndefined({ model: model.model, structured: model.structured }),
    generate: async (request) => {
      request.progress?.('waiting')
      return await calls.call<Generation>(async (signal) => {
        request.progress?.('made')
        return await model.generate({ ...request, signal })
      }, optionsOf(request))
    },
    status: () => ({ ...model.status?.(), ...calls.status() }),
    close: async () => {
      calls.close()
      await model.close?.()
    },
  }
  if (model.stream !== undefined) {
    bounded.stream = (request) => {
      request.progress?.('waiting')
      return calls.stream<GenerationPart>((signal) => {
        request.progress?.('made')
        return model.stream!({ ...request, signal })
      }, ({ type }) => type === 'end', optionsOf(request))
    }
  }
  return bounded
}

/** Names of abort reasons that mean a timeout; any other means that the caller disconnected. */
const TIMEOUTS: ReadonlySet<string> = new Set(['DeadlineExceeded', 'TimeoutError'])

interface ObserverOptions {
  /** Name of the provider in the configuration. */
  provider: string
  telemetry: Telemetry
  /** Milliseconds of a monotonic clock. */
  timer: () => number
  /** Takes a sentence for the log. */
  warn: (message: string) => void
}

interface Call {
  kind: ModelCallRecord['kind']
  /** The operation's name in the GenAI conventions, which begins the name of the span. */
  operation: string
  model: string
  purpose: string
  signal: AbortSignal | undefined
}

/** Says in the log why a recall had no help of a model, once until the model answers again or fails otherwise. */
class FailureLog {
  readonly #warn: ObserverOptions['warn']
  #last: string | undefined

  constructor (warn: ObserverOptions['warn']) {
    this.#warn = warn
  }

  answered (): void {
    this.#last = undefined
  }

  failed (error: unknown): void {
    if (!(error instanceof ModelCallError)) return
    const failure = `${error.kind} ${error.status}`
    if (failure !== this.#last) this.#warn(`a recall lacks its model: ${error.message}`)
    this.#last = failure
  }
}

/** Wraps an embedding provider to record and trace its calls, including those that its cache answers. */
export class ObservedEmbeddings extends EmbeddingDecorator {
  override readonly model: string
  readonly #options: ObserverOptions
  readonly #failures: FailureLog

  constructor (provider: EmbeddingProvider, options: ObserverOptions) {
    super(provider)
    this.model = provider.model ?? options.provider
    this.#options = options
    this.#failures = new FailureLog(options.warn)
  }

  async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    const { purpose = 'document', signal } = options
    const call: Call = { kind: 'embedding', operation: 'embeddings', model: this.model, purpose, signal }
    // A failure for memories is told by those who store them.
    const failures = purpose === 'query' ? this.#failures : undefined
    return await observeCall(call, this.#options, failures, async () => await this.provider.embed(texts, options))
  }
}

/** Wraps a reranker to record and trace its calls. */
export class ObservedReranker implements Reranker {
  readonly model: string
  readonly #reranker: Reranker
  readonly #options: ObserverOptions
  readonly #failures: FailureLog

  /** @param model as the configuration names it, because a reranker need not know it */
  constructor (reranker: Reranker, model: string, options: ObserverOptions) {
    this.#reranker = reranker
    this.model = model
    this.#options = options
    this.#failures = new FailureLog(options.warn)
  }

  async rerank (query: string, texts: readonly string[], options: { signal?: AbortSignal }): Promise<number[]> {
    const { signal } = options
    const call: Call = { kind: 'reranker', operation: 'rerank', model: this.model, purpose: 'rerank', signal }
    return await observeCall(call, this.#options, this.#failures, async () => (
      await this.#reranker.rerank(query, texts, options)
    ))
  }

  status (): ModelStatus {
    return statusOf(this.#reranker)
  }

  async close (): Promise<void> {
    await this.#reranker.close?.()
  }
}

/** The state that a provider reports; empty for one that reports none. */
export function statusOf (provider: { status? (): ModelStatus }): ModelStatus {
  return provider.status?.() ?? {}
}

async function observeCall<T> (
  { kind, operation, model, purpose, signal }: Call,
  { provider, telemetry, timer }: ObserverOptions,
  failures: FailureLog | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = timer()
  const record = (outcome: ModelCallOutcome) => {
    telemetry.modelCall({ kind, provider, model, purpose, outcome, durationMs: timer() - startedAt })
  }
  const attributes = {
    'gen_ai.operation.name': operation, 'gen_ai.provider.name': provider, 'gen_ai.request.model': model,
  }
  try {
    const answer = await traced(`${operation} ${model}`, attributes, work, SpanKind.CLIENT)
    record('ok')
    failures?.answered()
    return answer
  } catch (error) {
    record(callOutcomeOf(error, signal))
    if (signal?.aborted !== true) failures?.failed(error)
    throw error
  }
}

function callOutcomeOf (error: unknown, signal: AbortSignal | undefined): ModelCallOutcome {
  if (signal?.aborted === true) {
    return signal.reason instanceof Error && TIMEOUTS.has(signal.reason.name) ? 'timeout' : 'aborted'
  }
  if (error instanceof ModelCallError) return error.kind
  // Recognised by its name, because importing its class would load the library of worker threads.
  return error instanceof Error && error.name === 'QueueFullError' ? 'overloaded' : 'error'
}
