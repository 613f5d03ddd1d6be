import type { BankKey } from '../../access/context.js'
import { isAtLeast, readTrust } from '../../access/trust.js'
import { giveWay, isDue } from '../../base/event-loop.js'
import { compareText } from '../../text/normal-form.js'
import { TokenCount } from '../../text/tokens.js'
import { endsAsQuestion } from '../context.js'
import { type FieldKind, type FieldName, FIELDS } from '../memory-fields.js'
import type { EmbeddingSpace, InsertOutcome, Memory, NewMemory, Part } from '../vector-store.js'
import type { Distribution } from './distribution.js'
import { arrayElement, arrayOf, type Param, type Queries, serializationFailure } from './executor.js'
import {
  countInto, indexTerm, indexTerms, type Statement, suffixOf, termsOf, termsText, unitVectorText,
} from './fragments.js'
import { bankParameters } from './rows.js'

/**
 * Maximum size of one statement: a thousand postings are cheap, a hundred thousand delay all other work, in this
 * process and in the database.
 */
export const MAX_BATCH_MEMORIES = 500
const MAX_BATCH_POSTINGS = 20_000
const MAX_BATCH_CHARACTERS = 1024 * 1024

interface InsertedColumn<M = NewMemory> {
  readonly column: string
  /** The types to which the array of its values, an array of texts, is cast. */
  readonly type: string
  /** Its value as an expression on `g`, with `:space` for the bank's space; default the array's element. */
  readonly expression?: string
  readonly valueOf: (memory: M) => string | null
}

const TYPES: Partial<Record<FieldKind, string>> = {
  id: '::uuid[]', instant: '::bigint[]', tokens: '::int[]', count: '::int[]',
}

