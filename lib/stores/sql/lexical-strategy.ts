import { poolSize, SHARES } from '../context.js'
import type { LexicalRequest } from '../vector-store.js'
import { filteredMemories, GRID, MAX_PASSAGES, type Shape, type Strategy } from './search-shape.js'
import { indexTerm } from './terms.js'

export interface LexicalOptions {
  /** As the request has it. */
  limit: number
  /** Whether the statement has the semantic strategy too, whose best are in `semantic`. */
  both: boolean
}

/**
 * The lexical strategy as lib/stores/context.ts defines it. `lexical` has the best memories with `score` and `own`,
 * `also_lexical` the same of those that the semantic strategy found, `shown` the passages to show; scores are whole
 * numbers, of which GRID make 1. `matching` has every memory with a term that passes the filters.
 *
 * What a search keeps of the index, hits, is read once, and nothing is joined to it by a plan that could compare each
 * row with each: the planner does not know how many there are. Weights of terms and places in documents are elements of
 * arrays, and the one join of hits is a full join, which is made by hashing or merging.
 */
export function lexicalStrategy (shape: Shape, request: LexicalRequest, { limit, both }: LexicalOptions): Strategy {
  const norms = normOf(shape, request)
  const saturation = `${shape.parameters.bind(request.k1)}::float8`
  const scorer: Scorer = {
    normOf: norms.of,
    score: (weight, norm, more = '') => `round(least(1, coalesce(sum((select q.shares from query q)[h.n] * ${weight} / (${weight} + ${saturation} * ${norm}))${more}, 0)) * ${GRID})::bigint`,
  }
  const matching = shape.filters === '' ? 'found' : 'matching'
  const parts = [
    ...hits(shape, request, norms),
    ...own(scorer),
    ...(shape.filters === '' ? [] : [`matching as materialized (\n  select f.memory_id, f.score from found f ${filteredMemories(shape, 'f')}\n)`]),
    ...(request.context ? inContext(shape, scorer, { pool: poolOf(shape, limit) }) : alone(shape, scorer, matching)),
    SHOWN,
    ...(both ? [alsoLexical(request.context)] : []),
  ]
  return { name: 'lexical', parts: parts.join(',\n'), passages: 'select s.passages from shown s where s.memory_id = m.memory_id' }
}

/** The query for the memories that pass the filters and match, by their own words or by those of their neighbours. */
export function matchingMemories ({ filters }: Pick<Shape, 'filters'>, { context }: Pick<LexicalRequest, 'context'>): string {
  const near = context ? ' union all select s.memory_id from passing s where s.own = 0' : ''
  return `select f.memory_id from ${filters === '' ? 'found' : 'matching'} f where f.score > 0${near}`
}

interface Scorer {
  /** The norm of a length. */
  normOf: (length: string) => string
  /** The score of a group of rows `h` with a term's number `n`. */
  score: (weight: string, norm: string, more?: string) => string
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
    columns: `, 1 - ${b} as flat, coalesce(${b} * (c.passages - coalesce(e.passages, 0)) / nullif(c.length - coalesce(e.length, 0), 0), 0) as slope`,
  }
}

/**
 * The postings of the query's terms, and what each term is worth: its share of what could be reached. A server of the
 * last release still writes rows that neighbours lent, with an own weight of 0, and adds what they lend to the weight
 * of others. What has expired and is not swept away yet counts nowhere.
 */
function hits ({ schema, parameters, unexpired, now }: Shape, { terms }: LexicalRequest, norms: Norms): string[] {
  return [
    `terms as materialized (
  select t.n::int as n, t.term from unnest(${parameters.bind(terms.map(indexTerm))}::text[]) with ordinality as t(term, n)
)`,
    `counted as materialized (
  select sum(s.passages)::float8 as passages, sum(s.length) as length, sum(s.expiring) > 0 as expiring
  from ${schema}.bank_statistics s where s.tenant_id = $1 and s.bank_id = $2
)`,
    `size as materialized (
  select c.passages - coalesce(e.passages, 0) as passages${norms.columns}
  from counted c left join lateral (
    select sum(cardinality(m.passage_starts)) as passages, sum(m.passages_length) as length
    from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and c.expiring and m.expires_at <= ${now}
  ) e on true
)`,
    `hits as materialized (
  select t.n, o.memory_id, o.ordinal, o.weight, o.norm from terms t cross join lateral (
    select p.memory_id, p.ordinal, coalesce(p.own, p.weight)::float8 as weight, ${norms.of('p.length')} as norm
    from ${schema}.postings p where p.tenant_id = $1 and p.bank_id = $2 and p.term = t.term and (p.own is null or p.own > 0) and ${unexpired('p')} offset 0
  ) o
)`,
    `frequencies as materialized (
  select h.n, count(*)::float8 as frequency, max(h.ordinal) > 0 as several from hits h group by h.n
)`,
    `weights as materialized (
  select t.n, ln(1 + (greatest(size.passages - coalesce(f.frequency, 0), 0) + 0.5) / (coalesce(f.frequency, 0) + 0.5)) as idf
  from terms t cross join size left join frequencies f on f.n = t.n
)`,
    `query as materialized (
  select array_agg(w.idf / w.attainable order by w.n) as shares, (select bool_or(f.several) from frequencies f) as several
  from (select w.n, w.idf, sum(w.idf) over () as attainable from weights w) w
)`,
  ]
}

