import { DAY_MS } from '../../time/days.js'
import { ASSISTANTS, poolSize, WINDOW_REACH } from '../context.js'
import {
  addMatch, lexicalScores, QueryWeights, type LexicalScores, type MatchedPassage, type Member, type Window,
} from '../lexical-scores.js'
import type { LexicalRequest } from '../vector-store.js'
import { arrayElements, arrayNumbers } from './arrays.js'
import { filteredMemories, GRID, ofBank, type Shape } from './search-shape.js'
import { indexTerm } from './terms.js'

/** To look up a memory by its id takes several times as long as to read an id of a document. */
const MAX_IDS_PER_FOUND = 4

/**
 * The columns of the lexical strategy: what the scores of lib/stores/context.ts depend on. Each array is text in
 * PostgreSQL's syntax, and those of a group are parallel.
 */
export interface LexicalRow {
  passages: number
  mean_length: number
  /** By term of the query. */
  frequencies: string
  /** The pool. */
  pool_ids: string
  /** 0 for members without a document, 1 for others. Null without context, as the other columns of the context. */
  pool_documents: string | null
  pool_places: string | null
  pool_questions: string | null
  pool_lengths: string | null
  pool_assistants: string | null
  /** For each neighbour of a member of the pool: the number of the member, from 1. */
  near_of: string | null
  near_ids: string | null
  near_places: string | null
  near_questions: string | null
  near_lengths: string | null
  /** Postings of the pool, of the neighbours, and of the memories of the semantic strategy, by term. */
  match_ids: string
  match_terms: string
  match_ordinals: string
  match_lengths: string
  match_counts: string
  /** The memories of the pool and its neighbours that pass the filters; null when there are none. */
  passing_ids: string | null
}

/**
 * Retrieves the pool of the lexical strategy, its windows, and the postings of the query's terms in them; the best of
 * them are then chosen by `scoreRow`. Its tables: `found` has every memory with a term of the query and its own score, a
 * whole multiple of 1 / GRID, and `matching` those that pass the filters.
 *
 * The postings of a search are read once, into `hits`. The planner cannot estimate how many rows `hits` has, so no join
 * with it may permit nested loops: weights of terms are looked up in an array, and members in a hashed subplan.
 * @param both whether there is a table `semantic`, whose memories are scored too
 */
export function lexicalTables (shape: Shape, request: LexicalRequest, both: boolean): string {
  return [
    ...hits(shape, request),
    ...(shape.filters === ''
      ? []
      : shape.ofDocuments ? matchingOfDocuments(shape) : [`matching as materialized (\n  ${lookedUp(shape)}\n)`]),
    `pool as materialized (
  select p.memory_id, row_number() over () as r from (${poolOf(shape)}) p
)`,
    ...(request.context ? windows(shape, request) : []),
    `wanted as materialized (
  select p.memory_id from pool p${request.context ? '\n  union all select n.memory_id from near n' : ''}${both
    ? '\n  union all select s.memory_id from semantic s'
    : ''}
)`,
    `matches as (
  select h.memory_id, h.n, h.ordinal, h.length, h.weight from hits h
  where (h.memory_id in (select w.memory_id from wanted w)) is true order by h.n
)`,
  ].join(',\n')
}

/** The query for the memories that pass the filters and have a term of the query. */
export function matchingMemories ({ filters }: Pick<Shape, 'filters'>): string {
  return `select f.memory_id from ${filters === '' ? 'found' : 'matching'} f where f.score > 0`
}

/** The columns of LexicalRow, each a scalar or the column of a row in `lexicalRows`. */
export const LEXICAL_COLUMNS = `lexical_size.*, lexical_frequencies.*, lexical_pool.*, lexical_near.*, lexical_matches.*,
  lexical_passing.*`

