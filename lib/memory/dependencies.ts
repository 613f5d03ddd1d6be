import type { AccessControl } from '../access/access-control.js'
import type { Clock } from '../time/clock.js'
import type { IdSource } from '../validation/ids.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { LanguageModel } from '../models/language-model.js'
import type { Reranker } from '../models/reranker.js'
import type { AdmissionControl, UsageCounters } from '../policy/admission.js'
import type { Retriever } from '../retrieval/retriever.js'
import type { VectorStore } from '../stores/vector-store.js'
import type { BankDirectory, LiveSettings } from './bank-directory.js'
import type { SealedCursors } from './cursor.js'
import type { IdempotencyService, IdempotencyKey } from './idempotency.js'
import type { Indexer } from './indexer.js'
import type { MeteredLanguageModel } from './metered-language-model.js'
import type { ModelAssistedRecall } from './model-assisted-recall.js'
import type { EmbeddingBackfill } from './embedding-backfill.js'
import type { Precondition } from './bank-configurations.js'

/** Options of the operations of MemoryService. Each operation takes those that have an effect on it. */
export interface OperationOptions {
  /** Marks repeats of a write, which get the answer of the first. */
  readonly idempotency?: IdempotencyKey | undefined
  /**
   * Cancels the operation, for instance when the client has disconnected: it rejects with the signal's reason. A write
   * that has begun is not cancelled; one that has not begun changes nothing.
   */
  readonly signal?: AbortSignal | undefined
  /** The version of a bank's configuration that a change of it requires. */
  readonly precondition?: Precondition | undefined
}

/** Options of an operation that searches. */
export type SearchOptions = Pick<OperationOptions, 'signal'>

/** Options of an operation that stores memories. */
export type RetainOptions = Pick<OperationOptions, 'idempotency' | 'signal'>

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
