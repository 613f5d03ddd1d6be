import type { BankKey } from '../../identity/context.js'
import { isAtLeast, readTrust } from '../../trust.js'
import type { TermWeights } from '../context.js'
import type { EmbeddingSpace, InsertOutcome, NewMemory } from '../vector-store.js'
import { SqlError, type Param, type Queries } from './executor.js'
import { memberText, ownTerms, toMember } from './members.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'
import { indexTerm } from './terms.js'
import { unitVectorText } from './vectors.js'

/** Memories that one statement takes at most: a thousand postings weigh little, a hundred thousand hold up everybody else. */
export const CHUNK = 500
/** What a write adds to a bank's statistics; less than 0 for what it removes. */
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

export interface StandingRow {
  memory_id: string
  fingerprint: string
  passages: number
  expires_at: number | null
  /** Of a memory that takes part in its context, else null. */
  document_id: string | null
  trust: string
}

export interface Insertion {
  outcomes: InsertOutcome[]
  /** Of what was stored. */
  counts: Counts
  /** Memories that came with vectors and were stored without: their bank is of another model. */
  unembedded: number
}

export interface InsertionOptions {
  statements: Statements
  bank: BankKey
  now: number
  space: EmbeddingSpace | undefined
  shard: number
  /** Whether the statement itself counts; otherwise the caller has to. */
  counted: boolean
  /** The index terms of each memory that takes part in a document's context, which planContext() knows; others have their own. */
  termsOf?: (memoryId: string) => ReadonlyMap<string, TermWeights> | undefined
}

/**
 * Stores what is new, and finds out what each repeat repeats. Rows are taken in the order of their fingerprints, so that two batches never
 * wait for each other.
 * @throws SqlError 40001 when a twin went away between two looks, or one of lower trust is in the way: nothing is wrong, and the work is to
 *   be done anew, in a transaction
 */
export async function insertMemories (queries: Queries, memories: readonly NewMemory[], options: InsertionOptions): Promise<Insertion> {
  const { statements, bank, now } = options
  const outcomes = new Array<InsertOutcome>(memories.length)
  const insertion: Insertion = { outcomes, counts: { ...NO_COUNTS }, unembedded: 0 }
  const key = bankParameters(bank)
  const ordered = memories.map((memory, index) => ({ memory, index }))
    .sort((a, b) => a.memory.fingerprint < b.memory.fingerprint ? -1 : a.memory.fingerprint > b.memory.fingerprint ? 1 : a.index - b.index)
  const repeats: typeof ordered = []
  for (let start = 0; start < ordered.length; start += CHUNK) {
    const chunk = ordered.slice(start, start + CHUNK)
    const rows = await insertChunk(queries, chunk.map(({ memory }) => memory), options)
    rows.forEach((row, at) => {
      const { memory, index } = chunk[at]!
      if (row.stored) {
        outcomes[index] = { stored: true, memoryId: memory.memoryId }
        note(insertion, row, memory)
      } else repeats.push(chunk[at]!)
    })
  }
  if (repeats.length === 0) return insertion
  const fingerprints = [...new Set(repeats.map(({ memory }) => memory.fingerprint))]
  const standing = new Map((await queries.query<StandingRow>(statements.standing, [...key, [], fingerprints])).map((row) => [row.fingerprint, row]))
  const given = new Set(memories.map(({ memoryId }) => memoryId))
  for (const { memory, index } of repeats) {
    const row = standing.get(memory.fingerprint)
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) {
      throw new SqlError('statement', 'A memory that was in the way has gone meanwhile', { code: '40001' })
    }
    if (outranks(memory, row) && !given.has(row.memory_id)) throw new SqlError('statement', 'A memory of lower trust is in the way', { code: '40001' })
    outcomes[index] = { stored: false, memoryId: row.memory_id, passageCount: row.passages, trust: readTrust(row.trust) }
  }
  return insertion
}

/** Whether a repeat takes the place of what stands. */
export function outranks (memory: NewMemory, standing: StandingRow): boolean {
  return !isAtLeast(readTrust(standing.trust), memory.trust)
}