function write (value: Memory[FieldName], kind: FieldKind): string | null {
  if (value === null || typeof value === 'string') return value
  if (value instanceof TokenCount) return String(value.value)
  if (kind === 'ids') return `{${String(value)}}`
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** The columns of a memory's fields. */
export const FIELD_COLUMNS: ReadonlyArray<InsertedColumn<Memory & { readonly fingerprint: string }>> = [
  ...FIELDS.map(({ name, column, kind }) => ({
    column,
    type: TYPES[kind] ?? '',
    valueOf: (memory: Memory) => write(memory[name], kind),
    ...(kind === 'texts' && { expression: `array(select jsonb_array_elements_text(g.${column}::jsonb))` }),
    ...(kind === 'ids' && { expression: `g.${column}::uuid[]` }),
    ...((kind === 'object' || kind === 'message') && { expression: `g.${column}::jsonb` }),
  })),
  { column: 'fingerprint', type: '', valueOf: ({ fingerprint }) => fingerprint },
]

/** The columns of what search needs of a memory. */
export const SEARCH_COLUMNS: readonly InsertedColumn[] = [
  {
    column: 'passage_starts',
    type: '',
    expression: 'g.passage_starts::int[]',
    valueOf: ({ passages }) => `{${passages.map(({ start }) => start).join(',')}}`,
  },
  {
    column: 'passage_ends',
    type: '',
    expression: 'g.passage_ends::int[]',
    valueOf: ({ passages }) => `{${passages.map(({ end }) => end).join(',')}}`,
  },
  {
    column: 'terms',
    type: '',
    expression: termsOf('g.terms'),
    valueOf: ({ passages }) => (
      termsText(new Set(passages.flatMap(({ terms }) => [...terms.keys()].map(indexTerm))))
    ),
  },
  {
    column: 'passages_length',
    type: '::float8[]',
    valueOf: ({ passages }) => String(passages.reduce((sum, { length }) => sum + length, 0)),
  },
  {
    column: 'embedded',
    type: '::boolean[]',
    expression: 'g.embedded and exists (select 1 from :space)',
    valueOf: (memory) => String(hasVectors(memory)),
  },
  { column: 'question', type: '::boolean[]', valueOf: ({ passages }) => String(endsAsQuestion(passages)) },
]
const COLUMNS: readonly InsertedColumn[] = [...FIELD_COLUMNS, ...SEARCH_COLUMNS]
/** The arrays of an insert: one for each column of the memories, five of the passages, three of the vectors. */
const PASSAGES = COLUMNS.length
const VECTORS = PASSAGES + 5
const ARRAYS = VECTORS + 3

/** Placeholders after the arrays. */
const [MODEL, DIMENSIONS] = [`$${ARRAYS + 2}::text`, `$${ARRAYS + 3}::int`]
const LAST = `$${ARRAYS + 4}`

/** What an insertion reads: the input, the bank's space, and in its later parts the memories that were added. */
interface Sources {
  /** A table with the bank's key in one row, to select from beside the input; '' for none. */
  driver: string
  /** Rows when the bank has the space of the vectors. */
  space: string
  /** The end of a join of `row`, which has a `memory_id`, with the memories `a` that were added. */
  added: (row: string) => string
}

/**
 * The parts of an insertion: memories, postings, vectors. $1 is the bank, then come the arrays, the model and its
 * dimensions. The unique key excludes exact repeats. Rows are inserted by fingerprint, so that two batches lock shared
 * fingerprints in the same order; the statistics come last, so that no transaction waits for a memory while it holds
 * their lock. The lock on the embedding space keeps the bank from being given to another model before the vectors are
 * committed; a move by reembed does not wait for it.
 */
function insertionParts (schema: string, part: Part, { driver, space, added }: Sources) {
  const suffix = suffixOf(part)
  const array = (index: number) => `$${index + 2}::text[]`
  const columns = COLUMNS.map(({ column }) => column).join(', ')
  return {
    space: `select 1 from ${schema}.embedding_spaces v where v.bank_key = $1 and v.model = ${MODEL}
    and v.dimensions = ${DIMENSIONS} for key share`,
    memories: `insert into ${schema}.memories${suffix} as m (bank_key, ${columns})
  select ${driver === '' ? '$1' : 'l.bank_key'}, ${
    COLUMNS.map(({ column, expression }) => expression?.replace(':space', space) ?? `g.${column}`).join(', ')
  }
  from ${driver === '' ? '' : `${driver} l cross join `}unnest(${
    COLUMNS.map(({ type }, index) => `${array(index)}${type}`).join(', ')
  }) with ordinality as g(${columns}, position)${driver === '' ? '' : '\n  where l.bank_key = $1'}
  order by g.fingerprint, g.position
  ${part === 'current' ? 'on conflict (bank_key, fingerprint) do nothing' : ''}
  returning m.bank_key, m.memory_id, m.expires_at, m.embedded, cardinality(m.passage_starts) as passages,
    m.passages_length, (m.expires_at is not null) as expiring`,
    postings: `insert into ${schema}.postings${suffix} (bank_key, term, memory_id, ordinal, weight, length, expires_at)
  select a.bank_key, t.term, p.memory_id, p.ordinal, t.weight, p.length, a.expires_at
  from unnest(${array(PASSAGES)}::uuid[], ${array(PASSAGES + 1)}::smallint[], ${array(PASSAGES + 2)}::real[],
    ${array(PASSAGES + 3)}, ${array(PASSAGES + 4)}) as p(memory_id, ordinal, length, terms, weights)
  join ${added('p')}
  cross join lateral unnest(${termsOf('p.terms')}, p.weights::real[]) as t(term, weight)`,
    embeddings: `insert into ${schema}.embeddings${suffix} (bank_key, memory_id, ordinal, model, dimensions, expires_at,
    embedding)
  select a.bank_key, e.memory_id, e.ordinal, ${MODEL}, ${DIMENSIONS}, a.expires_at, e.embedding::halfvec
  from unnest(${array(VECTORS)}::uuid[], ${array(VECTORS + 1)}::smallint[], ${array(VECTORS + 2)})
    as e(memory_id, ordinal, embedding)
  join ${added('e')} and a.embedded`,
  }
}

/** All parts as one statement, all or none; with `counted` it also updates the shard of the statistics. */
function insertStatement (schema: string, part: Part, counted: boolean): string {
  const { space, memories, postings, embeddings } = insertionParts(schema, part, {
    driver: '', space: 'space', added: (row) => `added a on a.memory_id = ${row}.memory_id`,
  })
  const amounts = `select $1, ${LAST}::smallint, count(*), count(*) filter (where a.embedded),
    count(*) filter (where a.expiring), coalesce(sum(a.passages), 0), coalesce(sum(a.passages_length), 0)
  from added a having count(*) > 0`
  return `with space as (
  ${space}
),
added as (
  ${memories}
),
added_postings as (
  ${postings}
),
added_embeddings as (
  ${embeddings}
)${counted ? `,\ncounted as (\n  ${countInto(schema, amounts)}\n)` : ''}
select a.memory_id::text as memory_id, a.embedded, a.passages, a.expiring, a.passages_length from added a`
}

/**
 * The parts one after the other in a transaction. Each selects from a table of the bank, so that Citus sends it to the
 * bank's node as it is.
 */
async function insertInOrder (
  tx: Queries, values: readonly Param[], { schema, part, space }: InsertionOptions,
): Promise<InsertedRow[]> {
  const parts = insertionParts(schema, part, {
    driver: `${schema}.bank_locks`,
    space: `${schema}.embedding_spaces v where v.bank_key = $1 and v.model = ${MODEL} and v.dimensions = ${DIMENSIONS}`,
    added: (row) => `${schema}.memories${suffixOf(part)} a on a.bank_key = $1 and a.memory_id = ${row}.memory_id
    and a.memory_id = any(${LAST}::text[]::uuid[])`,
  })
  const run = async <R extends object>(part: string, more: Param[] = []) => {
    const statement = withUsed(part, [...values, ...more])
    return await tx.query<R>(statement.text, statement.values)
  }
  // They run in this order, and each is sent without waiting for the one before it.
  const [, , rows] = await Promise.all([
    run(`insert into ${schema}.bank_locks (bank_key) values ($1) on conflict (bank_key) do nothing`),
    space === undefined ? undefined : run(parts.space),
    run<InsertedRow>(parts.memories),
  ])
  if (rows.length === 0) return rows
  const ids = rows.map(({ memory_id: id }) => id)
  await Promise.all([
    run(parts.postings, [ids]),
    rows.some(({ embedded }) => embedded) ? run(parts.embeddings, [ids]) : undefined,
  ])
  return rows
}

/** A statement with those of the values that its text uses: the database accepts no others. */
function withUsed (text: string, values: readonly Param[]): Statement {
  const used = [...new Set(Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)))].sort((a, b) => a - b)
  return {
    text: text.replaceAll(/\$(\d+)/g, (_, number) => `$${used.indexOf(Number(number)) + 1}`),
    values: used.map((number) => values[number - 1]!),
  }
}

