import { linkedAbort } from '../concurrency/aborting.js'
import { withTimeLimit } from '../concurrency/deadline.js'
import { withoutMessage } from '../errors/message-of.js'
import { limitsOf } from './call-limits.js'
import { EmbeddingDecorator } from './embedding-decorator.js'
import type { EmbeddingProvider, EmbedOptions } from './embedding-provider.js'
import { ModelCallError } from './remote/model-call-error.js'

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
