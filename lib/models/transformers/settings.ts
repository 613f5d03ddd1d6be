import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { Type, type Static } from 'typebox'
import { ProviderError } from '../../providers/registry.js'
import { workerSettings } from '../local/settings.js'

export const MODEL_DESCRIPTION = 'Name of a model with ONNX files on the Hugging Face hub, or a folder with one: a ' +
  'path that starts with . or /, relative to the configuration file.'

const model = {
  model: Type.String({ minLength: 1, description: MODEL_DESCRIPTION }),
  dtype: Type.Optional(Type.Enum(
    ['auto', 'fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'bnb4', 'q4f16'],
    { description: 'Precision of the weights, one that the model has. Default: that of the package.' },
  )),
  cache_dir: Type.Optional(Type.String({
    minLength: 1,
    description: 'Folder for downloaded models; a relative path is relative to the configuration file. Default: that ' +
      'of the package, inside node_modules.',
  })),
  allow_remote: Type.Optional(Type.Boolean({
    description: 'Whether a model that is not on this machine may be downloaded. Default true.',
  })),
  batch_size: Type.Optional(Type.Integer({
    minimum: 1, maximum: 256, description: 'Maximum number of texts in one computation. Default 8.',
  })),
}

/** `embedding_provider_config` of `embedding_provider: transformers`. */
export const TransformersEmbeddingSettings = Type.Object({
  ...model,
  dimensions: Type.Optional(Type.Integer({
    minimum: 1,
    maximum: 16_000,
    description: 'Number of dimensions of the model\'s vectors. Default: determined at start, which then waits until ' +
      'the model is loaded.',
  })),
  pooling: Type.Optional(Type.Enum(['mean', 'cls'], {
    description: 'How the vectors of a text\'s tokens are combined: their mean (mean), or that of the first token ' +
      '(cls). The page of the model says which. Default mean.',
  })),
  query_prefix: Type.Optional(Type.String({
    maxLength: 1000,
    'x-allowed': 'of at most 1000 characters',
    description: 'Text that is put before each query, for models that need it, such as "query: ". Default: none.',
  })),
  document_prefix: Type.Optional(Type.String({
    maxLength: 1000,
    'x-allowed': 'of at most 1000 characters',
    description: 'Text that is put before each memory, for models that need it, such as "passage: ". Changing it ' +
      'requires new vectors (`npm run reembed`). Default: none.',
  })),
  fusion_weight: Type.Optional(Type.Number({
    minimum: 0,
    maximum: 10,
    description: 'Weight of the semantic score, relative to a lexical weight of 1. `retrieval.weights.semantic` ' +
      'takes precedence. Default 1.5.',
  })),
  ...workerSettings,
}, { additionalProperties: false })

/** `reranker_config` of `reranker: transformers`. */
export const TransformersRerankerSettings = Type.Object({
  ...model,
  threads: workerSettings.threads,
  max_queue: Type.Optional(Type.Integer({
    minimum: 100,
    maximum: 1_000_000,
    description: 'Maximum number of waiting texts; further ones are refused. Default 1000.',
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
