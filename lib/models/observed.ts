import type { ModelCallOutcome, ModelCallRecord, Telemetry } from '../telemetry/telemetry.js'
import { SpanKind, traced } from '../telemetry/tracing.js'
import { EmbeddingDecorator, type EmbeddingProvider, type EmbedOptions } from './embedding-provider.js'
import { ModelCallError } from './remote/model-call-error.js'
import type { Reranker } from './reranker.js'
import type { ModelStatus } from './status.js'

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