/** Whether the memories fit into one statement. */
export function isOneBatch (memories: readonly NewMemory[]): boolean {
  if (memories.length > MAX_BATCH_MEMORIES) return false
  let [postings, characters] = [0, 0]
  for (const { text, passages } of memories) {
    characters += text.length
    for (const { terms } of passages) postings += terms.size
  }
  return postings <= MAX_BATCH_POSTINGS && characters <= MAX_BATCH_CHARACTERS
}

/**
 * The arrays of an insert, built memory by memory. They are texts, which drivers and threads pass on without
 * conversion.
 */
class InsertionBatch {
  readonly #columns = Array.from({ length: ARRAYS }, (): string[] => [])
  #memories = 0
  #postings = 0
  #characters = 0

  get isFull (): boolean {
    return this.#memories >= MAX_BATCH_MEMORIES || this.#postings >= MAX_BATCH_POSTINGS ||
      this.#characters >= MAX_BATCH_CHARACTERS
  }

  get arrays (): string[] {
    return this.#columns.map(arrayOf)
  }

  add (memory: NewMemory): void {
    const { memoryId, text, passages } = memory
    this.#addRow(0, COLUMNS.map(({ valueOf }) => valueOf(memory)))
    this.#memories += 1
    this.#characters += text.length
    for (const [ordinal, passage] of passages.entries()) {
      const terms = indexTerms(passage)
      this.#addRow(PASSAGES, [
        memoryId, String(ordinal), String(passage.length), termsText(terms.keys()),
        `{${[...terms.values()].join(',')}}`,
      ])
      this.#postings += terms.size
      if (passage.vector !== undefined) this.#addVector(memoryId, ordinal, unitVectorText(passage.vector))
    }
  }

  #addVector (memoryId: string, ordinal: number, vector: string): void {
    this.#addRow(VECTORS, [memoryId, String(ordinal), vector])
    this.#characters += vector.length
  }

  #addRow (first: number, values: ReadonlyArray<string | null>): void {
    for (const [index, value] of values.entries()) this.#columns[first + index]!.push(arrayElement(value))
  }
}

export function hasVectors ({ passages }: NewMemory): boolean {
  return passages.some(({ vector }) => vector !== undefined)
}

/** Changes of a bank's statistics by a write; negative for what it removes. */
export interface Counts {
  memories: number
  embedded: number
  expiring: number
  passages: number
  length: number
}

export const NO_COUNTS: Readonly<Counts> = { memories: 0, embedded: 0, expiring: 0, passages: 0, length: 0 }

/** A memory that was stored. */
interface InsertedRow {
  memory_id: string
  embedded: boolean
  passages: number
  expiring: boolean
  passages_length: number
}

export interface ExistingRow {
  memory_id: string
  fingerprint: string
  passages: number
  expires_at: number | null
  trust: string
  version: number
  key: string | null
}

const EXISTING = `m.memory_id::text as memory_id, m.fingerprint, cardinality(m.passage_starts) as passages,
    m.expires_at::float8 as expires_at, m.trust, m.version, m.key`