/** Whether a hit is of a passage behind the first; without such a hit each memory has one passage that counts. */
const SEVERAL = '(select q.several from query q)'

/** Every memory with a term, as good as its best passage. */
function own ({ score }: Scorer): string[] {
  const scores = (columns: string, several: string) => `select ${columns}, ${score('h.weight', 'h.norm')} as score from hits h where ${several} group by ${columns}`
  return [`found as materialized (
  ${scores('h.memory_id', `not ${SEVERAL}`)}
  union all
  select p.memory_id, max(p.score) as score from (${scores('h.memory_id, h.ordinal', SEVERAL)}) p group by p.memory_id
)`]
}

/** Without context: the best by their own words. `ranked` has scores of their passages, where there are several. */
function alone ({ most }: Shape, { score }: Scorer, matching: string): string[] {
  return [
    `lexical as materialized (
  select f.memory_id, f.score, f.score as own from ${matching} f where f.score > 0 order by f.score desc, f.memory_id limit ${most}
)`,
    `ranked as (
  select h.memory_id, h.ordinal, ${score('h.weight', 'h.norm')} as score
  from hits h where ${SEVERAL} and (h.memory_id in (select l.memory_id from lexical l)) is true group by h.memory_id, h.ordinal
)`,
  ]
}

/** The best by their own words, of all and of those that pass the filters. */
function poolOf ({ filters, parameters }: Shape, limit: number): string {
  const size = `${parameters.bind(poolSize(limit))}::int`
  const best = (of: string) => `(select f.memory_id from ${of} f where f.score > 0 order by f.score desc, f.memory_id limit ${size})`
  return [best('found'), ...(filters === '' ? [] : [best('matching')])].join('\n  union ')
}

function inContext (shape: Shape, scorer: Scorer, { pool }: { pool: string }): string[] {
  return [`pool as materialized (\n  ${pool}\n)`, ...candidates(shape), ...loans(scorer), ...scores(shape, scorer)]
}

/** The members of the pool with their neighbours, numbered in the order of their documents. */
function candidates ({ schema, unexpired }: Shape): string[] {
  const columns = (alias: string) => `${alias}.memory_id, ${alias}.place, coalesce(${alias}.question, false) as question, ${alias}.passage_length`
  const beside = (alias: string, comparison: '<' | '>') => {
    const direction = comparison === '<' ? ' desc' : ''
    return `(select ${columns(alias)} from ${schema}.memories ${alias}
      where ${alias}.tenant_id = $1 and ${alias}.bank_id = $2 and ${alias}.document_id = c.document_id and (${alias}.place, ${alias}.memory_id) ${comparison} (c.place, c.memory_id) and ${unexpired(alias)}
      order by ${alias}.place${direction}, ${alias}.memory_id${direction} limit 2)`
  }
  return [
    `members as materialized (
  select c.* from pool p cross join lateral (
    select m.document_id, ${columns('m')} from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = p.memory_id offset 0
  ) c
)`,
    // Memories without a document have numbers of their own for theirs.
    `candidates as materialized (
  select (row_number() over places)::int as r, case when a.document_id is null then -row_number() over places else dense_rank() over (order by a.document_id) end::int as document,
    a.memory_id, a.question, a.passage_length, a.pooled
  from (
    select distinct on (a.document_id, a.place, a.memory_id) a.* from (
      select c.*, true as pooled from members c
      union all
      select c.document_id, n.*, false from members c cross join lateral (
        ${beside('b', '<')}
        union all
        ${beside('f', '>')}
      ) n
    ) a
    order by a.document_id, a.place, a.memory_id, a.pooled desc
  ) a window places as (order by a.document_id, a.place, a.memory_id)
)`,
    `places as materialized (
  select array_agg(c.memory_id) as ids, array_agg(c.document) as documents, array_agg(c.question) as questions, array_agg(c.pooled) as pooled
  from (select c.* from candidates c order by c.r) c
)`,
  ]
}

/**
 * What each candidate has of the terms, and lends of them to those one and two places before and behind it. Of two
 * candidates of a document that are next to each other by number but not there, no member of the pool is near enough to
 * have them in its window.
 */
