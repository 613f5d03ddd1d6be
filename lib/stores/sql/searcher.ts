import { mapGivingWay } from '../../concurrency/event-loop.js'
import { forEachConcurrently } from '../../concurrency/for-each-concurrently.js'
import type { BankKey } from '../../identity/context.js'
import type { Mutable } from '../../validation/members.js'
import {
  byScore, type Candidate, type CandidateScores, type EmbeddingSpace, type SearchRequest, type SearchResult,
} from '../vector-store.js'
import { arrayElements, arrayNumbers } from './arrays.js'
import type { Executor } from './executor.js'
import { scoreRow } from './lexical-strategy.js'
import { toMemory } from './rows.js'
import { foundStatement, hasWords, searchStatement, type FoundRow, type SearchRow } from './search-statement.js'
import { nearestStatement, type Nearest } from './semantic-strategy.js'
import type { VectorIndexes } from './vector-indexes.js'

/** Banks of one request that are searched concurrently; limited so that other requests get connections. */
const MAX_CONCURRENT_BANKS = 4
/** Memories that one statement reads, whose texts may be long. */
const MEMORIES_PER_STATEMENT = 200
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

type Matched = ReadonlyArray<{ ordinal: number, score: number }>

/**
 * Searches banks. Statements retrieve: one the candidates with what their scores depend on, one the memories to return,
 * and one before them queries the vector index of a bank that has one. The scores are those of lexical-scores.ts.
 */
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
    const nearest = await this.#nearest(bank, request)
    let row = await this.#retrieve(bank, request, nearest)
    // An index scan ends after a bounded number of neighbours, even if filters exclude them or they are passages of the
    // same memories.
    if (row !== undefined && nearest !== undefined && nearest.found < Math.min(request.limit, row.total)) {
      row = await this.#retrieve(bank, request, undefined)
    }
    if (row === undefined) return { lexical: [], semantic: [], total: 0 }
    const words = hasWords(request)
      ? scoreRow(row, request.lexical!, request.limit, request.semantic !== undefined)
      : undefined
    const cosines = cosinesOf(row)
    const byWords = words?.best ?? []
    const memories = await this.#read(
      bank, new Map([...byWords.map(({ memoryId }) => [memoryId, undefined] as const), ...cosines]), request,
    )
    const lexical = byWords.flatMap(({ memoryId, score, own, passages }) => {
      const found = memories.get(memoryId)
      // Only the terms of its neighbours matched: its first passage is shown.
      const matched = passages.length > 0 ? passages : [{ ordinal: 0, score }]
      return found === undefined ? [] : [toCandidate(bank, found, score, scoresOf(found, { score, own }), matched)]
    })
    const semantic = [...cosines].flatMap(([memoryId, score]) => {
      const found = memories.get(memoryId)
      if (found === undefined) return []
      const ofWords = request.lexical && (words?.scoresOf(memoryId) ?? { score: 0, own: 0 })
      const scores = scoresOf(found, ofWords)
      return [toCandidate(bank, found, score, scores, passagesByMeaning(found, score))]
    })
    return { lexical, semantic, total: row.total + foundByContext(row, words?.byContext ?? [], request) }
  }

  /** The statement consists of key lookups, so one generic plan suits every bank. */
  async #retrieve (
    bank: BankKey, request: SearchRequest, nearest: Nearest | undefined,
  ): Promise<SearchRow | undefined> {
    const statement = searchStatement(bank, request, { schema: this.#schema, space: this.#space, nearest })
    if (statement === undefined) return undefined
    return (await this.#executor.read<SearchRow>(statement.text, statement.values, { keepPlan: true }))[0]
  }

  /** By id. A memory that was removed since the retrieval is missing. */
  async #read (
    bank: BankKey, found: ReadonlyMap<string, number | undefined>, request: SearchRequest,
  ): Promise<Map<string, FoundMemory>> {
    const memories = new Map<string, FoundMemory>()
    const wanted = [...found]
    for (let from = 0; from < wanted.length; from += MEMORIES_PER_STATEMENT) {
      const { text, values } = foundStatement(
        bank, new Map(wanted.slice(from, from + MEMORIES_PER_STATEMENT)), request,
        { schema: this.#schema, space: this.#space },
      )
      const rows = await this.#executor.read<FoundRow>(text, values, { keepPlan: true })
      for (const memory of await mapGivingWay(rows, (row) => ({ row, memory: toMemory(row) }))) {
        memories.set(memory.row.memory_id, memory)
      }
    }
    return memories
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

interface FoundMemory {
  row: FoundRow
  memory: Candidate['memory']
}

/** The memories that the semantic strategy found. */
function cosinesOf ({ semantic_ids: ids, semantic_scores: scores }: Partial<SearchRow>): Map<string, number> {
  if (ids === null || ids === undefined) return new Map()
  const values = arrayNumbers(scores!)
  return new Map(arrayElements(ids).map((id, at) => [id!, values[at]!]))
}

/** How many memories are found only by terms of their neighbours and, with the semantic strategy, have no vector. */
function foundByContext (
  { unembedded_ids: unembedded }: Partial<SearchRow>, found: readonly string[],
  { semantic }: SearchRequest,
): number {
  if (semantic === undefined) return found.length
  const counted = new Set(arrayElements(unembedded ?? '{}'))
  return found.filter((memoryId) => counted.has(memoryId)).length
}

function toCandidate (
  bank: BankKey, { row, memory }: FoundMemory, score: number, scores: CandidateScores, matched: Matched,
): Candidate {
  const { passage_starts: starts, passage_ends: ends } = row
  const passages = starts.length === 1
    ? NO_PASSAGES
    : matched.map(({ ordinal, score }) => ({ start: starts[ordinal]!, end: ends[ordinal]!, score }))
  return { bank, memory, score, scores, passageCount: starts.length, passages }
}

function passagesByMeaning ({ row: { semantic_passages: passages } }: FoundMemory, score: number): Matched {
  const matched = passages ?? [0, score]
  const count = matched.length / 2
  return matched.slice(0, count).map((ordinal, at) => ({ ordinal, score: matched[count + at]! }))
}

function scoresOf (
  { row: { cosine } }: FoundMemory, words: { score: number, own: number } | undefined,
): CandidateScores {
  const scores: Mutable<CandidateScores> = {}
  if (words !== undefined) {
    scores.lexical = words.score
    scores.own = words.own
  }
  if (cosine !== null) scores.semantic = cosine
  return scores
}

/** @returns the best over all banks: descending, ties by memory id, then in the order of the banks */
function bestOverBanks (banks: ReadonlyArray<readonly Candidate[]>, limit: number): Candidate[] {
  return banks.flat().sort(byScore).slice(0, limit)
}