async function insertChunk (queries: Queries, memories: readonly NewMemory[], { statements, counted, bank, shard, space, termsOf }: InsertionOptions): Promise<InsertedRow[]> {
  const values = [...bankParameters(bank), ...insertArrays(memories, termsOf), space?.model ?? null, space?.dimensions ?? null, ...(counted ? [shard] : [])]
  return await queries.query<InsertedRow>(counted ? statements.insert : statements.insertUncounted, values)
}

/** Adds in place. */
export function addCounts (counts: Counts, more: Counts): void {
  for (const name of Object.keys(NO_COUNTS) as Array<keyof Counts>) counts[name] += more[name]
}

function note (insertion: Insertion, row: InsertedRow, memory: NewMemory): void {
  addCounts(insertion.counts, {
    memories: 1,
    embedded: row.embedded === true ? 1 : 0,
    expiring: row.expiring === true ? 1 : 0,
    passages: row.passages ?? 0,
    length: row.passages_length ?? 0,
  })
  if (row.embedded !== true && hasVectors(memory)) insertion.unembedded += 1
}

export function hasVectors ({ passages }: NewMemory): boolean {
  return passages.some(({ vector }) => vector !== undefined)
}

const optional = (value: number | null): string | null => value === null ? null : String(value)

/** The arrays $3 to $30 of the insert: a row of each of the first nineteen is a memory, of the next six a posting, of the last three a vector. */
function insertArrays (memories: readonly NewMemory[], termsOf: InsertionOptions['termsOf'] = () => undefined): Param[] {
  const postings = { ids: [] as string[], ordinals: [] as string[], terms: [] as string[], weights: [] as string[], owns: [] as string[], lengths: [] as string[] }
  const vectors = { ids: [] as string[], ordinals: [] as string[], texts: [] as string[] }
  const members = memories.map(toMember)
  for (const { memoryId, passages } of memories) {
    const known = termsOf(memoryId)
    for (const [ordinal, passage] of passages.entries()) {
      const index = (term: string, weight: number, own: number) => {
        postings.ids.push(memoryId)
        postings.ordinals.push(String(ordinal))
        postings.terms.push(term)
        postings.weights.push(String(weight))
        postings.owns.push(String(own))
        postings.lengths.push(String(passage.length))
      }
      if (known === undefined) for (const [term, weight] of ownTerms(passage)) index(term, weight, weight)
      else for (const [term, weights] of known) index(term, weights.context, weights.own)
      if (passage.vector === undefined) continue
      vectors.ids.push(memoryId)
      vectors.ordinals.push(String(ordinal))
      vectors.texts.push(unitVectorText(passage.vector))
    }
  }
  return [
    memories.map(({ memoryId }) => memoryId),
    memories.map(({ fingerprint }) => fingerprint),
    memories.map(({ text }) => text),
    memories.map(({ tags }) => JSON.stringify(tags)),
    memories.map(({ metadata }) => JSON.stringify(metadata)),
    memories.map(({ occurredAt }) => optional(occurredAt)),
    memories.map(({ retainedAt }) => String(retainedAt)),
    memories.map(({ expiresAt }) => optional(expiresAt)),
    memories.map(({ documentId }) => documentId),
    memories.map(({ source }) => source),
    memories.map(({ tokens }) => String(tokens.value)),
    memories.map(({ passages }) => `{${passages.map(({ start }) => start).join(',')}}`),
    memories.map(({ passages }) => `{${passages.map(({ end }) => end).join(',')}}`),
    memories.map(({ passages }) => JSON.stringify([...new Set(passages.flatMap(({ terms }) => [...terms.keys()].map(indexTerm)))])),
    memories.map(({ passages }) => String(passages.reduce((sum, { length }) => sum + length, 0))),
    memories.map((memory) => String(hasVectors(memory))),
    members.map((member) => member === undefined ? null : String(member.question)),
    members.map((member) => member === undefined ? null : memberText(member.terms)),
    memories.map(({ trust }) => trust),
    postings.ids, postings.ordinals, postings.terms, postings.weights, postings.owns, postings.lengths,
    vectors.ids, vectors.ordinals, vectors.texts,
  ]
}
