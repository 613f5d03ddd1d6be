import type { AccessControl } from '../access/access-control.js'
import type { Clock } from '../base/clock.js'
import type { Timer } from '../base/deadline.js'
import type { IdSource } from '../base/ids.js'
import type { KeyedQueue } from '../base/keyed-queue.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { LanguageModel } from '../models/language-model.js'
import type { Reranker } from '../models/reranker.js'
import type { Retriever } from '../ranking/retriever.js'
import type { VectorStore } from '../stores/vector-store.js'
import type { AdmissionControl, Caller, UsageCounters } from './admission.js'
import type { Precondition } from './bank-configurations.js'
import type { BankDirectory, LiveSettings } from './bank-directory.js'
import type { SealedCursors } from './cursor.js'
import type { EmbeddingBackfill } from './embedding-backfill.js'
import type { FactExtraction } from './extraction.js'
import type { IdempotencyService, IdempotencyKey } from './idempotency.js'
import type { Indexer } from './indexer.js'
import type { MeteredLanguageModel } from './metered-language-model.js'
import type { RateCounts } from './rate-counts.js'

/** Who calls, and what is about the call and not about the request. An operation reads what has an effect on it. */
export interface Call extends Caller {
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

/** The dependencies that the operations of the memory service share. */
export interface Dependencies {
  store: VectorStore
  embeddings: EmbeddingProvider
  languageModel: LanguageModel
  /** Used for every call of the language model. */
  meteredModel: MeteredLanguageModel
  /** Undefined when none is configured. */
  reranker: Reranker | undefined
  access: AccessControl
  /** The settings of the file in force. */
  live: LiveSettings
  directory: BankDirectory
  /** Makes the cursors of lists whose places the caller may not know. */
  cursors: SealedCursors
  admission: AdmissionControl
  /** Where the use of rate limits is counted. */
  rates: RateCounts
  /** Counters of daily quotas. */
  usage: UsageCounters
  idempotency: IdempotencyService
  retriever: Retriever
  indexer: Indexer
  /** Undefined when vectors are always written with the memory. */
  backfill: EmbeddingBackfill | undefined
  /** Undefined without a language model that answers in JSON, or with a store that cannot keep what is to be done. */
  extraction: FactExtraction | undefined
  clock: Clock
  newId: IdSource
  /** Writes to the operator's log. */
  warn: (message: string) => void
  /** A monotonic clock in milliseconds. */
  timer: Timer
  /** Answers reflects in the extractive mode. */
  extractive: LanguageModel
  /** Makes a new random delimiter of 32 hexadecimal digits. */
  newBoundary: () => string
  /** Order the writes to each bank. */
  queues: {
    /**
     * Of retains with deduplication: two different items could otherwise both replace the same near-duplicate, and one
     * of them would be lost.
     */
    retains: KeyedQueue
    /** Of imports, each of which holds its whole body in memory. */
    imports: KeyedQueue
    /** Of merges into the configuration, most of which would otherwise be overtaken in all attempts. */
    settings: KeyedQueue
  }
}
