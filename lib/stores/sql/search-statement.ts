import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, SearchRequest } from '../vector-store.js'
import { filteredRead, liveAt, Parameters, type Statement } from './fragments.js'
import { LEXICAL_COLUMNS, lexicalRows, lexicalTables, matchingMemories, type LexicalRow } from './lexical-strategy.js'
import { bankParameters, type MemoryRow, READ_COLUMNS } from './rows.js'
import { bestPassages, ofBank, type Shape } from './search-shape.js'
import { cosinesOf, semanticTables, spaceCte, type Nearest } from './semantic-strategy.js'

interface SearchOptions {
  /** The quoted schema. */
  schema: string
  /** Required when the request has the semantic strategy. */
  space?: EmbeddingSpace | undefined
  /** The result of the bank's approximate index: without it the semantic strategy is exact. */
  nearest?: Nearest | undefined
}

/** The row of a search statement. Arrays are text in PostgreSQL's syntax. */
export interface SearchRow extends LexicalRow {
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
export function hasWords ({ lexical }: SearchRequest): boolean {
  return lexical !== undefined && lexical.terms.length > 0
}

/**
 * The search of one bank as one statement of one row, with both strategies and all filters: ids, and what their scores
 * depend on. A vector index is queried before, and `foundStatement` reads the memories that are returned.
 * @returns undefined when no memory can be found
 */
export function searchStatement (
  bank: BankKey, request: SearchRequest, { schema, space, nearest }: SearchOptions,
): Statement | undefined {
  const { semantic, limit, now } = request
  const lexical = hasWords(request) ? request.lexical : undefined
  if (lexical === undefined && semantic === undefined) return undefined
  const read = filteredRead(bank, request.filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions: filters } = read
  const shape: Shape = {
    schema,
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
      select m.memory_id from ${schema}.memories m where ${ofBank('m')} and not m.embedded
    )) is true) as unembedded_ids`)
    }
  }
  columns.push(`(${totalOf(shape, lexical !== undefined, semantic !== undefined)})::int as total`)
  const text = `with ${tables.join(',\n')}\nselect ${columns.join(',\n  ')}\nfrom ${rows.join('\ncross join ')}`
  return { text, values: parameters.values }
}

/** Memories that a strategy finds by itself, regardless of the limit. */
function totalOf (shape: Shape, hasLexical: boolean, hasSemantic: boolean): string {
  const { schema, filters, unexpired, now } = shape
  const matching = hasLexical ? matchingMemories(shape) : undefined
  if (!hasSemantic) return `select count(*) from (${matching}) f`
  const embedded = '(select is_configured_space from space)'
  if (filters !== '') {
    const byWords = matching === undefined ? '' : `or m.memory_id in (${matching})`
    return `select count(*) from ${schema}.memories m
    where ${ofBank('m')} and ${unexpired('m')}${filters} and ((m.embedded and ${embedded}) ${byWords})`
  }
  // The bank's statistics have the number of its embedded memories. Partial indexes list those that have expired, and
  // the memories without vectors, some of which match by words; the condition makes PostgreSQL use a hashed subplan.
  const expired = `select count(*) from ${schema}.memories m
    where ${ofBank('m')} and m.expires_at <= ${now} and m.embedded`
  const others = matching === undefined
    ? ''
    : ` + case when sum(s.embedded) < sum(s.memories) then (select count(*) from ${schema}.memories m
      where ${ofBank('m')} and not m.embedded and (m.memory_id in (${matching})) is true) else 0 end`
  return `select case when ${embedded}
    then sum(s.embedded) - case when sum(s.expiring) > 0 then (${expired}) else 0 end${others}
    else ${matching === undefined ? '0' : `(select count(*) from (${matching}) f)`} end
    from ${schema}.bank_statistics s where ${ofBank('s')}`
}

/** A memory that a search returns. */
export interface FoundRow extends MemoryRow {
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
export function foundStatement (
  bank: BankKey, found: ReadonlyMap<string, number | undefined>, { semantic }: SearchRequest,
  { schema, space }: Pick<SearchOptions, 'schema' | 'space'>,
): Statement {
  const parameters = new Parameters()
  for (const value of bankParameters(bank)) parameters.bind(value)
  const known = [...found.values()].map((score) => score === undefined ? null : String(score))
  const given = `unnest(${parameters.bind([...found.keys()])}::text[]::uuid[],
  ${parameters.bind(known)}::text[]::float8[]) as g(memory_id, score)`
  let columns = 'null::float8 as cosine, null::float8[] as semantic_passages'
  let tables = ''
  if (semantic !== undefined && space !== undefined) {
    const cosines = cosinesOf({ schema, parameters }, semantic.vector, space)
    tables = `with ${spaceCte({ schema, parameters }, space)}\n`
    columns = `coalesce(g.score, case when (select is_configured_space from space)
    then (select max(s.score) from (${cosines}) s) end) as cosine,
  case when g.score is not null and cardinality(m.passage_starts) > 1
    then (${bestPassages(cosines)}) end as semantic_passages`
  }
  const text = `${tables}select ${READ_COLUMNS}, m.passage_starts, m.passage_ends, ${columns}
from ${given} cross join lateral (
  select m.* from ${schema}.memories m where ${ofBank('m')} and m.memory_id = g.memory_id offset 0
) m`
  return { text, values: parameters.values }
}
