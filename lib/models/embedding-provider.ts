import type { CallLimits } from './bounded-models.js'
import type { ModelStatus } from './health.js'

export interface EmbedOptions {
  signal?: AbortSignal
  /** What the texts are, for models that embed queries and documents differently. Default `document`. */
  purpose?: 'query' | 'document'
}

/** The interface of an embedding provider. Vectors are compared by cosine; they need not be of unit length. */
export interface EmbeddingProvider {
  /**
   * The name that a durable store keeps with each vector, so that vectors of different models are never compared: the
   * model and every setting that changes its vectors, except their length. Default: the provider's name in the
   * configuration.
   */
  readonly model?: string
  /** Length of every vector. */
  readonly dimensions: number
  /**
   * Weight of the semantic score beside a lexical weight of 1, unless the configuration says otherwise; 0 switches the
   * strategy off.
   */
  readonly fusionWeight: number
  /**
   * The cosine of a question and a memory from which reflect takes the memory as evidence, whatever words they share;
   * each model has its own. Default: none.
   */
  readonly evidenceCosine?: number
  /**
   * Whether a write does not wait for its vectors, which are added later; for slow providers. Default false: a write
   * waits, and is stored without vectors only when the provider fails.
   */
  readonly deferred?: boolean
  /** Bounds of a custom provider; `attemptTimeoutMs` is that of a call for memories. Default: 20 seconds. */
  readonly limits?: Partial<Pick<CallLimits, 'attemptTimeoutMs'>>
  /** @returns one vector of `dimensions` finite numbers for each text, in order */
  embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>
  /** The current state, for metrics. */
  status? (): ModelStatus
  close? (): Promise<void>
}

export const EMBEDDING_PROVIDER_METHODS = ['embed'] as const satisfies ReadonlyArray<keyof EmbeddingProvider>

/** An embedding provider that changes how another one embeds, and passes on everything else. */
export abstract class EmbeddingDecorator implements EmbeddingProvider {
  readonly model?: string
  readonly evidenceCosine?: number

  constructor (protected readonly provider: EmbeddingProvider) {
    if (provider.model !== undefined) this.model = provider.model
    if (provider.evidenceCosine !== undefined) this.evidenceCosine = provider.evidenceCosine
  }

  get dimensions (): number {
    return this.provider.dimensions
  }

  get fusionWeight (): number {
    return this.provider.fusionWeight
  }

  get deferred (): boolean {
    return this.provider.deferred === true
  }

  abstract embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>

  status (): ModelStatus {
    return this.provider.status?.() ?? {}
  }

  async close (): Promise<void> {
    await this.provider.close?.()
  }
}
