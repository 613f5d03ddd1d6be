import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, SearchRequest } from '../vector-store.js'
import { filteredRead, type Parameters, type Statement } from './fragments.js'
import { bestPassages, filteredMemories, GRID, liveAt, type Shape, type Strategy } from './search-shape.js'
import { unitVectorText } from './vectors.js'

/**
 * How many neighbours the index looks at, for each one that is wanted and at least (hnsw.ef_search; pgvector takes up
 * to 1000).
 */
const EF_FACTOR = 1.5
const EF_LEAST = 100
const EF_MOST = 1000

/** What a bank's HNSW index has found, best first. */
export interface Nearest {
  found: number
  /** Arrays as the database writes them: nothing here reads them. */
  ids: string
  scores: string
}

/**
 * Asks a bank's HNSW index, in a statement of its own: that an index of one bank's rows serves the query is known only
 * when the parameters are, so it is planned for each search, and planning the whole search takes longer than making it.
 * @returns a statement that answers one row; undefined when no memory can pass the filters
 */
export function nearestStatement (
  bank: BankKey, { filters, now, limit }: SearchRequest, vector: Float32Array,
  { schema, space }: { schema: string, space: EmbeddingSpace },
): Statement | undefined {
  const read = filteredRead(bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
  const type = typeOf(space)
  const query = queryVector(parameters, vector, space)
  const neighbours = Math.ceil(limit * EF_FACTOR)
  const ef = String(Math.min(EF_MOST, Math.max(EF_LEAST, neighbours)))
  // The index reads its settings when its scan begins. A condition without a variable, as that on set_config is, is
  // decided before that; so the statement needs no session of its own.
  const text = `with ${spaceCte({ schema, parameters }, space)}neighbours as (
  select e.memory_id, e.embedding::${type} <=> ${query} as distance
  from ${schema}.embeddings e ${filteredMemories({ schema, filters: conditions }, 'e')}
  where e.tenant_id = $1 and e.bank_id = $2 and e.model = ${parameters.bind(space.model)}::text and (select ours from space) and ${liveAt('e', instant)}
    and (select set_config('hnsw.ef_search', ${parameters.bind(ef)}::text, true) <> ''
      and set_config('hnsw.iterative_scan', 'relaxed_order', true) <> '')
  order by e.embedding::${type} <=> ${query}
  limit ${parameters.bind(neighbours)}::int
)
select count(*)::int as found, coalesce(array_agg(f.memory_id), '{}')::text as ids, coalesce(array_agg(f.score), '{}')::text as scores from (
  select n.memory_id, max(${similarity('n.distance')}) as score from neighbours n group by n.memory_id order by score desc, n.memory_id limit ${parameters.bind(limit)}::int
) f`
  return { text, values: parameters.values }
}

/**
 * Cosines; negative ones as 0, and those of a zero vector, which has no direction.
 * @param nearest what the bank's HNSW index has found; without it the search is exact
 */
export function semanticStrategy (
  shape: Shape, vector: Float32Array, space: EmbeddingSpace, nearest: Nearest | undefined,
): Strategy {
  const { schema, parameters, unexpired } = shape
  const query = queryVector(parameters, vector, space)
  const ours = `e.tenant_id = $1 and e.bank_id = $2 and e.model = ${parameters.bind(space.model)}::text`
  const cosines = `select e.ordinal::int as ordinal, ${similarity(`e.embedding <=> ${query}`)} as score
    from ${schema}.embeddings e where ${ours} and e.memory_id = m.memory_id`
  return {
    name: 'semantic',
    parts: nearest === undefined
      ? `neighbours as (
  select e.memory_id, e.embedding <=> ${query} as distance
  from ${schema}.embeddings e ${filteredMemories(shape, 'e')}
  where ${ours} and (select ours from space) and ${unexpired('e')}
),
semantic_found as (
  select n.memory_id, max(${similarity('n.distance')}) as score from neighbours n group by n.memory_id
),
semantic as materialized (
  select f.memory_id, f.score from semantic_found f order by f.score desc, f.memory_id limit ${shape.most}
)`
      : `semantic as materialized (
  select f.memory_id, f.score from unnest(${parameters.bind(nearest.ids)}::text::uuid[], ${parameters.bind(nearest.scores)}::text::float8[]) as f(memory_id, score)
  where (select ours from space) limit ${shape.most}
)`,
    passages: bestPassages(cosines),
    cosines,
  }
}

function typeOf ({ dimensions }: EmbeddingSpace): string {
  return `halfvec(${Math.trunc(dimensions)})`
}

/** In a query of its own the text is read once, also by a plan that was made before it was known. */
function queryVector (parameters: Parameters, vector: Float32Array, space: EmbeddingSpace): string {
  return `(select ${parameters.bind(unitVectorText(vector))}::text::${typeOf(space)})`
}

/**
 * The distance is named once, so that it is computed once. Of 0 and null, which not a number becomes, the greatest is
 * 0.
 */
function similarity (distance: string): string {
  return `round(greatest(0, 1 - nullif(${distance}, 'NaN')) * ${GRID}) / ${GRID}`
}

/**
 * Whether the bank's vectors are of the model that the query was embedded with; a bank that was moved to another is
 * searched by words.
 */
export function spaceCte ({ schema, parameters }: Pick<Shape, 'schema' | 'parameters'>, { model, dimensions }: EmbeddingSpace): string {
  return `space as materialized (
  select exists (select from ${schema}.embedding_spaces v where v.tenant_id = $1 and v.bank_id = $2
    and v.model = ${parameters.bind(model)}::text and v.dimensions = ${parameters.bind(dimensions)}::int) as ours
),
`
}
