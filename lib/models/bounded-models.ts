import { linkedAbort } from '../concurrency/aborting.js'
import { withTimeLimit } from '../concurrency/deadline.js'
import { withoutMessage } from '../errors/message-of.js'
import { limitsOf, type LimitedModel } from './call-limits.js'
import { EmbeddingDecorator, type EmbeddingProvider, type EmbedOptions } from './embedding-provider.js'
import { ModelCallError } from './remote/model-call-error.js'
import type { GenerateRequest, Generation, GenerationPart, LanguageModel } from './language-model.js'
import type { BreakerOptions } from '../concurrency/circuit-breaker.js'
import { type CallOptions, ResilientCalls, type ResilienceTools } from './remote/resilient-calls.js'
import { withoutUndefined } from '../validation/members.js'

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
