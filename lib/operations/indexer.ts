import type { BankKey } from '../access/context.js'
import { mapGivingWay } from '../base/event-loop.js'
import { withoutUndefined } from '../base/members.js'
import type { EmbeddingProvider } from '../models/embedding-provider.js'
import { embed, passageSpans } from '../ranking/passages.js'
import { indexedPassages } from '../stores/passages.js'
import { embeddedTexts, nameOf } from '../stores/speaker.js'
import type { NewMemory } from '../stores/vector-store.js'
import type { EmbeddingBackfill } from './embedding-backfill.js'
import type { PreparedMemory } from './preparation.js'

interface IndexerOptions {
  /** Absent when the semantic strategy is off; nothing is embedded then. */
  embeddings?: EmbeddingProvider | undefined
  /** Absent without `embeddings`, and for a store that cannot add vectors after a write. */
  backfill?: EmbeddingBackfill | undefined
}

/**
 * Makes memories searchable: splits them into passages with terms, and embeds the passages before or after the write.
 */
export class Indexer {
  readonly #options: IndexerOptions

  constructor (options: IndexerOptions) {
    this.#options = options
  }

  /**
   * @param chunkMaxCharacters the longest passage
   * @param signal ends the wait for the provider; it rejects with the signal's reason then
   * @returns the memories for the store, in order; without vectors when these follow later
   * @throws ServiceError dependency_unavailable or model_output_invalid when the provider fails and the store cannot
   *   add vectors later
   */
  async index (prepared: ReadonlyArray<
    Pick<PreparedMemory, 'memory' | 'fingerprint'>
  >, chunkMaxCharacters: number, signal?: AbortSignal): Promise<NewMemory[]> {
    const { embeddings, backfill } = this.#options
    const memories = await mapGivingWay(prepared, ({ memory, fingerprint }) => {
      signal?.throwIfAborted()
      const spans = passageSpans(memory.text, chunkMaxCharacters)
      return { ...memory, fingerprint, passages: indexedPassages(memory, spans) }
    })
    if (embeddings === undefined || memories.length === 0) return memories
    if (backfill !== undefined && (embeddings.deferred === true || backfill.isFailing)) return memories
    try {
      const vectors = (await embed(
        embeddings, memories.flatMap((memory) => embeddedTexts({ ...memory, name: nameOf(memory) })),
        { purpose: 'document', ...withoutUndefined({ signal }) },
      )).values()
      return memories.map((memory) => ({
        ...memory,
        passages: memory.passages.map((passage) => ({ ...passage, vector: vectors.next().value! })),
      }))
    } catch (error) {
      signal?.throwIfAborted()
      if (backfill === undefined) throw error
      return memories
    }
  }

  /**
   * Schedules the missing vectors after a write.
   * @param memories the stored memories; undefined when the store does not report them
   */
  scheduleVectors (bank: BankKey, memories: readonly NewMemory[] | undefined): void {
    const { backfill } = this.#options
    if (memories === undefined) backfill?.requestScan()
    else backfill?.enqueue(bank, memories.filter(({ passages }) => passages.some(({ vector }) => vector === undefined)))
  }

  /** Runs a write that may replace the texts of existing memories. */
  async runReplacement<T> (
    bank: BankKey, memories: ReadonlyArray<Pick<NewMemory, 'memoryId'>>, write: () => Promise<T>,
  ): Promise<T> {
    const { backfill } = this.#options
    if (backfill === undefined) return await write()
    return await backfill.runReplacement(bank, memories.map(({ memoryId }) => memoryId), write)
  }
}
