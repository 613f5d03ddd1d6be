import type { ModelStatus } from './status.js'

export interface EmbedOptions {
  signal?: AbortSignal
  /** What the texts are, for models that embed questions and what answers them differently. Default `document`. */
  purpose?: 'query' | 'document'
}

/** What an embedding provider must do. Vectors are compared by cosine; they need not be of unit length. */
export interface EmbeddingProvider {
  /**
   * What a durable store keeps beside each vector, so that vectors of two models are never compared: the model and all that changes
   * its vectors but their length. Default: the provider's name in the configuration.
   */
  readonly model?: string
  /** Length of every vector. */
  readonly dimensions: number
  /** Weight of the semantic score beside a lexical weight of 1, unless the configuration says otherwise; 0 switches the strategy off. */
  readonly fusionWeight: number
  /**
   * Whether a write goes ahead without vectors, which follow when the provider has made them; for one that takes long. Default false:
   * a write waits for its vectors, and goes ahead without only when the provider fails.
   */
  readonly deferred?: boolean
  /** @returns one vector of `dimensions` finite numbers for each text, in order */
  embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>
  /** How it stands, for metrics. */
  status? (): ModelStatus
  close? (): Promise<void>
}

export const EMBEDDING_PROVIDER_METHODS = ['embed'] as const satisfies ReadonlyArray<keyof EmbeddingProvider>
