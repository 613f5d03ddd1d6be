import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { ProviderError } from '../../providers/registry.js'
import type { TransformersEmbeddingSettings, TransformersRerankerSettings } from '../../providers/schemas/workers.js'

/** See engine.mjs. */
interface ModelOptions {
  /** URL of the package. */
  module: string
  /** Name on the hub or absolute path. */
  model: string
  dtype: string | undefined
  /** Absolute. */
  cacheDir: string | undefined
  allowRemote: boolean
}

/**
 * The options with which engine.mjs loads the model.
 * @param who the beginning of messages: `embedding_provider: transformers`
 * @throws ProviderError when the model is a folder that does not exist
 */
export function modelOptions (
  who: string,
  module: string,
  settings: TransformersEmbeddingSettings | TransformersRerankerSettings,
  baseDirectory: string,
): ModelOptions {
  const { dtype, cache_dir: cacheDir, allow_remote: allowRemote } = settings
  const isFolder = settings.model.startsWith('.') || isAbsolute(settings.model)
  const model = isFolder ? resolve(baseDirectory, settings.model) : settings.model
  if (isFolder && !existsSync(model)) {
    throw new ProviderError(`${who}: there is no folder ${JSON.stringify(settings.model)} with a model`)
  }
  return {
    module,
    model,
    allowRemote,
    dtype,
    cacheDir: cacheDir === undefined ? undefined : resolve(baseDirectory, cacheDir),
  }
}
