import { poolSize } from '../context.js'
import { MAX_PASSAGES, type LexicalRequest } from '../vector-store.js'
import { HAS_SEVERAL_PASSAGES, lexicalContext, type Scorer } from './lexical-context.js'
import { filteredMemories, GRID, type Shape, type Strategy } from './search-shape.js'
import { indexTerm } from './terms.js'

/** To look up a memory by its id takes several times as long as to read an id of a document. */
const MAX_IDS_PER_FOUND = 4

interface LexicalOptions {
  /** The limit of the request. */
  limit: number
  /** Whether the statement also has the semantic strategy, whose best memories are in the table `semantic`. */
  both: boolean
}

/**
 * The lexical strategy as lib/stores/context.ts defines it. Its tables: `lexical` has the best memories with `score`
 * and `own`, `also_lexical` the same for the memories that the semantic strategy found, `shown` the passages to show,
 * and `matching` every memory with a term of the query that passes the filters. Scores are whole multiples of 1 / GRID.
 *
 * The postings of a search are read once, into `hits`. The planner cannot estimate how many rows `hits` has, so no join
 * with it may permit nested loops: weights of terms and places in documents are looked up in arrays, and the one join
 * of `hits` is a full join, for which PostgreSQL has only hash and merge joins.
 */
export function lexicalStrategy (shape: Shape, request: LexicalRequest, { limit, both }: LexicalOptions): Strategy {
  const norms = normOf(shape, request)
  const saturation = `${shape.parameters.bind(request.k1)}::float8`
  const { length } = request
  const scorer: Scorer = {
    notesRatio: 'pivot' in length && length.notesPivot !== undefined
      ? `${shape.parameters.bind(length.notesPivot / length.pivot)}::float8`
      : undefined,
    normOf: norms.of,
    score: (weight, norm, more = '', factor = '') => (
      `round(least(1, coalesce(sum((select q.shares from query q)[h.n] * ${weight} /
        (${weight} + ${saturation} * ${norm}))${more}, 0)) * ${factor === '' ? '' : `${factor} * `}${GRID})::bigint`
    ),
  }
  const matching = shape.filters === '' ? 'found' : 'matching'
  const parts = [
    ...hits(shape, request, norms),
    ...own(scorer),
    ...(shape.filters === ''
      ? []
      : shape.ofDocuments ? matchingOfDocuments(shape) : [`matching as materialized (\n  ${lookedUp(shape)}\n)`]),
    ...(request.context
      ? lexicalContext(shape, scorer, poolOf(shape, limit))
      : withoutContext(shape, scorer, matching)),
    SHOWN,
    ...(both ? [alsoLexical(request.context)] : []),
  ]
  return {
    name: 'lexical',
    parts: parts.join(',\n'),
    passages: 'select s.passages from shown s where s.memory_id = m.memory_id',
  }
}

/** The query for the memories that pass the filters and match, by their own terms or by those of their neighbours. */
export function matchingMemories (
  { filters }: Pick<Shape, 'filters'>, { context }: Pick<LexicalRequest, 'context'>,
): string {
  const near = context ? ' union all select s.memory_id from passing s where s.own = 0' : ''
  return `select f.memory_id from ${filters === '' ? 'found' : 'matching'} f where f.score > 0${near}`
}

interface Norms {
  of: (length: string) => string
  /** Columns of `size`. */
  columns: string
}

function normOf ({ parameters }: Shape, { length }: LexicalRequest): Norms {
  if ('pivot' in length) {
    const pivot = `${parameters.bind(length.pivot)}::float8`
    return { of: (column) => `greatest(1, ${column} / ${pivot})`, columns: '' }
  }
  const b = `${parameters.bind(length.b)}::float8`
  return {
    of: (column) => `((select s.flat from size s) + (select s.slope from size s) * ${column})`,
    columns: `, 1 - ${b} as flat, coalesce(${b} * (c.passages - coalesce(e.passages, 0)) /
      nullif(c.length - coalesce(e.length, 0), 0), 0) as slope`,
  }
}

/**
 * The postings of the query's terms, and the weight of each term: its share of the highest score that the query can
 * reach. Expired memories are in no count, even before they are removed.
 */
function hits ({ schema, parameters, unexpired, now }: Shape, { terms }: LexicalRequest, norms: Norms): string[] {
  return [
    `terms as materialized (
  select t.n::int as n, t.term from unnest(${parameters.bind(terms.map(indexTerm))}::text[]) with ordinality as t(term,
    n)
)`,
    `counted as materialized (
  select sum(s.passages)::float8 as passages, sum(s.length) as length, sum(s.expiring) > 0 as expiring
  from ${schema}.bank_statistics s where s.bank_key = $1
)`,
    `size as materialized (
  select c.passages - coalesce(e.passages, 0) as passages${norms.columns}
  from counted c left join lateral (
    select sum(cardinality(m.passage_starts)) as passages, sum(m.passages_length) as length
    from ${schema}.memories m where m.bank_key = $1 and c.expiring and m.expires_at <= ${now}
  ) e on true
)`,
    `hits as materialized (
  select t.n, o.memory_id, o.ordinal, o.weight, o.norm from terms t cross join lateral (
    select p.memory_id, p.ordinal, p.weight::float8 as weight, ${norms.of('p.length')} as norm
    from ${schema}.postings p where p.bank_key = $1 and p.term = t.term and ${unexpired('p')} offset 0
  ) o
)`,
    `frequencies as materialized (
  select h.n, count(*)::float8 as frequency, max(h.ordinal) > 0 as several from hits h group by h.n
)`,
    `weights as materialized (
  select t.n, ln(1 + (greatest(size.passages - coalesce(f.frequency, 0), 0) + 0.5) /
    (coalesce(f.frequency, 0) + 0.5)) as idf
  from terms t cross join size left join frequencies f on f.n = t.n
)`,
    `query as materialized (
  select array_agg(w.idf / w.attainable order by w.n) as shares,
    (select bool_or(f.several) from frequencies f) as several
  from (select w.n, w.idf, sum(w.idf) over () as attainable from weights w) w
)`,
  ]
}