/** Tables of one row each. */
export function lexicalRows (shape: Shape, request: LexicalRequest): string {
  const columns = (alias: string, prefix: string, names: Record<string, string>) => (
    Object.entries(names).map(([name, value]) => `array_agg(${alias}.${value})::text as ${prefix}_${name}`).join(', ')
  )
  const beside = { places: 'place', questions: 'question', lengths: 'passage_length' }
  const nothing = (prefix: string, names: readonly string[]) => (
    `(select ${names.map((name) => `null::text as ${prefix}_${name}`).join(', ')})`
  )
  return [
    '(select s.passages, s.mean_length from size s) lexical_size',
    `(select array_agg(coalesce(f.frequency, 0) order by t.n)::text as frequencies
    from terms t left join frequencies f on f.n = t.n) lexical_frequencies`,
    request.context
      ? `(select ${columns('m', 'pool', { ids: 'memory_id', documents: 'document', ...beside, assistants: 'assistant' })}
    from members m) lexical_pool`
      : `(select array_agg(p.memory_id order by p.r)::text as pool_ids, ${
        ['documents', ...Object.keys(beside), 'assistants'].map((name) => `null::text as pool_${name}`).join(', ')
      } from pool p) lexical_pool`,
    request.context
      ? `(select ${columns('n', 'near', { of: 'r', ids: 'memory_id', ...beside })} from near n) lexical_near`
      : `${nothing('near', ['of', 'ids', ...Object.keys(beside)])} lexical_near`,
    `(select ${columns('h', 'match', {
      ids: 'memory_id', terms: 'n', ordinals: 'ordinal', lengths: 'length', counts: 'weight',
    })} from matches h) lexical_matches`,
    shape.filters === ''
      ? '(select null::text as passing_ids) lexical_passing'
      : `(select coalesce(array_agg(w.memory_id), '{}')::text as passing_ids
    from (select distinct w.memory_id from wanted w) w ${filteredMemories(shape, 'w')}) lexical_passing`,
  ].join('\ncross join ')
}

/** The length normalization of the pool's own scores. */
function normOf ({ parameters }: Shape, { length }: LexicalRequest): string {
  return 'pivot' in length
    ? `greatest(1, h.length / ${parameters.bind(length.pivot)}::float8)`
    : `(1 - ${parameters.bind(length.b)}::float8 + ${parameters.bind(length.b)}::float8 *
      coalesce(h.length / nullif((select s.mean_length from size s), 0), 0))`
}

/**
 * The postings of the query's terms, the weight of each term, its share of the highest score that the query can reach,
 * and the own scores. Expired memories are in no count, even before they are removed.
 */
