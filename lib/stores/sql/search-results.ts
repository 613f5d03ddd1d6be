import { bankKeyString, type BankKey } from '../../identity/context.js'
import { compareText } from '../../text/compare-text.js'
import { mapInTurns } from '../../concurrency/turn-budget.js'
import type { Candidate, CandidateScores, SearchRequest } from '../vector-store.js'
import { toMemory, type MemoryRow } from './rows.js'

/** A row of a search statement. */
export interface CandidateRow extends MemoryRow {
  passage_starts: number[]
  passage_ends: number[]
  lexical_score: number | null
  /**
   * Ordinals of the best passages, then as many scores; null where there is only one, or only neighbours found the
   * memory.
   */
  lexical_passages: number[] | null
  semantic_score: number | null
  semantic_passages: number[] | null
  /** What each strategy says of the memory, also one that does not have it among its best. */
  by_words: number | null
  by_own_words: number | null
  by_meaning: number | null
  total: number
}

/**
 * @returns the memories that the strategy found, in no order. Their metadata may be long, and is read in pieces of a
 * turn.
 */
export async function toCandidates (
  bank: BankKey, rows: readonly CandidateRow[], strategy: 'lexical' | 'semantic', asked: Pick<SearchRequest, 'lexical' | 'semantic'>,
): Promise<Candidate[]> {
  const candidates = await mapInTurns(rows, bankKeyString(bank), (row): Candidate | undefined => {
    const score = row[`${strategy}_score`]
    if (score === null) return undefined
    const passages = row[`${strategy}_passages`] ?? [0, strategy === 'lexical' ? ofOnePassage(row, score) : score]
    const ordinals = passages.slice(0, passages.length / 2)
    const scores = passages.slice(passages.length / 2)
    return {
      bank,
      memory: toMemory(row),
      score,
      scores: scoresOf(row, asked),
      passageCount: row.passage_starts.length,
      passages: ordinals.map((ordinal, index) => ({
        start: row.passage_starts[ordinal]!, end: row.passage_ends[ordinal]!, score: scores[index]!,
      })),
    }
  })
  return candidates.filter((candidate) => candidate !== undefined)
}

/**
 * A passage is shown with its own score; the first one of a memory that only its neighbours found, with the memory's.
 */
function ofOnePassage ({ by_own_words: own }: CandidateRow, score: number): number {
  return own === null || own === 0 ? score : own
}

function scoresOf (row: CandidateRow, { lexical, semantic }: Pick<SearchRequest, 'lexical' | 'semantic'>): CandidateScores {
  return {
    ...(lexical !== undefined && { lexical: row.by_words ?? 0, own: row.by_own_words ?? 0 }),
    ...(semantic !== undefined && row.by_meaning !== null && { semantic: row.by_meaning }),
  }
}

/** @returns the best over all banks: falling, ties by memory id */
export function mergeCandidates (banks: ReadonlyArray<readonly Candidate[]>, limit: number): Candidate[] {
  return banks.flat()
    .sort((a, b) => b.score - a.score || compareText(a.memory.memoryId, b.memory.memoryId))
    .slice(0, limit)
}
