import type { Clock } from '../base/clock.js'
import { messageOf, withoutMessage } from '../base/message-of.js'
import type { BackOffTools } from '../base/retry.js'
import { NO_TELEMETRY, type Telemetry } from '../base/telemetry.js'
import type { Config, ProviderChoice, Settings } from '../config/config.js'
import {
  makeProvider, providerLabel, ProviderError, withoutValues, type ProviderKind, type ProviderContext,
} from '../config/providers/registry.js'
import { configsWithoutProvider } from '../config/report.js'
import { BoundedEmbeddings, ObservedEmbeddings, ObservedReranker } from '../models/bounded-models.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { LanguageModel } from '../models/language-model.js'
import { embeddingProviders, languageModels, rerankers } from '../models/registry.js'
import type { Reranker } from '../models/reranker.js'
import { vectorStores } from '../stores/registry.js'
import { storeWithServiceErrors } from '../stores/service-errors.js'
import type { EmbeddingSpace, StoreStart, VectorStore } from '../stores/vector-store.js'
import { EmbeddingBackfill, type EmbeddingBackfillOptions } from './embedding-backfill.js'

/** The configuration from which the service is built. */
export type MemoryConfig = Pick<
  Config, 'file' | 'settings' | 'baseDirectory'
> & Partial<Pick<Config, 'database' | 'environment' | 'cursorKey'>>

/** Replacements of configured providers. */
export interface ProviderOverrides {
  store?: VectorStore
  embeddings?: EmbeddingProvider
  languageModel?: LanguageModel
  reranker?: Reranker
  /** Writes to the operator's log. Default: messages are dropped. */
  warn?: (message: string) => void
  info?: (message: string) => void
  /** Receives events for metrics. Default: they are dropped. */
  telemetry?: Telemetry
}

export interface Providers {
  /** Its unexpected errors are ServiceErrors. */
  store: VectorStore
  embeddings: EmbeddingProvider
  languageModel: LanguageModel
  reranker: Reranker | undefined
  weights: { lexical: number, semantic: number }
}

/**
 * Creates the configured providers and starts the store. When one fails, the others are closed.
 * @throws ProviderError
 */
export async function openProviders (
  { file, settings, baseDirectory, database = {}, environment = {} }: MemoryConfig, overrides: ProviderOverrides,
  clock: Clock,
): Promise<Providers> {
  const { warn = () => {}, info = () => {}, telemetry = NO_TELEMETRY } = overrides
  const context: Omit<ProviderContext, 'baseDirectory'> = {
    environment, warn, info, database,
  }
  const open: Array<{ close? (): Promise<void> }> = []
  const make = async <T extends { close? (): Promise<void> }>(
    override: T | undefined, kind: ProviderKind<T>, { name, config }: ProviderChoice,
  ): Promise<T> => {
    // Settings are frozen, and an operator's provider class may modify the object that it receives.
    const own = Object.isFrozen(config) ? structuredClone(config) : config
    const provider = override ?? await makeProvider(kind, name, own, baseDirectory, context)
    open.push(provider)
    return provider
  }
  const unused = [...configsWithoutProvider(file)]
  if (unused.length > 0) throw new ProviderError(unused.join('\n'))
  try {
    const embeddings = await make(overrides.embeddings, embeddingProviders, settings.embeddings)
    const languageModel = await make(overrides.languageModel, languageModels, settings.languageModel)
    const chosen = settings.reranker ?? (overrides.reranker && { name: 'reranker', config: {} })
    const reranker = chosen && await make(overrides.reranker, rerankers, chosen)
    const weights = strategyWeights(settings, embeddings)
    const store = await make(overrides.store, vectorStores, settings.vectorStore)
    await startStore(store, overrides.store === undefined ? settings.vectorStore : undefined, {
      clock,
      warn,
      info,
      space: weights.semantic > 0 ? embeddingSpace(settings, embeddings) : undefined,
      isDefaultSpace: overrides.embeddings === undefined && file.embedding_provider === undefined,
    })
    const rerankerLabel = providerLabel(chosen?.name ?? 'reranker')
    const isCustom = (override: object | undefined, { name }: ProviderChoice) => (
      override !== undefined || name.includes(':')
    )
    const bounded = isCustom(overrides.embeddings, settings.embeddings) ? new BoundedEmbeddings(embeddings) : embeddings
    const observer = (provider: string) => ({ provider, telemetry, warn, timer: () => performance.now() })
    return {
      store: storeWithServiceErrors(
        store, isCustom(overrides.store, settings.vectorStore), settings.vectorStore.config,
      ),
      embeddings: new ObservedEmbeddings(bounded, observer(providerLabel(settings.embeddings.name))),
      languageModel,
      weights,
      reranker: reranker &&
        new ObservedReranker(reranker, modelOf(settings.reranker?.config) ?? rerankerLabel, observer(rerankerLabel)),
    }
  } catch (error) {
    await Promise.allSettled(open.map(async (provider) => { await provider.close?.() }))
    throw error
  }
}