function loans ({ score }: Scorer): string[] {
  const { before, behind, secondBefore, secondBehind } = SHARES
  const to = (places: number, share: string) => {
    const pooled = [-2, -1, 0, 1, 2].filter((at) => Math.abs(at) <= 2 && Math.abs(at - places) <= 2)
      .map((at) => at === 0 ? 's.pooled' : `a.pooled[s.r + ${at}]`).join(' or ')
    return `case when a.documents[s.r + ${places}] = s.document and (${pooled}) then ${share} end::float8`
  }
  return [
    // The condition keeps it from becoming an inner join, which could be made by comparing each with each.
    `touched as materialized (
  select c.r, c.memory_id, c.document, c.question, c.pooled, h.n, h.ordinal, h.weight, h.norm
  from hits h full join candidates c on c.memory_id = h.memory_id where coalesce(c.r, 0) > 0 and coalesce(h.n, 0) > 0
)`,
    `ranked as materialized (
  select h.*, ${score('h.weight', 'h.norm', ' over (partition by h.r, h.ordinal)')} as score from touched h where ${SEVERAL}
)`,
    `stands as materialized (
  select t.r, t.document, t.question, t.pooled, t.n, t.weight, t.norm from touched t where not ${SEVERAL}
  union all
  select t.r, t.document, t.question, t.pooled, t.n, t.weight, t.norm from (
    select t.*, first_value(t.ordinal) over (partition by t.r order by t.score desc, t.ordinal) as best from ranked t
  ) t where t.ordinal = t.best
)`,
    `loans as materialized (
  select s.r, s.n, s.weight, s.weight / nullif(s.norm, 0) as loan,
    ${to(1, `case when s.question then ${before.question} else ${before.other} end`)} as behind,
    ${to(2, String(secondBefore))} as second_behind,
    ${to(-1, `case when a.questions[s.r - 1] then ${behind.question} else ${behind.other} end`)} as before,
    ${to(-2, String(secondBehind))} as second_before
  from stands s cross join places a
)`,
  ]
}

function scores (shape: Shape, { normOf, score }: Scorer): string[] {
  const lent = (places: string, share: string) => `select l.r ${places}, l.n, l.${share} * l.loan, 0 from loans l where l.${share} is not null`
  const norm = '(select n.norms from norms n)[h.r]'
  return [
    `norms as materialized (
  select array_agg(n.norm) as norms from (
    select x.r, coalesce(max(x.norm), max(x.mean)) as norm from (
      select s.r, s.norm, null::float8 as mean from stands s union all select c.r, null, ${normOf('c.passage_length')} from candidates c
    ) x group by x.r order by x.r
  ) n
)`,
    `summed as (
  select x.r, x.n, sum(x.weight) as weight, sum(x.own) as own from (
    select l.r, l.n, l.weight, l.weight as own from loans l
    union all ${lent('+ 1', 'behind')}
    union all ${lent('+ 2', 'second_behind')}
    union all ${lent('- 1', 'before')}
    union all ${lent('- 2', 'second_before')}
  ) x group by x.r, x.n
)`,
    `scored as materialized (
  select p.ids[s.r] as memory_id, s.score, s.own from (
    select h.r, ${score('h.weight', norm)} as score, ${score('h.own', norm, ' filter (where h.own > 0)')} as own from summed h group by h.r
  ) s cross join places p
)`,
    `passing as materialized (
  select s.memory_id, s.score, s.own from scored s ${filteredMemories(shape, 's')} where s.score > 0
)`,
    `lexical as materialized (
  select s.memory_id, s.score, s.own from passing s order by s.score desc, s.memory_id limit ${shape.most}
)`,
  ]
}

const SHOWN = `shown as materialized (
  select p.memory_id, (array_agg(p.ordinal::float8 order by p.score desc, p.ordinal))[1:${MAX_PASSAGES}]
    || (array_agg(p.score::float8 / ${GRID} order by p.score desc, p.ordinal))[1:${MAX_PASSAGES}] as passages
  from (
    select distinct t.memory_id, t.ordinal, t.score from ranked t where t.score > 0 and (t.memory_id in (select l.memory_id from lexical l)) is true
  ) p group by p.memory_id
)`

/**
 * What the words say of the memories that the other strategy found: of a candidate with its context, which may be all
 * there is to say, and of any other by itself. The form of the condition makes it one look into a hash for each.
 */
function alsoLexical (context: boolean): string {
  const among = '(coalesce(f.memory_id, k.memory_id) in (select s.memory_id from semantic s)) is true'
  return context
    ? `also_lexical as materialized (
  select coalesce(f.memory_id, k.memory_id) as memory_id, coalesce(k.score, f.score) as score, f.score as own
  from found f full join scored k on k.memory_id = f.memory_id where ${among}
)`
    : `also_lexical as materialized (
  select f.memory_id, f.score, f.score as own from found f where (f.memory_id in (select s.memory_id from semantic s)) is true
)`
}
