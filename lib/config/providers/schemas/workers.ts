import { Type } from 'typebox'
import { setting, type Resolved } from '../../../base/defaults.js'
import { fusionWeight, integer, prefix } from './parts.js'

/** Settings of every embedding provider that computes on this machine. */
const workerSettings = {
  threads: setting(integer(1, 64, 'Number of worker threads. Each uses one processor core and has its own copy of ' +
    'the model.'), 1),
  max_queue: setting(integer(
    1, 1_000_000, 'Maximum number of waiting texts, for memories and queries separately; further ones are refused.',
  ), 10_000),
  cache_size: setting(integer(
    0, 1_000_000,
    'Number of vectors that are cached in memory, so that a repeated text is not computed again. 0: none.',
  ), 10_000),
  timeout_ms: setting(integer(
    100, 600_000,
    'Maximum milliseconds of one computation; after that its texts fail and its thread is replaced.',
  ), 30_000),
}

/** `embedding_provider_config` of `embedding_provider: local`. */
export const LocalEmbeddingSettings = Type.Object(workerSettings, { additionalProperties: false })

const MODEL_DESCRIPTION = 'Name of a model with ONNX files on the Hugging Face hub, or a folder with one: a ' +
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
  allow_remote: setting(Type.Boolean({
    description: 'Whether a model that is not on this machine may be downloaded.',
  }), true),
  batch_size: setting(integer(1, 256, 'Maximum number of texts in one computation.'), 8),
}

/** `embedding_provider_config` of `embedding_provider: transformers`. */
export const TransformersEmbeddingSettings = Type.Object({
  ...model,
  dimensions: integer(
    1, 16_000,
    'Number of dimensions of the model\'s vectors. Default: determined at start, which then waits until ' +
      'the model is loaded.',
  ),
  pooling: setting(Type.Enum(['mean', 'cls'], {
    description: 'How the vectors of a text\'s tokens are combined: their mean (mean), or that of the first token ' +
      '(cls). The page of the model says which.',
  }), 'mean'),
  query_prefix: prefix('Text that is put before each query, for models that need it, such as "query: ".'),
  document_prefix: prefix('Text that is put before each memory, for models that need it, such as "passage: ". ' +
    'Changing it requires new vectors (`npm run reembed`).'),
  fusion_weight: fusionWeight(10),
  ...workerSettings,
}, { additionalProperties: false })

/**
 * `embedding_provider_config` of `embedding_provider: auto`: the settings of `transformers` with a `model`, else those
 * of `local`.
 */
export const AutoEmbeddingSettings = Type.Object({
  ...TransformersEmbeddingSettings.properties,
  model: Type.Optional(Type.String({
    minLength: 1, description: `${MODEL_DESCRIPTION} Without it, only the settings of \`local\` may be set.`,
  })),
}, { additionalProperties: false })

/** `reranker_config` of `reranker: transformers`. */
export const TransformersRerankerSettings = Type.Object({
  ...model,
  threads: workerSettings.threads,
  max_queue: setting(integer(100, 1_000_000, 'Maximum number of waiting texts; further ones are refused.'), 1000),
  timeout_ms: workerSettings.timeout_ms,
}, { additionalProperties: false })

/** The settings with defaults filled in, as `settingsCheck` returns them. */
export type LocalEmbeddingSettings = Resolved<typeof LocalEmbeddingSettings>
export type TransformersEmbeddingSettings = Resolved<typeof TransformersEmbeddingSettings>
export type TransformersRerankerSettings = Resolved<typeof TransformersRerankerSettings>