/** @param choice undefined when a program passes the store, and so gets its errors unchanged */
async function startStore (store: VectorStore, choice: ProviderChoice | undefined, tools: StoreStart): Promise<void> {
  try {
    await store.start?.(tools)
  } catch (error) {
    if (choice?.name.includes(':') !== true) throw error
    const reason = withoutValues(messageOf(error), choice.config)
    throw new ProviderError(`vector_store: ${choice.name} could not be started: ${reason}`, withoutMessage(error))
  }
}

export async function closeProviders (
  { store, embeddings, languageModel, reranker }: Pick<
    Providers, 'store' | 'embeddings' | 'languageModel' | 'reranker'
  >,
): Promise<void> {
  await Promise.all([store.close(), embeddings.close?.(), languageModel.close?.(), reranker?.close?.()])
}

/**
 * The identity of vectors in a persistent store. It includes the dimensions, because vectors of another length are not
 * comparable.
 */
export function embeddingSpace (
  { embeddings }: Pick<Settings, 'embeddings'>, { model, dimensions }: EmbeddingProvider,
): EmbeddingSpace {
  return { model: `${model ?? embeddings.name}:${dimensions}`, dimensions }
}

function modelOf (config: Readonly<Record<string, unknown>> = {}): string | undefined {
  return typeof config['model'] === 'string' ? config['model'] : undefined
}

/** The weight of each strategy; that of the semantic one is the provider's, unless it is set. */
export function strategyWeights (
  { weights }: Pick<Settings, 'weights'>, embeddings: EmbeddingProvider,
): Providers['weights'] {
  const { dimensions, fusionWeight } = embeddings
  if (!Number.isInteger(dimensions) || dimensions < 1) {
    throw new ProviderError('embedding_provider: dimensions must be a positive integer')
  }
  if (!(fusionWeight >= 0 && fusionWeight < Infinity)) {
    throw new ProviderError('embedding_provider: fusionWeight must be a number from 0')
  }
  const { lexical, semantic = fusionWeight } = weights
  if (lexical + semantic === 0) {
    throw new ProviderError('retrieval.weights: one of lexical and semantic must be above 0')
  }
  return { lexical, semantic }
}

/** @returns undefined for a store that cannot add vectors after a write */
export function makeBackfill (
  store: VectorStore, embeddings: EmbeddingProvider, clock: Clock,
  overrides: BackOffTools & Pick<ProviderOverrides, 'warn' | 'info'>,
): EmbeddingBackfill | undefined {
  if (store.attachVectors === undefined || store.listUnembedded === undefined) return undefined
  const { warn = () => {}, info = () => {}, schedule, random } = overrides
  return new EmbeddingBackfill({
    store: store as EmbeddingBackfillOptions['store'],
    embeddings,
    clock,
    warn,
    info,
    schedule,
    random,
  })
}
