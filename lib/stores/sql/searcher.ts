import { type BankKey, bankKeyString } from '../../access/context.js'
import { mapGivingWay } from '../../base/event-loop.js'
import { forEachConcurrently } from '../../base/for-each-concurrently.js'
import type { Mutable } from '../../base/members.js'
import {
  byScore, MAX_PASSAGES, type Candidate, type CandidateScores, type EmbeddingSpace, type Part, partsOf,
  type SearchRequest, type SearchResult,
} from '../vector-store.js'
import { arrayElements, arrayNumbers, type Executor } from './executor.js'
import { filteredRead, liveAt, Parameters, type Statement, suffixOf, unitVectorText } from './fragments.js'
import {
  filteredMemories, GRID, LEXICAL_COLUMNS, lexicalRows, lexicalTables, matchingMemories, ofBank, scoreRow,
  type LexicalRow, type Shape,
} from './lexical-strategy.js'
import { bankParameters, readColumns, toMemory, type MemoryRow } from './rows.js'
import type { VectorIndexes } from './vectors.js'

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
    const parts = partsOf(request.filters)
    const searched = request.banks.flatMap((bank) => parts.map((part) => ({ bank, part })))
    // In the order of the request, so that equal hits of several banks have the same order every time.
    const found = new Array<Found>(searched.length)
    await forEachConcurrently(searched.entries(), MAX_CONCURRENT_BANKS, async ([index, { bank, part }]) => {
      found[index] = await this.#searchPart(bank, part, request)
    })
    const merge = (strategy: 'lexical' | 'semantic') => (
      best(found.flatMap(({ [strategy]: candidates }) => candidates), request.limit, parts.length > 1)
    )
    const result: Mutable<SearchResult> = { total: found.reduce((sum, { total }) => sum + total, 0) }
    if (request.lexical !== undefined) result.lexical = merge('lexical')
    if (request.semantic !== undefined) result.semantic = merge('semantic')
    return result
  }

  async #searchPart (bank: BankKey, part: Part, request: SearchRequest): Promise<Found> {
    const nearest = part === 'current' ? await this.#nearest(bank, request) : undefined
    let row = await this.#retrieve(bank, part, request, nearest)
    // An index scan ends after a bounded number of neighbours, even if filters exclude them or they are passages of the
    // same memories.
    if (row !== undefined && nearest !== undefined && nearest.found < Math.min(request.limit, row.total)) {
      row = await this.#retrieve(bank, part, request, undefined)
    }
    if (row === undefined) return { lexical: [], semantic: [], total: 0 }
    const words = hasWords(request)
      ? scoreRow(row, request.lexical!, request.limit, request.semantic !== undefined)
      : undefined
    const cosines = cosinesOf(row)
    const byWords = words?.best ?? []
    const memories = await this.#read(
      bank, part, new Map([...byWords.map(({ memoryId }) => [memoryId, undefined] as const), ...cosines]), request,
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
    bank: BankKey, part: Part, request: SearchRequest, nearest: Nearest | undefined,
  ): Promise<SearchRow | undefined> {
    const statement = searchStatement(bank, request, { schema: this.#schema, part, space: this.#space, nearest })
    if (statement === undefined) return undefined
    return (await this.#executor.read<SearchRow>(statement.text, statement.values, { keepPlan: true }))[0]
  }

  /** By id. A memory that was removed since the retrieval is missing. */
  async #read (
    bank: BankKey, part: Part, found: ReadonlyMap<string, number | undefined>, request: SearchRequest,
  ): Promise<Map<string, FoundMemory>> {
    const memories = new Map<string, FoundMemory>()
    const wanted = [...found]
    for (let from = 0; from < wanted.length; from += MEMORIES_PER_STATEMENT) {
      const { text, values } = foundStatement(
        bank, new Map(wanted.slice(from, from + MEMORIES_PER_STATEMENT)), request,
        { schema: this.#schema, part, space: this.#space },
      )
      const rows = await this.#executor.read<FoundRow>(text, values, { keepPlan: true })
      for (const memory of await mapGivingWay(rows, (row) => ({ row, memory: toMemory(row) }))) {
        memories.set(memory.row.row_id, memory)
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

/**
 * The best of all banks: descending, ties by memory id, then in the order of the banks.
 * @param ofParts whether several parts of a bank were read: a memory that moved meanwhile is in both, and its later
 *   version is found
 */
function best (candidates: Candidate[], limit: number, ofParts: boolean): Candidate[] {
  if (!ofParts) return candidates.sort(byScore).slice(0, limit)
  const found = new Map<string, Candidate>()
  for (const candidate of candidates) {
    const key = `${candidate.memory.memoryId} ${bankKeyString(candidate.bank)}`
    const other = found.get(key)
    if (other === undefined || other.memory.version < candidate.memory.version) found.set(key, candidate)
  }
  return [...found.values()].sort(byScore).slice(0, limit)
}

interface SearchOptions {
  /** The quoted schema. */
  schema: string
  part: Part
  /** Required when the request has the semantic strategy. */
  space?: EmbeddingSpace | undefined
  /** The result of the bank's approximate index: without it the semantic strategy is exact. */
  nearest?: Nearest | undefined
}

/** The row of a search statement. Arrays are text in PostgreSQL's syntax. */
interface SearchRow extends LexicalRow {
  /**
   * Of the memories that pass the filters: those that match by their own words and, with the semantic strategy, those
   * with a vector.
   */
  total: number
  /** The best by meaning, in no particular order, and their scores. */
  semantic_ids: string | null
  semantic_scores: string | null
  /** Members of the windows without a vector of the bank's model; null when all have one. */
  unembedded_ids: string | null
}

/** Whether the request has the lexical strategy with at least one term. */
function hasWords ({ lexical }: SearchRequest): boolean {
  return lexical !== undefined && lexical.terms.length > 0
}

/**
 * The search of one bank as one statement of one row, with both strategies and all filters: ids, and what their scores
 * depend on. A vector index is queried before, and `foundStatement` reads the memories that are returned.
 * @returns undefined when no memory can be found
 */
export function searchStatement (
  bank: BankKey, request: SearchRequest, { schema, part, space, nearest }: SearchOptions,
): Statement | undefined {
  const { semantic, limit, now } = request
  const lexical = hasWords(request) ? request.lexical : undefined
  if (lexical === undefined && semantic === undefined) return undefined
  const read = filteredRead(schema, bank, request.filters, now)
  if (read === undefined) return undefined
  const { parameters, instant } = read
  const filters = read.conditionsOf(part)
  const past = suffixOf(part)
  const isOfPast = partsOf(request.filters).includes('past')
  const shape: Shape = {
    schema,
    past,
    besides: isOfPast ? suffixOf(part === 'past' ? 'current' : 'past') : undefined,
    parameters,
    filters,
    ofDocuments: request.filters.documentIds?.includes(null) === false,
    limit,
    now: instant,
    unexpired: (alias) => liveAt(alias, instant),
  }
  const tables: string[] = []
  const rows: string[] = []
  const columns: string[] = []
  if (semantic !== undefined) {
    if (space === undefined) throw new Error('A semantic search needs an embedding space')
    // It comes first: the lexical strategy also retrieves the terms of the memories that it found.
    tables.push(spaceCte(shape, space), semanticTables(shape, semantic.vector, space, nearest))
    rows.push(`(select array_agg(s.memory_id)::text as semantic_ids, array_agg(s.score)::text as semantic_scores
    from semantic s) semantic_row`)
    columns.push('semantic_row.*')
  }
  if (lexical !== undefined) {
    tables.push(lexicalTables(shape, lexical, semantic !== undefined))
    rows.push(lexicalRows(shape))
    columns.push(LEXICAL_COLUMNS)
    if (semantic !== undefined && lexical.context) {
      columns.push(`(select array_agg(n.memory_id)::text from members n
    where not (select is_configured_space from space) or (n.memory_id in (
      select m.memory_id from ${schema}.memories${past} m where ${ofBank('m')} and not m.embedded
    )) is true) as unembedded_ids`)
    }
  }
  columns.push(`(${totalOf(shape, lexical !== undefined, semantic !== undefined)})::int as total`)
  const text = `with ${tables.join(',\n')}\nselect ${columns.join(',\n  ')}\nfrom ${rows.join('\ncross join ')}`
  return { text, values: parameters.values }
}

/** Memories that a strategy finds by itself, regardless of the limit. */
function totalOf (shape: Shape, hasLexical: boolean, hasSemantic: boolean): string {
  const { schema, past, filters, unexpired, now } = shape
  const matching = hasLexical ? matchingMemories(shape) : undefined
  if (!hasSemantic) return `select count(*) from (${matching}) f`
  const embedded = '(select is_configured_space from space)'
  if (filters !== '') {
    const byWords = matching === undefined ? '' : `or m.memory_id in (${matching})`
    return `select count(*) from ${schema}.memories${past} m
    where ${ofBank('m')} and ${unexpired('m')}${filters} and ((m.embedded and ${embedded}) ${byWords})`
  }
  // The bank's statistics have the number of its embedded memories. Partial indexes list those that have expired, and
  // the memories without vectors, some of which match by words; the condition makes PostgreSQL use a hashed subplan.
  const expired = `select count(*) from ${schema}.memories${past} m
    where ${ofBank('m')} and m.expires_at <= ${now} and m.embedded`
  const others = matching === undefined
    ? ''
    : ` + case when sum(s.embedded) < sum(s.memories) then (select count(*) from ${schema}.memories${past} m
      where ${ofBank('m')} and not m.embedded and (m.memory_id in (${matching})) is true) else 0 end`
  return `select case when ${embedded}
    then sum(s.embedded) - case when sum(s.expiring) > 0 then (${expired}) else 0 end${others}
    else ${matching === undefined ? '0' : `(select count(*) from (${matching}) f)`} end
    from ${schema}.bank_statistics s where ${ofBank('s')}`
}

/** A memory that a search returns. */
interface FoundRow extends MemoryRow {
  /** That of the row, by which it was found. */
  row_id: string
  passage_starts: number[]
  passage_ends: number[]
  /** Its cosine; null without the semantic strategy, and for a memory without vectors of the bank's model. */
  cosine: number | null
  /**
   * For memories of several passages that the semantic strategy found: ordinals of the best, followed by as many
   * scores. Null otherwise.
   */
  semantic_passages: number[] | null
}

/** @param found ids of memories, with their cosines where the search statement returned them */
function foundStatement (
  bank: BankKey, found: ReadonlyMap<string, number | undefined>, { semantic }: SearchRequest,
  { schema, part, space }: Pick<SearchOptions, 'schema' | 'part' | 'space'>,
): Statement {
  const past = suffixOf(part)
  const parameters = new Parameters()
  for (const value of bankParameters(bank)) parameters.bind(value)
  const known = [...found.values()].map((score) => score === undefined ? null : String(score))
  const given = `unnest(${parameters.bind([...found.keys()])}::text[]::uuid[],
  ${parameters.bind(known)}::text[]::float8[]) as g(memory_id, score)`
  let columns = 'null::float8 as cosine, null::float8[] as semantic_passages'
  let tables = ''
  if (semantic !== undefined && space !== undefined) {
    const cosines = passageCosines({ schema, past, parameters }, semantic.vector, space)
    tables = `with ${spaceCte({ schema, parameters }, space)}\n`
    columns = `coalesce(g.score, case when (select is_configured_space from space)
    then (select max(s.score) from (${cosines}) s) end) as cosine,
  case when g.score is not null and cardinality(m.passage_starts) > 1
    then (${bestPassages(cosines)}) end as semantic_passages`
  }
  const text = `${tables}select ${readColumns(part)}, m.memory_id::text as row_id, m.passage_starts, m.passage_ends,
  ${columns}
from ${given} cross join lateral (
  select m.* from ${schema}.memories${past} m where ${ofBank('m')} and m.memory_id = g.memory_id offset 0
) m`
  return { text, values: parameters.values }
}

/**
 * The ordinals of the best passages of a memory, followed by as many scores.
 * @param passages a query of `ordinal` and `score`
 */
function bestPassages (passages: string): string {
  const order = 'order by s.score desc, s.ordinal'
  return `select (array_agg(s.ordinal::float8 ${order}))[1:${MAX_PASSAGES}] ||
    (array_agg(s.score ${order}))[1:${MAX_PASSAGES}] from (${passages}) s`
}

/**
 * hnsw.ef_search, the number of neighbours that the index scan examines: a multiple of those wanted, and a minimum
 * (pgvector accepts up to 1000).
 */
const EF_FACTOR = 1.5
/** The same relative to the passages of the memories wanted, where memories have several. */
const SPLIT_FACTOR = 1.1
const EF_MIN = 100
const EF_MAX = 1000

/** The result of a bank's HNSW index, best first. */
export interface Nearest {
  found: number
  /** Arrays in PostgreSQL's syntax, which are passed back without being parsed. */
  ids: string
  scores: string
}

/**
 * Queries a bank's HNSW index, in a statement of its own: the planner can choose a partial index only when it knows the
 * parameters, so this statement is planned for each search, and planning the whole search takes longer than running it.
 * @param options `passagesPerMemory`: the bank's mean. Default: 1
 * @returns a statement that returns one row; undefined when no memory can pass the filters
 */
export function nearestStatement (
  bank: BankKey, { filters, now, limit }: SearchRequest, vector: Float32Array,
  { schema, space, passagesPerMemory = 1 }: { schema: string, space: EmbeddingSpace, passagesPerMemory?: number },
): Statement | undefined {
  const read = filteredRead(schema, bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant } = read
  const conditions = read.conditionsOf('current')
  const past = ''
  const type = typeOf(space)
  const query = queryVector(parameters, vector, space)
  // Passages of one memory are often near to each other, and too few memories lead to a second, exact search.
  const neighbours = Math.ceil(limit * Math.max(EF_FACTOR, SPLIT_FACTOR * passagesPerMemory))
  const ef = String(Math.min(EF_MAX, Math.max(EF_MIN, neighbours)))
  // The index scan reads its settings when it begins. A condition without a column, such as that on set_config, is
  // evaluated before; so the statement needs no session settings.
  const text = `with ${spaceCte({ schema, parameters }, space)},
neighbours as (
  select e.memory_id, e.embedding::${type} <=> ${query} as distance
  from ${schema}.embeddings${past} e ${filteredMemories({ schema, past, filters: conditions }, 'e')}
  where ${ofBank('e')}
    and e.model = ${parameters.bind(space.model)}::text and (select is_configured_space from space)
      and ${liveAt('e', instant)}
    and (select set_config('hnsw.ef_search', ${parameters.bind(ef)}::text, true) <> ''
      and set_config('hnsw.iterative_scan', 'relaxed_order', true) <> '')
  order by e.embedding::${type} <=> ${query}
  limit ${parameters.bind(neighbours)}::int
)
select count(*)::int as found, coalesce(array_agg(f.memory_id), '{}')::text as ids,
  coalesce(array_agg(f.score), '{}')::text as scores from (
  select n.memory_id, max(${similarity('n.distance')}) as score from neighbours n group by n.memory_id
    order by score desc, n.memory_id limit ${parameters.bind(limit)}::int
) f`
  return { text, values: parameters.values }
}

/**
 * Cosines, with 0 for negative ones and for those of a zero vector, which has no direction.
 * @param nearest result of the bank's HNSW index; without it the search is exact
 */
function semanticTables (
  shape: Shape, vector: Float32Array, space: EmbeddingSpace, nearest: Nearest | undefined,
): string {
  const { schema, past, parameters, unexpired } = shape
  return nearest === undefined
    ? `neighbours as (
  select e.memory_id, e.embedding <=> ${queryVector(parameters, vector, space)} as distance
  from ${schema}.embeddings${past} e ${filteredMemories(shape, 'e')}
  where ${ofBank('e')} and e.model = ${parameters.bind(space.model)}::text
    and (select is_configured_space from space) and ${unexpired('e')}
),
semantic_found as (
  select n.memory_id, max(${similarity('n.distance')}) as score from neighbours n group by n.memory_id
),
semantic as materialized (
  select f.memory_id, f.score from semantic_found f order by f.score desc, f.memory_id
  limit ${parameters.bind(shape.limit)}::int
)`
    : `semantic as materialized (
  select f.memory_id, f.score from unnest(${parameters.bind(nearest.ids)}::text::uuid[],
    ${parameters.bind(nearest.scores)}::text::float8[]) as f(memory_id, score)
  where (select is_configured_space from space) limit ${parameters.bind(shape.limit)}::int
)`
}

/** A query of `ordinal` and `score`, the cosines of all passages of `m`. */
function passageCosines (
  { schema, past, parameters }: Pick<Shape, 'schema' | 'past' | 'parameters'>, vector: Float32Array,
  space: EmbeddingSpace,
): string {
  return `select e.ordinal::int as ordinal,
    ${similarity(`e.embedding <=> ${queryVector(parameters, vector, space)}`)} as score
    from ${schema}.embeddings${past} e
    where ${ofBank('e')} and e.model = ${parameters.bind(space.model)}::text and e.memory_id = m.memory_id`
}

function typeOf ({ dimensions }: EmbeddingSpace): string {
  return `halfvec(${Math.trunc(dimensions)})`
}

/** As a subquery, the text is parsed once per execution, in a generic plan too. */
function queryVector (parameters: Parameters, vector: Float32Array, space: EmbeddingSpace): string {
  return `(select ${parameters.bind(unitVectorText(vector))}::text::${typeOf(space)})`
}

/**
 * The expression contains the distance once, so that it is computed once. nullif turns NaN into null, which greatest
 * ignores.
 */
function similarity (distance: string): string {
  return `round(greatest(0, 1 - nullif(${distance}, 'NaN')) * ${GRID}) / ${GRID}`
}

/**
 * Whether the bank's vectors are of the model that the query was embedded with; a bank of another model is searched
 * lexically only.
 */
function spaceCte ({ schema, parameters }: Pick<
  Shape, 'schema' | 'parameters'
>, { model, dimensions }: EmbeddingSpace): string {
  return `space as materialized (
  select exists (select 1 from ${schema}.embedding_spaces v where ${ofBank('v')}
    and v.model = ${parameters.bind(model)}::text
    and v.dimensions = ${parameters.bind(dimensions)}::int) as is_configured_space
)`
}
