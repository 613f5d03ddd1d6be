import type { BankKey } from '../access/context.js'

/** Memories of a bank that a gateway has taken, to derive facts from them, and that nobody else takes until then. */
export type HeldExtractions = Readonly<{ memoryIds: readonly string[], until: number }>

/** A memory that was taken, with the number of times that it was. */
export type ExtractionJob = Readonly<{ memoryId: string, attempts: number }>

/** What a store does with the memories that writes note with `extract`; it has all of this or nothing. */
export interface ExtractionQueue {
  /** Banks with memories that may be taken. */
  dueExtractions (request: Readonly<{ now: number, limit: number }>): Promise<BankKey[]>
  /**
   * Takes noted memories, the oldest first: nobody else takes them before `until`. Each stays noted until it is ended,
   * by `settleExtractions` or `extracted` of a write, or removed.
   */
  takeExtractions (
    bank: BankKey, request: Readonly<{ now: number, until: number, limit: number }>,
  ): Promise<ExtractionJob[]>
  /**
   * Ends extractions, or with `retry` lets them be taken again from `retryAt` on. Those not held any more are skipped.
   * @param retry `isCounted`: whether the attempt that ends counts among the attempts
   */
  settleExtractions (
    bank: BankKey, held: HeldExtractions, retry?: Readonly<{ retryAt: number, isCounted: boolean }>,
  ): Promise<void>
}
