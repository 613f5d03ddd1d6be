import type { BackOffTools } from '../concurrency/back-off.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import type { VectorStore } from '../stores/vector-store.js'
import type { Clock } from '../time/clock.js'
import { EmbeddingBackfill, type EmbeddingBackfillOptions } from './embedding-backfill.js'
import type { ProviderOverrides } from './open-providers.js'

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
