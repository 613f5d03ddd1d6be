import type { EmbeddingProvider, EmbedOptions } from './embedding-provider.js'
import type { ModelStatus } from './status.js'

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
