import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, SearchRequest } from '../vector-store.js'
import { filteredRead, liveAt, type Parameters, type Statement, unitVectorText } from './fragments.js'
import { filteredMemories, GRID, ofBank, type Shape } from './search-shape.js'

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
  const read = filteredRead(bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
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
  from ${schema}.embeddings e ${filteredMemories({ schema, filters: conditions }, 'e')}
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
export function semanticTables (
  shape: Shape, vector: Float32Array, space: EmbeddingSpace, nearest: Nearest | undefined,
): string {
  const { schema, parameters, unexpired } = shape
  return nearest === undefined
    ? `neighbours as (
  select e.memory_id, e.embedding <=> ${queryVector(parameters, vector, space)} as distance
  from ${schema}.embeddings e ${filteredMemories(shape, 'e')}
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
export function cosinesOf (
  { schema, parameters }: Pick<Shape, 'schema' | 'parameters'>, vector: Float32Array, space: EmbeddingSpace,
): string {
  return `select e.ordinal::int as ordinal,
    ${similarity(`e.embedding <=> ${queryVector(parameters, vector, space)}`)} as score
    from ${schema}.embeddings e
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
export function spaceCte ({ schema, parameters }: Pick<
  Shape, 'schema' | 'parameters'
>, { model, dimensions }: EmbeddingSpace): string {
  return `space as materialized (
  select exists (select from ${schema}.embedding_spaces v where ${ofBank('v')}
    and v.model = ${parameters.bind(model)}::text
    and v.dimensions = ${parameters.bind(dimensions)}::int) as is_configured_space
)`
}
