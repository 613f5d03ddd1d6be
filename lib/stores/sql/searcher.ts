import { forEachConcurrently } from '../../concurrency/for-each-concurrently.js'
import { mapInTurns } from '../../concurrency/turn-budget.js'
import { bankKeyString, type BankKey } from '../../identity/context.js'
import {
  byScore, type Candidate, type CandidateScores, type EmbeddingSpace, type SearchRequest, type SearchResult,
} from '../vector-store.js'
import type { Executor } from './executor.js'
import { toMemory, type MemoryRow } from './rows.js'
import { searchStatement } from './search-statement.js'
import { nearestStatement, type Nearest } from './semantic-strategy.js'
import type { VectorIndexes } from './vector-indexes.js'
import type { Mutable } from '../../validation/members.js'

/** Banks of one request that are searched concurrently; limited so that other requests get connections. */
const MAX_CONCURRENT_BANKS = 4
const NO_PASSAGES: Candidate['passages'] = []

interface SqlSearcherOptions {
  executor: Executor
  schema: string
  /** Absent: every search is exact. */
  indexes: VectorIndexes | undefined
}

/** The results of one bank, in no particular order. */
interface Found {
  lexical: Candidate[]
  semantic: Candidate[]
  total: number
}

/** A row of a search statement. */
interface CandidateRow extends MemoryRow {
  passage_starts: number[]
  passage_ends: number[]
  lexical_score: number | null
  /**
   * Ordinals of the best passages, followed by as many scores; null where the memory has only one, where only the first
   * passages of memories matched, and where only the terms of neighbours matched.
   */
  lexical_passages: number[] | null
  semantic_score: number | null
  semantic_passages: number[] | null
  /** The memory's score in each strategy, even if it is not among its best. */
  by_words: number | null
  by_own_words: number | null
  by_meaning: number | null
  total: number
}

/** Searches banks: one statement for each, and one more if the bank has a vector index. */
export class SqlSearcher {
  readonly #executor: Executor
  readonly #schema: string
  readonly #indexes: VectorIndexes | undefined
  #space: EmbeddingSpace | undefined

  constructor ({ executor, schema, indexes }: SqlSearcherOptions) {
    this.#executor = executor
    this.#schema = schema
    this.#indexes = indexes
  }

  start (space: EmbeddingSpace | undefined): void {
    this.#space = space
  }

  async search (request: SearchRequest): Promise<SearchResult> {
    // In the order of the request, so that equal hits of several banks have the same order every time.
    const found = new Array<Found>(request.banks.length)
    await forEachConcurrently(request.banks.entries(), MAX_CONCURRENT_BANKS, async ([index, bank]) => {
      found[index] = await this.#searchBank(bank, request)
    })
    const merge = (strategy: 'lexical' | 'semantic') => (
      bestOverBanks(found.map(({ [strategy]: candidates }) => candidates), request.limit)
    )
    const result: Mutable<SearchResult> = { total: found.reduce((sum, { total }) => sum + total, 0) }
    if (request.lexical !== undefined) result.lexical = merge('lexical')
    if (request.semantic !== undefined) result.semantic = merge('semantic')
    return result
  }

  async #searchBank (bank: BankKey, request: SearchRequest): Promise<Found> {
    // The statement consists of key lookups, so one generic plan suits every bank.
    const search = async (nearest?: Nearest): Promise<CandidateRow[]> => {
      const statement = searchStatement(bank, request, { schema: this.#schema, space: this.#space, nearest })
      if (statement === undefined) return []
      return await this.#executor.read<CandidateRow>(statement.text, statement.values, { keepPlan: true })
    }
    const nearest = await this.#nearest(bank, request)
    let found = await search(nearest)
    // An index scan ends after a bounded number of neighbours, even if filters exclude them or they are passages of the
    // same memories.
    const expected = Math.min(request.limit, found[0]?.total ?? Infinity)
    if (nearest !== undefined && nearest.found < expected) found = await search()
    return {
      lexical: await toCandidates(bank, found, 'lexical', request),
      semantic: await toCandidates(bank, found, 'semantic', request),
      total: found[0]?.total ?? 0,
    }
  }

  /** The result of the bank's vector index, if it has one. */
  async #nearest (bank: BankKey, request: SearchRequest): Promise<Nearest | undefined> {
    const { semantic } = request
    const passagesPerMemory = this.#indexes?.passagesPerMemory(bank)
    if (semantic === undefined || this.#space === undefined || passagesPerMemory === undefined) return undefined
    const statement = nearestStatement(bank, request, semantic.vector, {
      schema: this.#schema, space: this.#space, passagesPerMemory,
    })
    if (statement === undefined) return undefined
    return (await this.#executor.read<Nearest>(statement.text, statement.values))[0]
  }
}

/**
 * @returns the memories that the strategy found, in no particular order; parsed in time slices, because metadata may be
 * long
 */
async function toCandidates (
  bank: BankKey, rows: readonly CandidateRow[], strategy: 'lexical' | 'semantic', request: SearchRequest,
): Promise<Candidate[]> {
  const candidates = await mapInTurns(rows, bankKeyString(bank), (row): Candidate | undefined => {
    const score = row[`${strategy}_score`]
    if (score === null) return undefined
    return {
      bank,
      memory: toMemory(row),
      score,
      scores: scoresOf(row, request),
      passageCount: row.passage_starts.length,
      passages: row.passage_starts.length === 1 ? NO_PASSAGES : passagesOf(row, strategy, score),
    }
  })
  return candidates.filter((candidate) => candidate !== undefined)
}

function passagesOf (row: CandidateRow, strategy: 'lexical' | 'semantic', score: number): Candidate['passages'] {
  const matched = row[`${strategy}_passages`] ?? [0, strategy === 'lexical' ? ofFirstPassage(row, score) : score]
  const count = matched.length / 2
  return matched.slice(0, count).map((ordinal, index) => ({
    start: row.passage_starts[ordinal]!, end: row.passage_ends[ordinal]!, score: matched[count + index]!,
  }))
}

/** The score of the first passage: its own; that of the memory when only the terms of its neighbours matched. */
function ofFirstPassage ({ by_own_words: own }: CandidateRow, score: number): number {
  return own === null || own === 0 ? score : own
}

function scoresOf (row: CandidateRow, { lexical }: SearchRequest): CandidateScores {
  const scores: Mutable<CandidateScores> = {}
  if (lexical !== undefined) {
    scores.lexical = row.by_words ?? 0
    scores.own = row.by_own_words ?? 0
  }
  // Null also when the strategy is not requested.
  if (row.by_meaning !== null) scores.semantic = row.by_meaning
  return scores
}

/** @returns the best over all banks: descending, ties by memory id, then in the order of the banks */
function bestOverBanks (banks: ReadonlyArray<readonly Candidate[]>, limit: number): Candidate[] {
  return banks.flat().sort(byScore).slice(0, limit)
}
