import { performance } from 'node:perf_hooks'
import type { AccessControl } from '../access/access-control.js'
import { systemClock, type Clock } from '../clock.js'
import type { Config, FileConfig } from '../config/schema.js'
import { uuidv7Source, type IdSource } from '../ids.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { LanguageModel } from '../models/language-model.js'
import { embeddingProviders, languageModels } from '../models/registry.js'
import { AdmissionControl } from '../policy/admission.js'
import { PolicySettings } from '../policy/settings.js'
import { makeProvider, ProviderError } from '../providers.js'
import { DEFAULT_CHUNK_MAX_CHARACTERS } from '../retrieval/chunking.js'
import { Retriever } from '../retrieval/retriever.js'
import { vectorStores } from '../stores/registry.js'
import type { EmbeddingSpace, VectorStore } from '../stores/vector-store.js'
import { Banks } from './banks.js'
import type { Dependencies } from './dependencies.js'
import { HealthProbe } from './health.js'
import { IdempotencyLedger } from './idempotency.js'
import { Reader } from './reader.js'
import { Reflector } from './reflector.js'
import { Transfer } from './transfer.js'
import { Writer } from './writer.js'

/** BM25 with the length normalisation that short conversational turns want (Robertson & Zaragoza 2009 for the formula). */
const DEFAULT_BM25 = { k1: 0.9, b: 0.3 }

/** What a test or an embedding application puts in place of what the configuration names. */
export interface MemoryOverrides {
  clock?: Clock
  newId?: IdSource
  store?: VectorStore
  embeddings?: EmbeddingProvider
  languageModel?: LanguageModel
  /** Take sentences for the operator's log. Default: they are dropped. */
  warn?: (message: string) => void
  info?: (message: string) => void
}

/** What the service is built from. */
export type MemoryConfig = Pick<Config, 'file' | 'baseDirectory'> & Partial<Pick<Config, 'database'>>

/**
 * The memory library's door: every way in (HTTP now) calls these, and each decides access for itself.
 * Answers are the records of lib/memory/schemas.ts; refusals are ServiceErrors.
 */
export class MemoryService {
  readonly writer: Writer
  readonly reader: Reader
  readonly reflector: Reflector
  readonly banks: Banks
  readonly transfer: Transfer
  readonly health: HealthProbe
  readonly #deps: Dependencies

  constructor (deps: Dependencies) {
    this.#deps = deps
    this.writer = new Writer(deps)
    this.reader = new Reader(deps)
    this.reflector = new Reflector(deps)
    this.banks = new Banks(deps)
    this.transfer = new Transfer(deps)
    this.health = new HealthProbe(deps.store, () => performance.now())
  }

  async close (): Promise<void> {
    const { store, embeddings, languageModel } = this.#deps
    await Promise.all([store.close(), embeddings.close?.(), languageModel.close?.()])
  }
}

/**
 * Builds the service that the configuration describes.
 * @throws ProviderError when a provider cannot be had
 */
export async function createMemoryService ({ file, baseDirectory, database = {} }: MemoryConfig, access: AccessControl, overrides: MemoryOverrides = {}): Promise<MemoryService> {
  const clock = overrides.clock ?? systemClock
  const embeddings = overrides.embeddings ?? await makeProvider(embeddingProviders, file.embedding_provider ?? 'mock', file.embedding_provider_config ?? {}, baseDirectory)
  const languageModel = overrides.languageModel ?? await makeProvider(languageModels, file.llm_provider ?? 'mock', file.llm_provider_config ?? {}, baseDirectory)
  const weights = weightsOf(file, embeddings)
  const store = overrides.store ?? await makeProvider(vectorStores, file.vector_store ?? 'in_memory', file.vector_store_config ?? {}, baseDirectory, {
    ...(database.url !== undefined && { databaseUrl: database.url }),
  })
  try {
    await store.start?.({ clock, warn: overrides.warn ?? (() => {}), info: overrides.info ?? (() => {}), ...(weights.semantic > 0 && { space: embeddingSpace(file, embeddings) }) })
  } catch (error) {
    await store.close()
    throw error
  }
  const settings = new PolicySettings(file)
  return new MemoryService({
    store,
    embeddings,
    languageModel,
    access,
    settings,
    admission: new AdmissionControl(settings, clock),
    ledger: new IdempotencyLedger(clock, store),
    retriever: new Retriever({ store, embeddings, weights, bm25: { ...DEFAULT_BM25, ...file.retrieval?.bm25 }, clock, timer: () => performance.now() }),
    indexing: {
      chunkMaxCharacters: file.retrieval?.chunk_max_characters ?? DEFAULT_CHUNK_MAX_CHARACTERS,
      ...(weights.semantic > 0 && { embeddings }),
    },
    clock,
    newId: overrides.newId ?? uuidv7Source(clock),
  })
}

/** What a durable store knows vectors by: a provider whose number of dimensions is changed makes other vectors. */
export function embeddingSpace (file: FileConfig, { model, dimensions }: EmbeddingProvider): EmbeddingSpace {
  return { model: `${model ?? file.embedding_provider ?? 'mock'}:${dimensions}`, dimensions }
}

function weightsOf (file: FileConfig, embeddings: EmbeddingProvider): { lexical: number, semantic: number } {
  const { dimensions, fusionWeight } = embeddings
  if (!Number.isInteger(dimensions) || dimensions < 1) throw new ProviderError('embedding_provider: dimensions must be a positive integer')
  if (!(fusionWeight >= 0)) throw new ProviderError('embedding_provider: fusionWeight must be a number from 0')
  const weights = { lexical: file.retrieval?.weights?.lexical ?? 1, semantic: file.retrieval?.weights?.semantic ?? fusionWeight }
  if (weights.lexical + weights.semantic === 0) throw new ProviderError('retrieval.weights: one of lexical and semantic must be above 0')
  return weights
}
