import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, SearchRequest } from '../vector-store.js'
import type { Param } from './executor.js'
import { filterConditions, memoryColumns, Parameters } from './fragments.js'
import { bankParameters } from './rows.js'
import { indexTerm } from './terms.js'
import { unitVectorText } from './vectors.js'

/** Scores are rounded to it, so that memories of equal worth tie whatever the order in which their terms were summed. */
const GRID = '1e12'
/** Passages that a candidate names at most. */
const MAX_PASSAGES = 3
/** How many neighbours the index looks at, for each one that is wanted and at least (hnsw.ef_search; pgvector takes up to 1000). */
const EF_FACTOR = 1.5
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
  /** Whether one plan fits every bank: all but an indexed search look keys up. */
  keepPlan?: boolean
  text: string
  values: readonly Param[]
}

/**
 * One bank's search as one statement, both strategies and every filter in it. Its rows are memories with `passage_starts`,
 * `passage_ends`, `lexical_score` and `lexical_passages` (ordinals of the best, then as many scores; null where there is only one, or where
 * that strategy does not have the memory among its best), the same for `semantic_…`, then what each strategy that was asked for says of
 * the memory all the same (`by_words`, `by_own_words`, `by_meaning`), and on every row `total`.
 *
 * Tables are reached through `lateral (… offset 0)` where a key is known row by row: the planner then looks the key up and does not
 * join by reading the whole bank, as it would by the statistics of a young or fast-growing table.
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
  const shape: Shape = { schema, parameters, filters, most, now: instant, unexpired: (alias) => `(${alias}.expires_at is null or ${alias}.expires_at > ${instant})` }

  const strategies: Strategy[] = []
  if (words) strategies.push(lexicalStrategy(shape, lexical))
  if (semantic !== undefined) {
    if (space === undefined) throw new Error('A semantic search needs an embedding space')
    strategies.push(semanticStrategy(shape, semantic.vector, space, indexed ? limit : undefined))
  }
  const both = strategies.length > 1
  const find = (name: Strategy['name']) => strategies.find((one) => one.name === name)
  const columns = (['lexical', 'semantic'] as const).map((name) => {
    const strategy = find(name)
    return strategy === undefined
      ? `null::float8 as ${name}_score, null::float8[] as ${name}_passages`
      : `${name}.score as ${name}_score, case when ${name}.score is not null and cardinality(m.passage_starts) > 1 then (${bestPassages(strategy.passages)}) end as ${name}_passages`
  })
  const text = `with ${space === undefined || semantic === undefined ? '' : spaceCte(shape, space)}${strategies.map(({ parts }) => parts).join(',\n')}${both ? `,\n${ALSO_LEXICAL}` : ''}
select ${memoryColumns('m')}, m.passage_starts, m.passage_ends,
  ${columns.join(',\n  ')},
  ${scoreColumns(words, find('semantic')?.passages)},
  (${totalOf(shape, words, semantic === undefined ? undefined : space)})::int as total
from ${strategies.map(({ name }) => name).join(' full join ')}${both ? ' on semantic.memory_id = lexical.memory_id\nleft join also_lexical on also_lexical.memory_id = semantic.memory_id' : ''}
cross join lateral (
  select m.* from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2
    and m.memory_id = ${both ? 'coalesce(lexical.memory_id, semantic.memory_id)' : `${strategies[0]!.name}.memory_id`} offset 0
) m`
  return { text, values: parameters.values, keepPlan: semantic === undefined || !indexed }
}

/** What the words say of the memories that the other strategy found. The form of the condition makes it one look into a hash for each find. */
const ALSO_LEXICAL = `also_lexical as materialized (
  select f.memory_id, f.score, f.own from lexical_found f where (f.memory_id in (select s.memory_id from semantic s)) is true
)`

function scoreColumns (words: boolean, cosines: string | undefined): string {
  const byWords = (column: string) => words ? `coalesce(lexical.${column}${cosines === undefined ? '' : `, also_lexical.${column}`}, 0)` : 'null::float8'
  const meaning = cosines === undefined
    ? 'null::float8'
    : words
      ? `coalesce(semantic.score, case when (select ours from space) then (select max(s.score) from (${cosines}) s) end)`
      : 'semantic.score'
  return `${byWords('score')} as by_words, ${byWords('own')} as by_own_words, ${meaning} as by_meaning`
}