/** $1 bank, $2 ids, $3 fingerprints: the current memories that have one of them, as ExistingRows. */
export function findExisting (schema: string): string {
  return `select ${EXISTING}
from ${schema}.memories m
where m.bank_key = $1
  and (m.memory_id = any($2::text[]::uuid[]) or m.fingerprint = any($3::text[]))`
}

/** $1 bank, $2 keys: the current memories that have one of them, as ExistingRows, locked. */
export function lockKeyed (schema: string): string {
  return `select ${EXISTING} from ${schema}.memories m where m.bank_key = $1 and m.key = any($2::text[])
order by m.memory_id for update`
}

/** $1 bank, $2 ids: the last versions of superseded and retired memories, as ExistingRows, locked. */
export function lockPast (schema: string): string {
  return `select ${EXISTING} from ${schema}.memories_past m
where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[]) and m.version_of is null
order by m.memory_id for update`
}

/** The same, and locks the rows. */
export function lockExisting (schema: string): string {
  return `${findExisting(schema)}
order by m.memory_id for update`
}

export interface Insertion {
  outcomes: InsertOutcome[]
  /** The statistics of the stored memories. */
  counts: Counts
  /** Memories that came with vectors but were stored without, because their bank has another model. */
  unembedded: number
}

interface InsertionOptions {
  /** Quoted. */
  schema: string
  distribution: Distribution
  bank: BankKey
  now: number
  space: EmbeddingSpace | undefined
  shard: number
  /** Where the memories are stored; in the past no memory is a repeat of another. */
  part: Part
  /** Memories that were removed because one of these has higher trust, by fingerprint. */
  replaced?: ReadonlyMap<string, ExistingRow>
  /**
   * Whether the statement itself updates the statistics, which then must be the only one. Otherwise the caller does,
   * and always with Citus.
   */
  counted: boolean
}

/** What the insertions of one write have in common. */
export type InsertionContext = Omit<InsertionOptions, 'counted' | 'part'>

/**
 * Stores the memories that are new, and finds the existing memory that each of the others repeats. Rows are inserted in
 * the order of their fingerprints, so that two batches cannot deadlock.
 * @throws SqlError 40001 when a repeated memory was removed meanwhile, or has lower trust and has to be replaced: the
 * caller retries in a transaction that removes that memory first
 */
export async function insertMemories (
  queries: Queries, memories: readonly NewMemory[], options: InsertionOptions,
): Promise<Insertion> {
  const { schema, bank, now } = options
  const outcomes = new Array<InsertOutcome>(memories.length)
  const insertion: Insertion = { outcomes, counts: { ...NO_COUNTS }, unembedded: 0 }
  const key = bankParameters(bank)
  const indexed = memories.map((memory, index) => ({ memory, index }))
  const ordered = indexed.sort(insertionOrder(options))
  const repeats: typeof ordered = []
  const note = (rows: readonly InsertedRow[], batch: typeof ordered) => {
    const stored = new Map(rows.map((row) => [row.memory_id, row]))
    for (const { memory, index } of batch) {
      const row = stored.get(memory.memoryId)
      if (row !== undefined) {
        outcomes[index] = { stored: true, memoryId: memory.memoryId }
        count(insertion, row, memory)
      } else repeats.push({ memory, index })
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
      findExisting(schema), [...key, [], fingerprints.slice(start, start + MAX_BATCH_MEMORIES)],
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

export function hasExpired ({ expires_at: expiresAt }: Pick<ExistingRow, 'expires_at'>, now: number): boolean {
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
  queries: Queries, arrays: readonly string[], options: InsertionOptions,
): Promise<InsertedRow[]> {
  const { schema, part, counted, bank, shard, space, distribution } = options
  const values = [...bankParameters(bank), ...arrays, space?.model ?? null, space?.dimensions ?? null]
  if (distribution === 'citus') return await insertInOrder(queries, values, options)
  return await queries.query<InsertedRow>(insertStatement(schema, part, counted), counted ? [...values, shard] : values)
}

/** Adds in place. */
export function addCounts (counts: Counts, more: Counts): void {
  for (const name of Object.keys(NO_COUNTS) as Array<keyof Counts>) counts[name] += more[name]
}

function count (insertion: Insertion, row: InsertedRow, memory: NewMemory): void {
  addCounts(insertion.counts, {
    memories: 1,
    embedded: row.embedded ? 1 : 0,
    expiring: row.expiring ? 1 : 0,
    passages: row.passages,
    length: row.passages_length,
  })
  if (!row.embedded && hasVectors(memory)) insertion.unembedded += 1
}
