import type { BankKey } from '../../identity/context.js'
import { giveWay, isDue } from '../../concurrency/event-loop.js'
import { compareText } from '../../text/compare-text.js'
import type { EmbeddingSpace, LateVectors, NewMemory } from '../vector-store.js'
import { BankSpaces } from './bank-spaces.js'
import type { Executor, Transaction } from './executor.js'
import { hasVectors } from './insertion-batch.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'
import type { AttachedRow } from './vector-statements.js'
import { unitVectorText } from './vectors.js'

interface VectorWriterOptions {
  executor: Executor
  statements: Statements
  nextShard: () => number
}

/** Stores vectors after their memories, and gives banks the embedding space of the vectors. */
export class VectorWriter {
  readonly #options: VectorWriterOptions
  readonly #spaces: BankSpaces

  constructor (options: VectorWriterOptions) {
    this.#options = options
    this.#spaces = new BankSpaces(options.executor, options.statements)
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#spaces.start(space, warn)
  }

  /** @returns the embedding space of the vectors; undefined when none of the memories has any */
  async adopt (bank: BankKey, memories: readonly NewMemory[]): Promise<EmbeddingSpace | undefined> {
    return memories.some(hasVectors) ? await this.#spaces.adopt(bank) : undefined
  }

  /** Adds the vectors that were not stored with their memories, because the bank did not have the space any more. */
  async attachMissing (bank: BankKey, memories: readonly NewMemory[], now: number): Promise<void> {
    if (await this.#spaces.readopt(bank)) await this.attach(bank, memories.flatMap(toLateVectors), now)
    else this.#spaces.noteOtherSpace(bank)
  }

  async attach (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    const items = [...new Map(vectors.map((late) => [late.memoryId, late])).values()]
      .sort((a, b) => compareText(a.memoryId, b.memoryId))
    if (items.length === 0) return 0
    const [ids, ordinals, texts]: [string[], string[], string[]] = [[], [], []]
    for (const { memoryId, vectors } of items) {
      for (const [ordinal, vector] of vectors.entries()) {
        if (isDue()) await giveWay()
        ids.push(memoryId)
        ordinals.push(String(ordinal))
        texts.push(unitVectorText(vector))
      }
    }
    const values = [
      items.map((late) => late.memoryId), items.map((late) => late.fingerprint),
      items.map((late) => String(late.vectors.length)), ids, ordinals, texts,
    ]
    let row = await this.#attach(bank, values, now)
    while (!row.is_configured_space && await this.#spaces.readopt(bank)) row = await this.#attach(bank, values, now)
    if (!row.is_configured_space) this.#spaces.noteOtherSpace(bank)
    return row.attached
  }

  /** Takes the space from a bank without vectors. A write that is adding vectors prevents that. */
  async dropSpace (tx: Transaction, bank: BankKey): Promise<void> {
    const { spaces } = this.#options.statements
    const locked = await tx.query(spaces.tryLock, bankParameters(bank))
    if (locked.length > 0) await tx.query(spaces.drop, bankParameters(bank))
  }

  async #attach (bank: BankKey, values: string[][], now: number): Promise<AttachedRow> {
    const { executor, statements, nextShard } = this.#options
    const { model, dimensions } = await this.#spaces.adopt(bank)
    return await retrySerializationFailures(async () => await executor.transaction(async (tx) => {
      // The shared lock excludes the removal of the whole bank, which would leave these vectors behind.
      await tx.query(statements.locks.shareBank, bankParameters(bank))
      const [row] = await tx.query<AttachedRow>(statements.vectors.attach, [
        ...bankParameters(bank), model, dimensions, nextShard(), now, ...values,
      ])
      return row!
    }))
  }
}

function toLateVectors ({ memoryId, fingerprint, passages }: NewMemory): LateVectors[] {
  const vectors = passages.flatMap(({ vector }) => vector ?? [])
  return vectors.length === 0 ? [] : [{ memoryId, fingerprint, vectors }]
}