interface Strategy {
  name: 'lexical' | 'semantic'
  /** Common table expressions; the last has the best memories and is named like the strategy. */
  parts: string
  /** A query of `ordinal` and `score` of the passages of `m` that the strategy finds. */
  passages: string
}

interface Shape {
  schema: string
  parameters: Parameters
  /** On `m`; '' when there are none. */
  filters: string
  most: string
  unexpired: (alias: string) => string
  /** The instant of the search. */
  now: string
}

/**
 * BM25 over the postings (Robertson and Zaragoza 2009), as the share of the best score that the query could reach in the bank: by their
 * weights in context, and by the own ones, which the frequencies are counted of.
 * What has expired and is not swept away yet counts nowhere.
 */
function lexicalStrategy (shape: Shape, { terms, k1, b }: NonNullable<SearchRequest['lexical']>): Strategy {
  const { schema, parameters, filters, unexpired, now } = shape
  const list = parameters.bind(terms.map(indexTerm))
  const saturation = `${parameters.bind(k1)}::float8`
  const normalisation = `${parameters.bind(b)}::float8`
  const sum = (weight: string, filter = '') => `round(least(1, coalesce(sum(w.share * ${weight} / (${weight} + o.against))${filter}, 0)) * ${GRID}) / ${GRID}`
  const score = sum('o.weight')
  const own = 'coalesce(p.own, p.weight)'
  const postings = (condition: string) => `select p.memory_id, p.ordinal, p.weight::float8 as weight, ${own}::float8 as own, (select flat from size) + (select slope from size) * p.length as against
    from ${schema}.postings p where p.tenant_id = $1 and p.bank_id = $2 and ${condition} and ${unexpired('p')} offset 0`
  return {
    name: 'lexical',
    // The index is read twice, for frequencies and for scores: that is cheaper than keeping what the first reading found.
    parts: `terms as materialized (
  select t.term from unnest(${list}::text[]) as t(term)
),
counted as materialized (
  select sum(s.passages)::float8 as passages, sum(s.length) as length, sum(s.expiring) > 0 as expiring
  from ${schema}.bank_statistics s where s.tenant_id = $1 and s.bank_id = $2
),
size as materialized (
  select c.passages - coalesce(e.passages, 0) as passages, ${saturation} * (1 - ${normalisation}) as flat,
    ${saturation} * ${normalisation} * (c.passages - coalesce(e.passages, 0)) / nullif(c.length - coalesce(e.length, 0), 0) as slope
  from counted c left join lateral (
    select sum(cardinality(m.passage_starts)) as passages, sum(m.passages_length) as length
    from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and c.expiring and m.expires_at <= ${now}
  ) e on true
),
frequencies as materialized (
  select t.term, (select count(*)::float8 from ${schema}.postings p where p.tenant_id = $1 and p.bank_id = $2 and p.term = t.term and ${own} > 0 and ${unexpired('p')}) as frequency from terms t
),
weights as materialized (
  select f.term, ln(1 + (greatest(size.passages - f.frequency, 0) + 0.5) / (f.frequency + 0.5)) as idf from frequencies f cross join size
),
weighted as materialized (
  select w.term, w.idf / sum(w.idf) over () as share from weights w
),
matched as (
  select o.memory_id, o.ordinal, ${score} as score,
    ${sum('o.own', ' filter (where o.own > 0)')} as own
  from weighted w cross join lateral (${postings('p.term = w.term')}) o
  group by o.memory_id, o.ordinal
),
lexical_found as materialized (
  select s.memory_id, max(s.score) as score, max(s.own) as own from matched s ${filters === '' ? '' : filteredMemories(shape, 's')}
  group by s.memory_id
),
${best('lexical', shape, ', f.own')}`,
    passages: `select o.ordinal::int as ordinal, ${score} as score
    from weighted w cross join lateral (${postings('p.term = w.term and p.memory_id = m.memory_id')}) o group by o.ordinal`,
  }
}

/**
 * Cosines; negative ones as 0, and those of a zero vector, which has no direction.
 * @param limit the memories that are wanted, when the bank's HNSW index is to find them; otherwise the search is exact
 */
