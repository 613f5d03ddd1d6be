import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, SearchRequest } from '../vector-store.js'
import type { Param } from './executor.js'
import { filterConditions, memoryColumns, Parameters } from './fragments.js'
import { bankParameters } from './rows.js'
import { unitVectorText } from './vectors.js'

/** Scores are rounded to it, so that memories of equal worth tie whatever the order in which their terms were summed. */
const GRID = '1e12'
/** Passages that a candidate names at most. */
const MAX_PASSAGES = 3
/** How many neighbours the index looks at, for each one that is wanted and at least (hnsw.ef_search; pgvector takes up to 1000). */
const EF_FACTOR = 2
const EF_LEAST = 100
const EF_MOST = 1000

export interface SearchOptions {
  /** The schema, quoted. */
  schema: string
  /** Needed when the request has the semantic strategy. */
  space?: EmbeddingSpace
  /** Whether the bank has an approximate index: without one the search is exact. */
  indexed: boolean
}

export interface SearchStatement {
  text: string
  values: readonly Param[]
}

/**
 * One bank's search as one statement, both strategies and every filter in it. Its rows are memories with
 * `lexical_score`, `lexical_ordinals`, `lexical_scores` (the best passages; null when that strategy did not find the memory), the same
 * for `semantic_…`, `passage_starts`, `passage_ends`, and on every row `total`.
 * @returns undefined when nothing can be found
 */
export function searchStatement (bank: BankKey, request: SearchRequest, { schema, space, indexed }: SearchOptions): SearchStatement | undefined {
  const { lexical, semantic, limit, now } = request
  const words = lexical !== undefined && lexical.terms.length > 0
  if (!words && semantic === undefined) return undefined
  const parameters = new Parameters()
  // $1 and $2 in every statement: the bank.
  for (const value of bankParameters(bank)) parameters.bind(value)
  const instant = `${parameters.bind(now)}::float8::bigint`
  const most = `${parameters.bind(limit)}::int`
  const filters = filterConditions(request.filters, parameters)
  if (filters === undefined) return undefined
  const shape: Shape = { schema, parameters, filters, most, unexpired: (alias) => `(${alias}.expires_at is null or ${alias}.expires_at > ${instant})` }

  const parts: string[] = []
  const strategies: string[] = []
  if (words) {
    parts.push(lexicalPart(shape, lexical))
    strategies.push('lexical')
  }
  if (semantic !== undefined) {
    if (space === undefined) throw new Error('A semantic search needs an embedding space')
    parts.push(indexed ? nearestByIndex(shape, semantic.vector, space, limit) : nearest(shape, semantic.vector, space))
    parts.push(candidates(shape, 'semantic', 'neighbours'))
    strategies.push('semantic')
  }
  const columns = (['lexical', 'semantic'] as const).map((name) => strategies.includes(name)
    ? `${name}.score as ${name}_score, ${name}.ordinals as ${name}_ordinals, ${name}.scores as ${name}_scores`
    : `null::float8 as ${name}_score, null::int[] as ${name}_ordinals, null::float8[] as ${name}_scores`)
  const text = `
with ${parts.join(',\n')},
wanted as (${strategies.map((name) => `select memory_id from ${name}`).join(' union ')})
select ${memoryColumns('m')}, m.passage_starts, m.passage_ends,
  ${columns.join(', ')},
  (${totalOf(shape, words, semantic === undefined ? undefined : space)})::int as total
from wanted w
join ${schema}.memories m on m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = w.memory_id
${strategies.map((name) => `left join ${name} on ${name}.memory_id = w.memory_id`).join('\n')}`
  return { text, values: parameters.values }
}

interface Shape {
  schema: string
  parameters: Parameters
  /** On `m`; '' when there are none. */
  filters: string
  most: string
  unexpired: (alias: string) => string
}

/**
 * BM25 over the postings (Robertson and Zaragoza 2009), as the share of the best score that the query could reach in the bank.
 * A term's frequency and the bank's size count expired memories too, until they are swept away.
 */
function lexicalPart (shape: Shape, { terms, k1, b }: NonNullable<SearchRequest['lexical']>): string {
  const { schema, parameters, unexpired } = shape
  // No text has U+0000, so a term with it is one that no memory has, and has to stay one.
  const list = parameters.bind(terms.map((term) => term.replaceAll('\u0000', '\u0001')))
  const saturation = `${parameters.bind(k1)}::float8`
  const normalisation = `${parameters.bind(b)}::float8`
  return `terms as (
  select t.term, t.position from unnest(${list}::text[]) with ordinality as t(term, position)
),
size as (
  select sum(s.passages)::float8 as passages, sum(s.length) as length
  from ${schema}.bank_statistics s where s.tenant_id = $1 and s.bank_id = $2
),
occurrences as materialized (
  select t.position, p.memory_id, p.ordinal, p.weight::float8 as weight, p.length::float8 as length, p.expires_at
  from terms t join ${schema}.postings p on p.tenant_id = $1 and p.bank_id = $2 and p.term = t.term collate "C"
),
frequencies as (
  select o.position, count(*)::float8 as frequency from occurrences o group by o.position
),
weighted as (
  select t.position,
    ln(1 + (greatest(size.passages - coalesce(f.frequency, 0), 0) + 0.5) / (coalesce(f.frequency, 0) + 0.5)) * (${saturation} + 1) as gain
  from terms t cross join size left join frequencies f on f.position = t.position
),
matched as materialized (
  select o.memory_id, o.ordinal, round(least(1, sum(
      w.gain * o.weight / (o.weight + ${saturation} * (1 - ${normalisation} + ${normalisation} * o.length * size.passages / size.length))
    ) / (select sum(gain) from weighted)) * ${GRID}) / ${GRID} as score
  from occurrences o join weighted w on w.position = o.position cross join size
  where ${unexpired('o')}
  group by o.memory_id, o.ordinal
),
${candidates(shape, 'lexical', 'matched', { filtered: true })}`
}