/** Every memory with a term of the query, and its own score. */
function own ({ score }: Scorer): string[] {
  const scores = (columns: string, several: string) => (
    `select ${columns}, ${score('h.weight', 'h.norm')} as score from hits h where ${several} group by ${columns}`
  )
  return [`found as materialized (
  ${scores('h.memory_id', `not ${HAS_SEVERAL_PASSAGES}`)}
  union all
  select p.memory_id, max(p.score) as score
    from (${scores('h.memory_id, h.ordinal', HAS_SEVERAL_PASSAGES)}) p group by p.memory_id
)`]
}

/** The memories of `found` that pass the filters, each looked up by its id. */
function lookedUp (shape: Shape): string {
  return `select f.memory_id, f.score from found f ${filteredMemories(shape, 'f')}`
}

/**
 * The same for filters that name documents. To read the ids of a document and join them with `found` takes much less
 * time than to look up each memory of `found`, unless the document has many times as many memories: the reading of the
 * ids ends there. The full join is as in `hits`.
 */
function matchingOfDocuments (shape: Shape): string[] {
  return [
    `bound as materialized (\n  select ${MAX_IDS_PER_FOUND} * count(*) as ids from found\n)`,
    `ids as materialized (
  select m.memory_id from ${shape.schema}.memories m where m.bank_key = $1${shape.filters}
    limit (select b.ids from bound b)
)`,
    'reading as materialized (\n  select (select count(*) from ids) < b.ids as complete from bound b\n)',
    `matching as materialized (
  select f.memory_id, f.score from found f full join ids i on i.memory_id = f.memory_id
  where (select r.complete from reading r) and coalesce(f.memory_id = i.memory_id, false)
  union all
  ${lookedUp(shape)} where not (select r.complete from reading r)
)`,
  ]
}

/** The best by own score. If memories have several passages, `ranked` has the passages' scores. */
function withoutContext ({ limit }: Shape, { score }: Scorer, matching: string): string[] {
  return [
    `lexical as materialized (
  select f.memory_id, f.score, f.score as own
    from ${matching} f where f.score > 0 order by f.score desc, f.memory_id limit ${limit}
)`,
    `ranked as (
  select h.memory_id, h.ordinal, ${score('h.weight', 'h.norm')} as score
  from hits h where ${HAS_SEVERAL_PASSAGES} and (h.memory_id in (select l.memory_id from lexical l)) is true
    group by h.memory_id, h.ordinal
)`,
  ]
}

/** The query for the pool. */
function poolOf ({ filters, parameters }: Shape, limit: number): string {
  const size = `${parameters.bind(poolSize(limit))}::int`
  const best = (of: string) => (
    `(select f.memory_id from ${of} f where f.score > 0 order by f.score desc, f.memory_id limit ${size})`
  )
  return [best('found'), ...(filters === '' ? [] : [best('matching')])].join('\n  union ')
}

const SHOWN = `shown as materialized (
  select p.memory_id, (array_agg(p.ordinal::float8 order by p.score desc, p.ordinal))[1:${MAX_PASSAGES}]
    || (array_agg(p.score::float8 / ${GRID} order by p.score desc, p.ordinal))[1:${MAX_PASSAGES}] as passages
  from (
    select distinct t.memory_id, t.ordinal, t.score from ranked t where t.score > 0
      and (t.memory_id in (select l.memory_id from lexical l)) is true
  ) p group by p.memory_id
)`

/**
 * The lexical scores of the memories that the semantic strategy found: for candidates the score with context, even if
 * their own score is 0, for others the own score. The form of the condition makes PostgreSQL use a hashed subplan.
 */
function alsoLexical (context: boolean): string {
  const among = '(coalesce(f.memory_id, k.memory_id) in (select s.memory_id from semantic s)) is true'
  return context
    ? `also_lexical as materialized (
  select coalesce(f.memory_id, k.memory_id) as memory_id, coalesce(k.score, f.score) as score, f.score as own
  from found f full join scored k on k.memory_id = f.memory_id where ${among}
)`
    : `also_lexical as materialized (
  select f.memory_id, f.score, f.score as own from found f
    where (f.memory_id in (select s.memory_id from semantic s)) is true
)`
}
