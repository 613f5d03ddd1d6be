import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Type, type Static } from 'typebox'
import { ProviderError } from '../../providers/registry.js'
import { workerSettings } from '../local/settings.js'

const model = {
  model: Type.String({
    minLength: 1,
    description: 'Name of a model on the Hugging Face hub with ONNX files, or its folder: a path that starts with . ' +
      'or /, a relative one at the configuration file.',
  }),
  dtype: Type.Optional(Type.Enum(
    ['auto', 'fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'bnb4', 'q4f16'],
    { description: 'Precision of the weights, of those that the model comes in. Default: that of the package.' },
  )),
  cache_dir: Type.Optional(Type.String({
    minLength: 1,
    description: 'Folder for downloaded models; a relative path starts at the configuration file. Default: that of ' +
      'the package, inside node_modules.',
  })),
  allow_remote: Type.Optional(Type.Boolean({
    description: 'Whether a model that is not on this machine may be downloaded. Default true.',
  })),
  batch_size: Type.Optional(Type.Integer({
    minimum: 1, maximum: 256, description: 'Texts in one computation at most. Default 8.',
  })),
}

/** `embedding_provider_config` of `embedding_provider: transformers`. */
export const TransformersEmbeddingSettings = Type.Object({
  ...model,
  dimensions: Type.Optional(Type.Integer({
    minimum: 1,
    maximum: 16_000,
    description: 'Numbers in a vector, which the model decides. Default: found out at the start, which then waits ' +
      'until the model is loaded.',
  })),
  pooling: Type.Optional(Type.Enum(['mean', 'cls'], {
    description: 'How the vectors of a text\'s tokens become one: their mean, or that of the first token. The ' +
      'model\'s page says which. Default mean.',
  })),
  query_prefix: Type.Optional(Type.String({
    maxLength: 1000, description: 'Text before each query, for models that need it, like "query: ". Default: none.',
  })),
  document_prefix: Type.Optional(Type.String({
    maxLength: 1000,
    description: 'Text before each memory, for models that need it, like "passage: ". Changing it requires new ' +
      'vectors (`npm run reembed`). Default: none.',
  })),
  fusion_weight: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 10,
    description: 'Weight of the semantic score beside a lexical weight of 1, unless the configuration says ' +
      'otherwise. Default 1.5.',
  })),
  ...workerSettings,
}, { additionalProperties: false })

/** `reranker_config` of `reranker: transformers`. */
export const TransformersRerankerSettings = Type.Object({
  ...model,
  threads: workerSettings.threads,
  max_queue: Type.Optional(Type.Integer({
    minimum: 100, maximum: 1_000_000, description: 'Texts that may wait; beyond it no more are taken. Default 1000.',
  })),
  timeout_ms: workerSettings.timeout_ms,
}, { additionalProperties: false })

export type TransformersEmbeddingSettings = Static<typeof TransformersEmbeddingSettings>
export type TransformersRerankerSettings = Static<typeof TransformersRerankerSettings>

/** See engine.mjs. */
export interface ModelOptions {
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
  const { dtype, cache_dir: cacheDir, allow_remote: allowRemote = true } = settings
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
