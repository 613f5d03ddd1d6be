import type { EmbeddingProvider, EmbedOptions } from './embedding-provider.js'
import type { ModelStatus } from './status.js'

interface LazyEmbeddingsOptions extends Required<
  Pick<EmbeddingProvider, 'model' | 'dimensions' | 'fusionWeight' | 'evidenceCosine'>
> {
  /** The beginning of every message: `embedding_provider: local`. */
  name: string
  open: () => Promise<EmbeddingProvider>
}

const UNOPENED: ModelStatus = { running: 0, waiting: 0, cache: { hits: 0, misses: 0 } }

/** Opens a deferred provider for the first text, so that a process that embeds nothing never loads its model. */
export class LazyEmbeddings implements EmbeddingProvider {
  readonly model: string
  readonly dimensions: number
  readonly fusionWeight: number
  readonly evidenceCosine: number
  readonly deferred = true
  readonly #options: LazyEmbeddingsOptions
  #opening: Promise<EmbeddingProvider> | undefined
  #provider: EmbeddingProvider | undefined
  #closed = false

  constructor (options: LazyEmbeddingsOptions) {
    this.#options = options
    this.model = options.model
    this.dimensions = options.dimensions
    this.fusionWeight = options.fusionWeight
    this.evidenceCosine = options.evidenceCosine
  }

  async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    if (this.#closed) throw new Error(`${this.#options.name} is closed`)
    this.#opening ??= this.#options.open()
    this.#provider = await this.#opening
    return await this.#provider.embed(texts, options)
  }

  status (): ModelStatus {
    return this.#provider?.status?.() ?? UNOPENED
  }

  async close (): Promise<void> {
    this.#closed = true
    const provider = await this.#opening
    await provider?.close?.()
  }
}
