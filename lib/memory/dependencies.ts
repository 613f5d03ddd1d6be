import type { AccessControl } from '../access/access-control.js'
import type { Clock } from '../clock.js'
import type { BankKey, RequestContext } from '../identity/context.js'
import type { IdSource } from '../ids.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { LanguageModel } from '../models/language-model.js'
import type { AdmissionControl } from '../policy/admission.js'
import type { PolicySettings } from '../policy/settings.js'
import type { Indexing } from '../retrieval/passages.js'
import type { Retriever } from '../retrieval/retriever.js'
import type { VectorStore } from '../stores/vector-store.js'
import type { IdempotencyLedger } from './idempotency.js'

/** What the operations of the memory service share. */
export interface Dependencies {
  store: VectorStore
  embeddings: EmbeddingProvider
  languageModel: LanguageModel
  access: AccessControl
  settings: PolicySettings
  admission: AdmissionControl
  ledger: IdempotencyLedger
  retriever: Retriever
  indexing: Indexing
  clock: Clock
  newId: IdSource
}

/** The bank that a caller means by a name: the one of the caller's tenant. */
export function bankOf (context: RequestContext, bankId: string): BankKey {
  return { tenantId: context.tenantId, bankId }
}