function semanticStrategy (shape: Shape, vector: Float32Array, space: EmbeddingSpace, limit: number | undefined): Strategy {
  const { schema, parameters, filters, unexpired } = shape
  const type = `halfvec(${Math.trunc(space.dimensions)})`
  // In a query of its own the text is read once, also by a plan that was made before it was known.
  const query = `(select ${parameters.bind(unitVectorText(vector))}::text::${type})`
  const model = `${parameters.bind(space.model)}::text`
  const ours = `e.tenant_id = $1 and e.bank_id = $2 and e.model = ${model}`
  const join = filters === '' ? '' : filteredMemories(shape, 'e')
  const neighbours = limit === undefined
    ? `select e.memory_id, e.embedding <=> ${query} as distance
  from ${schema}.embeddings e ${join}
  where ${ours} and (select ours from space) and ${unexpired('e')}`
    // The index reads its settings when its scan begins. A condition without a variable, as that on set_config is, is decided before
    // that; so the statement needs no session of its own.
    : `select e.memory_id, e.embedding::${type} <=> ${query} as distance
  from ${schema}.embeddings e ${join}
  where ${ours} and (select ours from space) and ${unexpired('e')}
    and (select set_config('hnsw.ef_search', ${parameters.bind(String(Math.min(EF_MOST, Math.max(EF_LEAST, Math.ceil(limit * EF_FACTOR)))))}::text, true) <> ''
      and set_config('hnsw.iterative_scan', 'relaxed_order', true) <> '')
  order by e.embedding::${type} <=> ${query}
  limit ${parameters.bind(Math.ceil(limit * EF_FACTOR))}::int`
  return {
    name: 'semantic',
    parts: `neighbours as (
  ${neighbours}
),
semantic_found as (
  select n.memory_id, max(${similarity('n.distance')}) as score from neighbours n group by n.memory_id
),
${best('semantic', shape)}`,
    passages: `select e.ordinal::int as ordinal, ${similarity(`e.embedding <=> ${query}`)} as score
    from ${schema}.embeddings e where ${ours} and e.memory_id = m.memory_id`,
  }
}

function similarity (distance: string): string {
  return `case when (${distance}) = 'NaN' then 0 else round(greatest(0, 1 - (${distance})) * ${GRID}) / ${GRID} end`
}

/** Whether the bank's vectors are of the model that the query was embedded with; a bank that was moved to another is searched by words. */
function spaceCte ({ schema, parameters }: Shape, { model, dimensions }: EmbeddingSpace): string {
  return `space as materialized (
  select exists (select from ${schema}.embedding_spaces v where v.tenant_id = $1 and v.bank_id = $2
    and v.model = ${parameters.bind(model)}::text and v.dimensions = ${parameters.bind(dimensions)}::int) as ours
),
`
}

/** Leaves of the rows of `alias` those whose memory passes the filters. */
function filteredMemories ({ schema, filters }: Shape, alias: string): string {
  return `cross join lateral (
    select from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = ${alias}.memory_id${filters} offset 0
  ) passing`
}

/** The best memories, each as good as its best passage, ties by id. `<name>_found` has all of them. */
function best (name: Strategy['name'], { most }: Shape, more = ''): string {
  return `${name} as materialized (
  select f.memory_id, f.score${more} from ${name}_found f order by f.score desc, f.memory_id limit ${most}
)`
}

/** The passages of `m` to show. */
function bestPassages (passages: string): string {
  const order = 'order by s.score desc, s.ordinal'
  return `select (array_agg(s.ordinal::float8 ${order}))[1:${MAX_PASSAGES}] || (array_agg(s.score ${order}))[1:${MAX_PASSAGES}] from (${passages}) s`
}

/** Memories that a strategy found, whatever the limit: those with a term and those with a vector that pass the filters. */
function totalOf ({ schema, filters, unexpired }: Shape, words: boolean, space: EmbeddingSpace | undefined): string {
  if (space === undefined) return 'select count(*) from lexical_found'
  const embedded = '(select ours from space)'
  const byWords = words ? 'or m.memory_id in (select memory_id from lexical_found)' : ''
  const exact = `select count(*) from ${schema}.memories m
    where m.tenant_id = $1 and m.bank_id = $2 and ${unexpired('m')}${filters} and ((m.embedded and ${embedded}) ${byWords})`
  if (filters !== '') return exact
  // Where nothing expires and everything has a vector, which is usual, the bank's own count is the answer.
  return `select case when sum(s.expiring) = 0 and sum(s.embedded) = sum(s.memories) and ${embedded} then sum(s.memories) else (${exact}) end
    from ${schema}.bank_statistics s where s.tenant_id = $1 and s.bank_id = $2`
}
