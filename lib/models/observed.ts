import type { CallOutcome, ModelCallRecord, Telemetry } from '../telemetry/telemetry.js'
import { SpanKind, traced } from '../telemetry/tracing.js'
import type { EmbeddingProvider, EmbedOptions } from './embedding-provider.js'
import { ModelCallError } from './remote/model-call-error.js'
import type { Reranker } from './reranker.js'
import type { ModelStatus } from './status.js'

/** Reasons of a signal that say that the time was over, and not that the caller has left. */
const TIME_IS_OVER: ReadonlySet<string> = new Set(['DeadlineExceeded', 'TimeoutError'])

export interface ObserverOptions {
  /** Name of the provider in the configuration. */
  provider: string
  telemetry: Telemetry
  /** Milliseconds of a clock that only rises. */
  timer: () => number
}

interface Call {
  kind: ModelCallRecord['kind']
  /** Of the GenAI conventions, and the first word of the span's name. */
  operation: string
  model: string
  purpose: string
  signal: AbortSignal | undefined
}

/** An embedding provider whose calls are told and traced; in everything else it is the one that it is made of. What its cache answers counts as a call. */
export class ObservedEmbeddings implements EmbeddingProvider {
  readonly #provider: EmbeddingProvider
  readonly #options: ObserverOptions

  constructor (provider: EmbeddingProvider, options: ObserverOptions) {
    this.#provider = provider
    this.#options = options
  }

  get model (): string {
    return this.#provider.model ?? this.#options.provider
  }

  get dimensions (): number {
    return this.#provider.dimensions
  }

  get fusionWeight (): number {
    return this.#provider.fusionWeight
  }

  get deferred (): boolean {
    return this.#provider.deferred === true
  }

  async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    const call: Call = { kind: 'embedding', operation: 'embeddings', model: this.model, purpose: options.purpose ?? 'document', signal: options.signal }
    return await observed(call, this.#options, async () => await this.#provider.embed(texts, options))
  }

  status (): ModelStatus {
    return statusOf(this.#provider)
  }

  async close (): Promise<void> {
    await this.#provider.close?.()
  }
}

/** The same for a reranker. */
export class ObservedReranker implements Reranker {
  readonly model: string
  readonly #reranker: Reranker
  readonly #options: ObserverOptions

  /** @param model as the configuration names it; a reranker need not know */
  constructor (reranker: Reranker, model: string, options: ObserverOptions) {
    this.#reranker = reranker
    this.model = model
    this.#options = options
  }

  async rerank (query: string, texts: readonly string[], options: { signal?: AbortSignal }): Promise<number[]> {
    const call: Call = { kind: 'reranker', operation: 'rerank', model: this.model, purpose: 'rerank', signal: options.signal }
    return await observed(call, this.#options, async () => await this.#reranker.rerank(query, texts, options))
  }

  status (): ModelStatus {
    return statusOf(this.#reranker)
  }

  async close (): Promise<void> {
    await this.#reranker.close?.()
  }
}

/** How a provider says it stands; nothing for one that does not say. */
export function statusOf (provider: { status? (): ModelStatus }): ModelStatus {
  return provider.status?.() ?? {}
}

async function observed<T> ({ kind, operation, model, purpose, signal }: Call, { provider, telemetry, timer }: ObserverOptions, work: () => Promise<T>): Promise<T> {
  const startedAt = timer()
  const tell = (outcome: CallOutcome) => { telemetry.modelCall({ kind, provider, model, purpose, outcome, durationMs: timer() - startedAt }) }
  const attributes = { 'gen_ai.operation.name': operation, 'gen_ai.provider.name': provider, 'gen_ai.request.model': model }
  try {
    const answer = await traced(`${operation} ${model}`, attributes, work, SpanKind.CLIENT)
    tell('ok')
    return answer
  } catch (error) {
    tell(outcomeOf(error, signal))
    throw error
  }
}

function outcomeOf (error: unknown, signal: AbortSignal | undefined): CallOutcome {
  if (signal?.aborted === true) return signal.reason instanceof Error && TIME_IS_OVER.has(signal.reason.name) ? 'timeout' : 'aborted'
  if (error instanceof ModelCallError) return error.kind
  // By its name: the module of the class loads the worker threads.
  return error instanceof Error && error.name === 'QueueFullError' ? 'overloaded' : 'error'
}
