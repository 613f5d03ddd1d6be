import type { AccessControl } from '../access/access-control.js'
import type { Clock } from '../time/clock.js'
import type { IdSource } from '../validation/ids.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { LanguageModel } from '../models/language-model.js'
import type { Reranker } from '../models/reranker.js'
import type { AdmissionControl } from '../policy/admission.js'
import type { UsageCounters } from '../policy/usage-counters.js'
import type { Retriever } from '../retrieval/retriever.js'
import type { VectorStore } from '../stores/vector-store.js'
import type { BankDirectory } from './bank-directory.js'
import type { SealedCursors } from './cursor.js'
import type { LiveSettings } from './file-settings.js'
import type { IdempotencyService } from './idempotency.js'
import type { Indexer } from './indexer.js'
import type { MeteredLanguageModel } from './metered-language-model.js'
import type { ModelAssistedRecall } from './model-assisted-recall.js'
import type { EmbeddingBackfill } from './embedding-backfill.js'

/** The dependencies that the operations of the memory service share. */
export interface Dependencies {
  store: VectorStore
  embeddings: EmbeddingProvider
  languageModel: LanguageModel
  /** Used for every call of the language model. */
  meteredModel: MeteredLanguageModel
  modelAssistedRecall: ModelAssistedRecall
  /** Undefined when none is configured. */
  reranker: Reranker | undefined
  access: AccessControl
  /** The settings of the file in force. */
  live: LiveSettings
  directory: BankDirectory
  /** Makes the cursors of lists whose places the caller may not know. */
  cursors: SealedCursors
  admission: AdmissionControl
  /** Counters of daily quotas. */
  usage: UsageCounters
  idempotency: IdempotencyService
  retriever: Retriever
  indexer: Indexer
  /** Undefined when vectors are always written with the memory. */
  backfill: EmbeddingBackfill | undefined
  clock: Clock
  newId: IdSource
  /** Writes to the operator's log. */
  warn: (message: string) => void
}