/** The vectors of the bank with their cosines; negative ones as 0, and those of a zero vector, which has no direction. */
function nearest ({ schema, parameters, filters, unexpired }: Shape, vector: Float32Array, { model, dimensions }: EmbeddingSpace): string {
  const query = `${parameters.bind(unitVectorText(vector))}::text::halfvec`
  return `neighbours as materialized (
  select e.memory_id, e.ordinal, ${similarity(`e.embedding <=> ${query}`)} as score
  from ${schema}.embeddings e
  ${joinMemories(schema, 'e', filters)}
  where e.tenant_id = $1 and e.bank_id = $2 and e.model = ${parameters.bind(model)}::text
    and ${inSpace(schema, parameters, { model, dimensions })}
    and ${unexpired('e')}${filters}
)`
}

/**
 * The same by the bank's HNSW index: approximate. The index reads its settings when its scan begins; a condition without a variable,
 * as that on set_config is, is decided before that, so the statement needs no session of its own.
 */
function nearestByIndex ({ schema, parameters, filters, unexpired }: Shape, vector: Float32Array, { model, dimensions }: EmbeddingSpace, limit: number): string {
  const type = `halfvec(${Math.trunc(dimensions)})`
  const query = `${parameters.bind(unitVectorText(vector))}::text::${type}`
  const wanted = parameters.bind(limit * EF_FACTOR)
  const ef = parameters.bind(String(Math.min(EF_MOST, Math.max(EF_LEAST, limit * EF_FACTOR))))
  return `neighbours as materialized (
  select n.memory_id, n.ordinal, ${similarity('n.distance')} as score
  from (
    select e.memory_id, e.ordinal, e.embedding::${type} <=> ${query} as distance
    from ${schema}.embeddings e
    ${joinMemories(schema, 'e', filters)}
    where e.tenant_id = $1 and e.bank_id = $2 and e.model = ${parameters.bind(model)}::text
      and ${inSpace(schema, parameters, { model, dimensions })}
      and (select set_config('hnsw.ef_search', ${ef}::text, true) <> '' and set_config('hnsw.iterative_scan', 'relaxed_order', true) <> '')
      and ${unexpired('e')}${filters}
    order by e.embedding::${type} <=> ${query}
    limit ${wanted}::int
  ) n
)`
}

function similarity (distance: string): string {
  return `case when (${distance}) = 'NaN' then 0 else round(greatest(0, 1 - (${distance})) * ${GRID}) / ${GRID} end`
}

/** Whether the bank's vectors are of the model that the query was embedded with; a bank that was moved to another is searched by words. */
function inSpace (schema: string, parameters: Parameters, { model, dimensions }: EmbeddingSpace): string {
  return `exists (select from ${schema}.embedding_spaces v where v.tenant_id = $1 and v.bank_id = $2
      and v.model = ${parameters.bind(model)}::text and v.dimensions = ${parameters.bind(dimensions)}::int)`
}

function joinMemories (schema: string, alias: string, filters: string): string {
  return filters === '' ? '' : `join ${schema}.memories m on m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = ${alias}.memory_id`
}

/** From scored passages to the best memories: each as good as its best passage, ties by id. `<name>_found` has all of them. */
function candidates ({ schema, filters, most }: Shape, name: 'lexical' | 'semantic', passages: string, { filtered = false } = {}): string {
  return `${name}_found as materialized (
  select s.memory_id, max(s.score) as score from ${passages} s
  ${filtered ? joinMemories(schema, 's', filters) : ''}
  ${filtered && filters !== '' ? `where true${filters}` : ''}
  group by s.memory_id
),
${name}_best as materialized (
  select f.memory_id, f.score from ${name}_found f order by f.score desc, f.memory_id limit ${most}
),
${name} as (
  select f.memory_id, f.score,
    (array_agg(s.ordinal::int order by s.score desc, s.ordinal))[1:${MAX_PASSAGES}] as ordinals,
    (array_agg(s.score order by s.score desc, s.ordinal))[1:${MAX_PASSAGES}] as scores
  from ${name}_best f join ${passages} s on s.memory_id = f.memory_id
  group by f.memory_id, f.score
)`
}

/** Memories that a strategy found, whatever the limit: those with a term and those with a vector that pass the filters. */
function totalOf ({ schema, parameters, filters, unexpired }: Shape, words: boolean, space: EmbeddingSpace | undefined): string {
  if (space === undefined) return 'select count(*) from lexical_found'
  const embedded = inSpace(schema, parameters, space)
  const byWords = words ? 'or m.memory_id in (select memory_id from lexical_found)' : ''
  const exact = `select count(*) from ${schema}.memories m
    where m.tenant_id = $1 and m.bank_id = $2 and ${unexpired('m')}${filters} and ((m.embedded and ${embedded}) ${byWords})`
  if (filters !== '') return exact
  // Where nothing expires and everything has a vector, which is usual, the bank's own count is the answer.
  return `select case when sum(s.expiring) = 0 and sum(s.embedded) = sum(s.memories) and ${embedded} then sum(s.memories) else (${exact}) end
    from ${schema}.bank_statistics s where s.tenant_id = $1 and s.bank_id = $2`
}