function hits (shape: Shape, request: LexicalRequest): string[] {
  const { schema, parameters, unexpired, now } = shape
  const saturation = `${parameters.bind(request.k1)}::float8 * ${normOf(shape, request)}`
  const score = `round(least(1, sum((select q.shares from query q)[h.n] * h.weight / (h.weight + ${saturation}))) *
    ${GRID})::bigint as score`
  return [
    `terms as materialized (
  select t.n::int as n, t.term
  from unnest(${parameters.bind(request.terms.map(indexTerm))}::text[]) with ordinality as t(term, n)
)`,
    `counted as materialized (
  select sum(s.passages)::float8 as passages, sum(s.length) as length, sum(s.expiring) > 0 as expiring
  from ${schema}.bank_statistics s where ${ofBank('s')}
)`,
    `size as materialized (
  select s.passages, coalesce(s.length / nullif(s.passages, 0), 0) as mean_length from (
    select coalesce(c.passages, 0) - coalesce(e.passages, 0) as passages, c.length - coalesce(e.length, 0) as length
    from counted c left join lateral (
      select sum(cardinality(m.passage_starts)) as passages, sum(m.passages_length) as length
      from ${schema}.memories m where ${ofBank('m')} and c.expiring and m.expires_at <= ${now}
    ) e on true
  ) s
)`,
    `hits as materialized (
  select t.n, o.memory_id, o.ordinal, o.weight, o.length from terms t cross join lateral (
    select p.memory_id, p.ordinal, p.weight::float8 as weight, p.length::float8 as length
    from ${schema}.postings p where ${ofBank('p')} and p.term = t.term and ${unexpired('p')} offset 0
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
    // Passages are told apart only if a hit is in one other than its memory's first.
    `found as materialized (
  select h.memory_id, ${score} from hits h where not (select q.several from query q) group by h.memory_id
  union all
  select p.memory_id, max(p.score) as score from (
    select h.memory_id, ${score} from hits h where (select q.several from query q) group by h.memory_id, h.ordinal
  ) p group by p.memory_id
)`,
  ]
}

/** The memories of `found` that pass the filters, each looked up by its id. */
function lookedUp (shape: Shape): string {
  return `select f.memory_id, f.score from found f ${filteredMemories(shape, 'f')}`
}

/**
 * The same for filters that name documents. To read the ids of a document and join them with `found` takes much less
 * time than to look up each memory of `found`, unless the document has many times as many memories: the reading of the
 * ids ends there. A full join permits no nested loops.
 */
function matchingOfDocuments (shape: Shape): string[] {
  return [
    `bound as materialized (\n  select ${MAX_IDS_PER_FOUND} * count(*) as ids from found\n)`,
    `ids as materialized (
  select m.memory_id from ${shape.schema}.memories m where ${ofBank('m')}${shape.filters}
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

/** The query for the pool: step 3. */
function poolOf ({ filters, parameters, limit }: Shape): string {
  const size = `${parameters.bind(poolSize(limit))}::int`
  const best = (of: string) => (
    `(select f.memory_id from ${of} f where f.score > 0 order by f.score desc, f.memory_id limit ${size})`
  )
  return [best('found'), ...(filters === '' ? [] : [best('matching')])].join('\n  union ')
}

/**
 * The pool with its places, and the memories before and after each member. Tables are reached through
 * `lateral (… offset 0)` where a key is known row by row: the planner then looks the key up instead of joining by a scan
 * of the whole bank, which the statistics of a new or fast-growing table would suggest.
 */
function windows ({ schema, parameters, unexpired }: Shape, { length }: LexicalRequest): string[] {
  const columns = (alias: string) => (
    `${alias}.memory_id, ${alias}.place, coalesce(${alias}.question, false)::int as question, ${alias}.passage_length`
  )
  const stated = "coalesce(m.metadata->>'speaker', m.metadata->>'role')"
  const assistant = 'pivot' in length && length.notesPivot !== undefined
    ? `coalesce(lower(${stated} collate "C") = any(${parameters.bind(ASSISTANTS)}::text[]), false)::int`
    : '0'
  const beside = (comparison: '<' | '>', sequence: string) => {
    const direction = comparison === '<' ? ' desc' : ''
    return `(select ${columns('b')} from ${schema}.memories b
      where ${ofBank('b')} and ${sequence} and (b.place, b.memory_id) ${comparison} (c.place, c.memory_id)
        and ${unexpired('b')}
      order by b.place${direction}, b.memory_id${direction} limit ${WINDOW_REACH})`
  }
  const ofDay = (bound: string) => `b.document_id is null and b.place ${bound}`
  return [
    `members as materialized (
  select p.r, c.* from pool p cross join lateral (
    select m.document_id, (m.document_id is not null)::int as document, ${columns('m')}, ${assistant} as assistant,
      floor(m.place / ${DAY_MS}.0)::bigint as day
    from ${schema}.memories m where ${ofBank('m')} and m.memory_id = p.memory_id offset 0
  ) c order by p.r
)`,
    `near as materialized (
  select c.r, n.* from members c cross join lateral (
    ${beside('<', 'b.document_id = c.document_id')}
    union all
    ${beside('>', 'b.document_id = c.document_id')}
  ) n where c.document_id is not null
  union all
  select c.r, n.* from members c cross join lateral (
    ${beside('<', ofDay(`>= c.day * ${DAY_MS}`))}
    union all
    ${beside('>', ofDay(`< (c.day + 1) * ${DAY_MS}`))}
  ) n where c.document_id is null
)`,
  ]
}

interface SqlMember extends Member {
  readonly memory: { readonly memoryId: string }
  readonly place: number
  readonly passages: MatchedPassage[]
}

/** Scores what a search has retrieved. */
export function scoreRow (
  row: LexicalRow, request: LexicalRequest, limit: number,
): LexicalScores<SqlMember> & { memberOf (memoryId: string): SqlMember | undefined } {
  const query = new QueryWeights(
    { passages: row.passages, meanLength: row.mean_length, frequencies: numbers(row.frequencies) }, request,
  )
  const passing = row.passing_ids === null ? undefined : new Set(ids(row.passing_ids))
  const members = new Map<string, SqlMember>()
  const toMember = (memoryId: string, more: Omit<SqlMember, 'memory' | 'passages' | 'passes'>) => {
    const known = members.get(memoryId)
    if (known !== undefined) return known
    const member = { memory: { memoryId }, passages: [], passes: passing?.has(memoryId) ?? true, ...more }
    members.set(memoryId, member)
    return member
  }

  const [documents, places, questions, lengths, assistants] =
    [row.pool_documents, row.pool_places, row.pool_questions, row.pool_lengths, row.pool_assistants].map(numbers)
  const pool = ids(row.pool_ids).map((memoryId, at) => toMember(memoryId, {
    hasDocument: documents![at] === 1,
    isQuestion: questions![at] === 1,
    isAssistant: assistants![at] === 1,
    meanLength: lengths![at] ?? 0,
    place: places![at] ?? 0,
  }))
  const near = pool.map((): SqlMember[] => [])
  const [nearOf, nearPlaces, nearQuestions, nearLengths] =
    [row.near_of, row.near_places, row.near_questions, row.near_lengths].map(numbers)
  for (const [at, memoryId] of ids(row.near_ids).entries()) {
    const of = nearOf![at]! - 1
    near[of]!.push(toMember(memoryId, {
      hasDocument: pool[of]!.hasDocument,
      isQuestion: nearQuestions![at] === 1,
      isAssistant: false,
      meanLength: nearLengths![at]!,
      place: nearPlaces![at]!,
    }))
  }
  const [terms, ordinals, matchLengths, counts] =
    [row.match_terms, row.match_ordinals, row.match_lengths, row.match_counts].map(numbers)
  for (const [at, memoryId] of ids(row.match_ids).entries()) {
    // Not yet known is a memory that only the semantic strategy found: only its own score matters.
    const { passages } = toMember(memoryId, {
      hasDocument: false, isQuestion: false, isAssistant: false, meanLength: 0, place: 0,
    })
    addMatch(passages, ordinals![at]!, matchLengths![at]!, terms![at]! - 1, counts![at]!)
  }
  const windows = request.context ? pool.map((member, at) => windowOf(member, near[at]!)) : []
  const scores = lexicalScores(query, request, pool, windows, limit)
  return { ...scores, memberOf: (memoryId) => members.get(memoryId) }
}

function windowOf (member: SqlMember, near: SqlMember[]): Window<SqlMember> {
  const sorted = [...near, member].sort(inSequence)
  const middle = sorted.indexOf(member)
  return Array.from({ length: 2 * WINDOW_REACH + 1 }, (_, at) => sorted[middle + at - WINDOW_REACH])
}

function inSequence (a: SqlMember, b: SqlMember): number {
  return a.place - b.place || (a.memory.memoryId < b.memory.memoryId ? -1 : 1)
}

function ids (text: string | null): string[] {
  return text === null ? [] : arrayElements(text).filter((id) => id !== null)
}

function numbers (text: string | null): number[] {
  return text === null ? [] : arrayNumbers(text).map((number) => number ?? 0)
}
