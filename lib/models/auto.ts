import { ProviderError, type ProviderConfig, type ProviderContext } from '../providers/registry.js'
import { AutoEmbeddingSettings, LocalEmbeddingSettings } from '../providers/schemas/workers.js'
import { settingsCheck } from '../providers/settings.js'
import type { EmbeddingProvider } from './embedding-provider.js'
import {
  hasLocalEmbeddings, LOCAL_DIMENSIONS, LOCAL_MODEL, localEmbeddings, type LocalInternals,
} from './local/embedding-provider.js'
import { MockEmbeddingProvider } from './mock/embedding-provider.js'
import type { TransformersInternals } from './transformers/embedding-provider.js'

const NAME = 'embedding_provider: auto'

const check = settingsCheck('embedding_provider_config', AutoEmbeddingSettings)

/** @throws ProviderError, also for a setting that needs a `model` when there is none */
export function checkAutoSettings (config: ProviderConfig): void {
  check(config)
  const ofModel = Object.keys(config).filter((name) => !Object.hasOwn(LocalEmbeddingSettings.properties, name))
  if (config['model'] !== undefined || ofModel.length === 0) return
  throw new ProviderError(`embedding_provider_config: ${ofModel.join(', ')} may be set only with model`)
}

/**
 * `embedding_provider: auto`: `transformers` when a model is named, else `local` when its packages are installed, else
 * the mock, whose weight is 0. A named model that is not available ends the start, because the vectors of another model
 * would be stored in its place. Only what is chosen is imported, because this is the default of every start.
 * @throws ProviderError as those providers do
 */
export async function autoEmbeddings (
  config: ProviderConfig, context: ProviderContext, internals: TransformersInternals & LocalInternals = {},
): Promise<EmbeddingProvider> {
  const { info, warn } = context
  checkAutoSettings(config)
  if (config['model'] !== undefined) {
    const { transformersEmbeddings } = await import('./transformers/embedding-provider.js')
    const provider = await transformersEmbeddings(config, context, internals)
    info?.(`${NAME} chose transformers, because a model is named: ${provider.model}, ${provider.dimensions} dimensions`)
    return provider
  }
  if (hasLocalEmbeddings(internals)) {
    info?.(`${NAME} chose local, because its packages are installed and no model is named: ${LOCAL_MODEL}, ` +
      `${LOCAL_DIMENSIONS} dimensions, English`)
    return localEmbeddings(config, context, internals)
  }
  warn?.(`${NAME} chose none, because the packages of local are not installed and no model is named: recall ` +
    'searches by words only')
  return new MockEmbeddingProvider()
}
