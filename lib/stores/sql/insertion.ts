import type { BankKey } from '../../identity/context.js'
import { isAtLeast, readTrust } from '../../identity/trust.js'
import { compareText } from '../../text/compare-text.js'
import { giveWay, isDue } from '../../concurrency/event-loop.js'
import type { EmbeddingSpace, InsertOutcome, NewMemory } from '../vector-store.js'
import type { Queries } from './executor.js'
import { MAX_BATCH_MEMORIES, hasVectors, InsertionBatch } from './insertion-batch.js'
import { serializationFailure } from './retrying.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

/** Changes of a bank's statistics by a write; negative for what it removes. */
export interface Counts {
  memories: number
  embedded: number
  expiring: number
  passages: number
  length: number
}

export const NO_COUNTS: Readonly<Counts> = { memories: 0, embedded: 0, expiring: 0, passages: 0, length: 0 }

interface InsertedRow {
  stored: boolean
  embedded: boolean | null
  passages: number | null
  expiring: boolean | null
  passages_length: number | null
}

export interface ExistingRow {
  memory_id: string
  fingerprint: string
  passages: number
  expires_at: number | null
  trust: string
}

export interface Insertion {
  outcomes: InsertOutcome[]
  /** The statistics of the stored memories. */
  counts: Counts
  /** Memories that came with vectors but were stored without, because their bank has another model. */
  unembedded: number
}

interface InsertionOptions {
  statements: Statements
  bank: BankKey
  now: number
  space: EmbeddingSpace | undefined
  shard: number
  /** Memories that were removed because one of these has higher trust, by fingerprint. */
  replaced?: ReadonlyMap<string, ExistingRow>
  /**
   * Whether the statement itself updates the statistics, which then must be the only one. Otherwise the caller does.
   */
  counted: boolean
}

/** What the insertions of one write have in common. */
export type InsertionContext = Omit<InsertionOptions, 'counted'>

/**
 * Stores the memories that are new, and finds the existing memory that each of the others repeats. Rows are inserted in
 * the order of their fingerprints, so that two batches cannot deadlock.
 * @throws SqlError 40001 when a repeated memory was removed meanwhile, or has lower trust and has to be replaced: the
 * caller retries in a transaction that removes that memory first
 */
export async function insertMemories (
  queries: Queries, memories: readonly NewMemory[], options: InsertionOptions,
): Promise<Insertion> {
  const { statements, bank, now } = options
  const outcomes = new Array<InsertOutcome>(memories.length)
  const insertion: Insertion = { outcomes, counts: { ...NO_COUNTS }, unembedded: 0 }
  const key = bankParameters(bank)
  const indexed = memories.map((memory, index) => ({ memory, index }))
  const ordered = indexed.sort(insertionOrder(options))
  const repeats: typeof ordered = []
  const note = (rows: readonly InsertedRow[], batch: typeof ordered) => {
    for (const [at, row] of rows.entries()) {
      const { memory, index } = batch[at]!
      if (row.stored) {
        outcomes[index] = { stored: true, memoryId: memory.memoryId }
        count(insertion, row, memory)
      } else repeats.push(batch[at]!)
    }
  }
  // The arrays of the next statement are built while the database runs the current one, so that the connection is not
  // idle while other callers have their turns. At most two statements are in memory.
  let underWay: Promise<void> | undefined
  for (let start = 0; start < ordered.length;) {
    const { arrays, end } = await nextBatch(ordered, start, options)
    await underWay
    const sent = ordered.slice(start, end)
    underWay = send(queries, arrays, options).then((rows) => { note(rows, sent) })
    // It is awaited later. If building the next arrays fails before that, its own rejection still has to be handled.
    underWay.catch(() => {})
    start = end
  }
  await underWay
  if (repeats.length === 0) return insertion
  const fingerprints = [...new Set(repeats.map(({ memory }) => memory.fingerprint))]
  const existing = new Map<string, ExistingRow>()
  for (let start = 0; start < fingerprints.length; start += MAX_BATCH_MEMORIES) {
    const rows = await queries.query<ExistingRow>(
      statements.findExisting, [...key, [], fingerprints.slice(start, start + MAX_BATCH_MEMORIES)],
    )
    for (const row of rows) existing.set(row.fingerprint, row)
  }
  const ids = new Set(memories.map(({ memoryId }) => memoryId))
  for (const { memory, index } of repeats) {
    const row = existing.get(memory.fingerprint)
    if (row === undefined || hasExpired(row, now)) {
      throw serializationFailure('A memory that this one repeats was removed or has expired meanwhile')
    }
    if (hasHigherTrust(memory, row) && !ids.has(row.memory_id)) {
      throw serializationFailure('A memory of lower trust has to be replaced')
    }
    const { memory_id: memoryId, passages: passageCount } = row
    outcomes[index] = { stored: false, memoryId, passageCount, trust: readTrust(row.trust) }
  }
  return insertion
}

type IndexedMemory = { memory: NewMemory, index: number }

/**
 * By fingerprint; of exact repeats the first is stored, which is the first of higher trust than the memory that they
 * replace, if there was one.
 */
function insertionOrder ({ replaced }: InsertionOptions): (a: IndexedMemory, b: IndexedMemory) => number {
  const comesLater = ({ memory }: IndexedMemory): number => {
    const row = replaced?.get(memory.fingerprint)
    return row === undefined || hasHigherTrust(memory, row) ? 0 : 1
  }
  return (a, b) => (
    compareText(a.memory.fingerprint, b.memory.fingerprint) || comesLater(a) - comesLater(b) || a.index - b.index
  )
}

/** Whether a memory replaces the existing memory that it repeats. */
export function hasHigherTrust (memory: NewMemory, existing: ExistingRow): boolean {
  return !isAtLeast(readTrust(existing.trust), memory.trust)
}

export function hasExpired ({ expires_at: expiresAt }: ExistingRow, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/**
 * The arrays of the memories from `start` to before `end`. Only the arrays are kept while the previous statement runs:
 * the many small strings that they are built from would be promoted to the old generation of the heap, and fill it
 * until a full garbage collection.
 */
async function nextBatch (
  ordered: readonly IndexedMemory[], start: number, options: InsertionOptions,
): Promise<{ arrays: string[], end: number }> {
  const batch = new InsertionBatch()
  let end = start
  while (end < ordered.length && (options.counted || !batch.isFull)) {
    if (isDue()) await giveWay()
    batch.add(ordered[end]!.memory)
    end += 1
  }
  return { arrays: batch.arrays, end }
}

async function send (
  queries: Queries, arrays: readonly string[], { statements, counted, bank, shard, space }: InsertionOptions,
): Promise<InsertedRow[]> {
  const ofSpace = [space?.model ?? null, space?.dimensions ?? null]
  const values = [...bankParameters(bank), ...arrays, ...ofSpace, ...(counted ? [shard] : [])]
  return await queries.query<InsertedRow>(counted ? statements.insert : statements.insertUncounted, values)
}

/** Adds in place. */
export function addCounts (counts: Counts, more: Counts): void {
  for (const name of Object.keys(NO_COUNTS) as Array<keyof Counts>) counts[name] += more[name]
}

function count (insertion: Insertion, row: InsertedRow, memory: NewMemory): void {
  addCounts(insertion.counts, {
    memories: 1,
    embedded: row.embedded === true ? 1 : 0,
    expiring: row.expiring === true ? 1 : 0,
    passages: row.passages ?? 0,
    length: row.passages_length ?? 0,
  })
  if (row.embedded !== true && hasVectors(memory)) insertion.unembedded += 1
}
