import { DAY_MS } from '../../base/days.js'
import { ASSISTANTS, poolSize, SCORE_GRID, WINDOW_REACH } from '../context.js'
import {
  HAS_DOCUMENT, IS_ASSISTANT, IS_QUESTION, lexicalScores, Members, NONE, PASSES, QueryWeights, WINDOW_PLACES,
} from '../lexical-scores.js'
import type { LexicalRequest } from '../vector-store.js'
import { arrayElements, arrayNumbers } from './executor.js'
import { indexTerm, type Parameters, type suffixOf } from './fragments.js'

/**
 * SCORE_GRID in SQL. Scores are rounded to multiples of 1 / GRID, so that equally relevant memories tie, whatever the
 * order in which their terms were summed.
 */
export const GRID = SCORE_GRID.toExponential()

/** Data shared by the parts of a search statement. */
export interface Shape {
  /** Quoted. */
  schema: string
  /** How the names of the tables end. */
  past: ReturnType<typeof suffixOf>
  /** That of the other part, whose words count too, when what is past is searched. */
  besides?: ReturnType<typeof suffixOf> | undefined
  parameters: Parameters
  /** Conditions on `m`; '' when there are none. */
  filters: string
  /** Whether the filters name documents, whose memories an index lists. */
  ofDocuments: boolean
  /** Maximum number of candidates of a strategy. */
  limit: number
  /** A condition: the row of the table with this alias has not expired. */
  unexpired: (alias: string) => string
  /** The instant of the search. */
  now: string
}

/** A condition: the row of the table with this alias belongs to the bank. */
export function ofBank (alias: string): string {
  return `${alias}.bank_key = $1`
}

/** Restricts the rows of `alias` to those whose memory passes the filters. */
export function filteredMemories (
  { schema, past, filters }: Pick<Shape, 'schema' | 'past' | 'filters'>, alias: string,
): string {
  return filters === ''
    ? ''
    : `cross join lateral (
    select 1 from ${schema}.memories${past} m
    where ${ofBank('m')} and m.memory_id = ${alias}.memory_id${filters} offset 0
  ) passing`
}

/** To look up a memory by its id takes several times as long as to read an id of a document. */
const MAX_IDS_PER_FOUND = 4

/**
 * The row of the lexical strategy: what the scores of lib/stores/context.ts depend on. Each array is text in
 * PostgreSQL's syntax, and those of a group are parallel.
 */
export interface LexicalRow {
  passages: number
  mean_length: number
  /** By term of the query. */
  frequencies: string
  /**
   * First the pool, then the neighbours of each member, then the memories of the semantic strategy; a memory may be
   * listed several times. The groups are null when there are none.
   */
  member_ids: string | null
  /** Of a neighbour the number of the member of the pool, from 1; 0 of the pool itself, and -1 of other memories. */
  member_windows: string | null
  member_places: string | null
  /** These are 0 or 1. */
  member_documents: string | null
  member_questions: string | null
  member_assistants: string | null
  member_passing: string | null
  /** Mean lengths of their passages. */
  member_lengths: string | null
  /** Postings of the members, by term: the number of the member and of the term, both from 1. */
  match_members: string | null
  match_terms: string | null
  match_ordinals: string | null
  match_lengths: string | null
  match_counts: string | null
}

/**
 * Retrieves the pool of the lexical strategy, its windows, and the postings of the query's terms in them; the best of
 * them are then chosen by `scoreRow`. Its tables: `found` has every memory with a term of the query and its own score,
 * a whole multiple of 1 / GRID, and `matching` those that pass the filters.
 *
 * The postings of a search are read once, into `hits`. The planner cannot estimate how many rows `hits` has, so no join
 * with it may permit nested loops: weights of terms are looked up in an array, and the joins of `hits` are full joins,
 * for which PostgreSQL has only hash and merge joins.
 * @param both whether there is a table `semantic`, whose memories are scored too
 */
export function lexicalTables (shape: Shape, request: LexicalRequest, both: boolean): string {
  return [
    ...hits(shape, request),
    ...(shape.filters === ''
      ? []
      : shape.ofDocuments ? matchingOfDocuments(shape) : [`matching as materialized (\n  ${lookedUp(shape)}\n)`]),
    `pool as materialized (\n  ${poolOf(shape)}\n)`,
    ...(request.context
      ? windows(shape, request)
      : []),
    `members as materialized (
  select row_number() over ()::int as r, a.* from (
    ${[
      request.context
        ? `select 0 as window_of, c.memory_id, c.place, c.document, c.question, c.assistant, c.passage_length
    from pooled c
    union all select n.r, n.memory_id, n.place, n.document, n.question, 0, n.passage_length from near n`
        : 'select 0 as window_of, p.memory_id, 0 as place, 0 as document, 0 as question, 0 as assistant, ' +
          '0 as passage_length from pool p',
      ...(both ? ['select -1, s.memory_id, 0, 0, 0, 0, 0 from semantic s'] : []),
    ].join('\n    union all ')}
  ) a
)`,
  ].join(',\n')
}

/** The query for the memories that pass the filters and have a term of the query. */
export function matchingMemories ({ filters }: Pick<Shape, 'filters'>): string {
  return `select f.memory_id from ${filters === '' ? 'found' : 'matching'} f where f.score > 0`
}

/** The columns of LexicalRow, of the tables of one row in `lexicalRows`. */
export const LEXICAL_COLUMNS = 'lexical_size.*, lexical_frequencies.*, lexical_members.*, lexical_matches.*'

export function lexicalRows (shape: Shape): string {
  const columns = (from: string, prefix: string, names: Record<string, string>) => (
    Object.entries(names).map(([name, value]) => `array_agg(${from}.${value})::text as ${prefix}_${name}`).join(', ')
  )
  const passing = shape.filters === ''
    ? '1'
    : `(select count(*) from ${shape.schema}.memories${shape.past} m
      where ${ofBank('m')} and m.memory_id = n.memory_id${shape.filters})`
  return [
    '(select s.passages, s.mean_length from size s) lexical_size',
    `(select array_agg(coalesce(f.frequency, 0) order by t.n)::text as frequencies
  from terms t left join frequencies f on f.n = t.n) lexical_frequencies`,
    `(select ${columns('n', 'member', {
      ids: 'memory_id',
      windows: 'window_of',
      places: 'place',
      documents: 'document',
      questions: 'question',
      assistants: 'assistant',
      lengths: 'passage_length',
      passing: 'passing',
    })} from (select n.*, ${passing} as passing from members n order by n.r) n) lexical_members`,
    `(select ${columns('h', 'match', {
      members: 'r', terms: 'n', ordinals: 'ordinal', lengths: 'length', counts: 'weight',
    })} from (
    select c.r, h.n, h.ordinal, h.length, h.weight from hits h full join members c on c.memory_id = h.memory_id
    where coalesce(c.r, 0) > 0 and coalesce(h.n, 0) > 0 order by h.n
  ) h) lexical_matches`,
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
  const { schema, past, besides, parameters, unexpired, now } = shape
  const parts = besides === undefined ? [past] : [past, besides]
  const saturation = `${parameters.bind(request.k1)}::float8 * ${normOf(shape, request)}`
  const score = `round(least(1, sum((select q.shares from query q)[h.n] * h.weight / (h.weight + ${saturation}))) *
    ${GRID})::bigint as score`
  return [
    `terms as materialized (
  select t.n::int as n, t.term
  from unnest(${parameters.bind(request.terms.map(indexTerm))}::text[]) with ordinality as t(term, n)
)`,
    `counted as materialized (${besides === undefined
      ? countedOf(schema, past)
      : `
  select sum(c.passages) as passages, sum(c.length) as length, bool_or(c.expiring) as expiring,
    bool_or(c.several) as several
  from (${parts.map((part) => countedOf(schema, part)).join('\n  union all')}) c`}
)`,
    `size as materialized (
  select s.passages, coalesce(s.length / nullif(s.passages, 0), 0) as mean_length, s.several from (
    select coalesce(c.passages, 0) - coalesce(e.passages, 0) as passages, c.length - coalesce(e.length, 0) as length,
      c.several
    from counted c left join lateral (
      select sum(cardinality(m.passage_starts)) as passages, sum(m.passages_length) as length
      from (${parts.map((part) => `select x.passage_starts, x.passages_length from ${schema}.memories${part} x
        where ${ofBank('x')} and c.expiring and x.expires_at <= ${now}`).join(' union all ')}) m
    ) e on true
  ) s
)`,
    `hits as materialized (
  select t.n, o.memory_id, o.ordinal, o.weight, o.length from terms t cross join lateral (
    select p.memory_id, p.ordinal, p.weight::float8 as weight, p.length::float8 as length
    from ${schema}.postings${past} p where ${ofBank('p')} and p.term = t.term and ${unexpired('p')} offset 0
  ) o
)`,
    `frequencies as materialized (
  select h.n, count(*)::float8 as frequency from ${besides === undefined
    ? 'hits h'
    : `(
    select h.n from hits h union all select t.n from terms t cross join lateral (
      select 1 from ${schema}.postings${besides} p
      where ${ofBank('p')} and p.term = t.term and ${unexpired('p')} offset 0
    ) o where exists (select from hits)
  ) h`} group by h.n
)`,
    `weights as materialized (
  select t.n, ln(1 + (greatest(size.passages - coalesce(f.frequency, 0), 0) + 0.5) /
    (coalesce(f.frequency, 0) + 0.5)) as idf
  from terms t cross join size left join frequencies f on f.n = t.n
)`,
    `query as materialized (
  select array_agg(w.idf / w.attainable order by w.n) as shares
  from (select w.n, w.idf, sum(w.idf) over () as attainable from weights w) w
)`,
    // Passages are told apart only if a memory has several.
    `found as materialized (
  select h.memory_id, ${score} from hits h where not (select s.several from size s) group by h.memory_id
  union all
  select p.memory_id, max(p.score) as score from (
    select h.memory_id, ${score} from hits h where (select s.several from size s) group by h.memory_id, h.ordinal
  ) p group by p.memory_id
)`,
  ]
}

/** The number and length of the passages of a part: what is past has no counts of its own. */
function countedOf (schema: string, part: Shape['past']): string {
  return part === ''
    ? `
  select sum(s.passages)::float8 as passages, sum(s.length) as length, sum(s.expiring) > 0 as expiring,
    sum(s.passages) > sum(s.memories) as several
  from ${schema}.bank_statistics s where ${ofBank('s')}`
    : `
  select sum(cardinality(s.passage_starts))::float8 as passages, sum(s.passages_length) as length,
    count(s.expires_at) > 0 as expiring, sum(cardinality(s.passage_starts)) > count(*) as several
  from ${schema}.memories_past s where ${ofBank('s')}`
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
  select m.memory_id from ${shape.schema}.memories${shape.past} m where ${ofBank('m')}${shape.filters}
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
 * The pool with its places, and up to WINDOW_REACH memories before and after each member. Tables are reached through
 * `lateral (… offset 0)` where a key is known row by row: the planner then looks the key up instead of joining by a
 * scan of the whole bank, which the statistics of a new or fast-growing table would suggest.
 */
function windows ({ schema, past, parameters, unexpired }: Shape, { length }: LexicalRequest): string[] {
  const columns = (alias: string) => (
    `${alias}.memory_id, ${alias}.place, coalesce(${alias}.question, false)::int as question, ${alias}.passage_length`
  )
  const stated = "coalesce(m.metadata->>'speaker', m.metadata->>'role')"
  const assistant = 'pivot' in length && length.notesPivot !== undefined
    ? `coalesce(lower(${stated} collate "C") = any(${parameters.bind(ASSISTANTS)}::text[]), false)::int`
    : '0'
  const beside = (comparison: '<' | '>', sequence: string) => {
    const direction = comparison === '<' ? ' desc' : ''
    return `(select ${columns('b')} from ${schema}.memories${past} b
      where ${ofBank('b')} and ${sequence} and (b.place, b.memory_id) ${comparison} (c.place, c.memory_id)
        and ${unexpired('b')}
      order by b.place${direction}, b.memory_id${direction} limit ${WINDOW_REACH})`
  }
  const ofDay = (bound: string) => `b.document_id is null and b.place ${bound}`
  return [
    `pooled as materialized (
  select row_number() over ()::int as r, c.* from pool p cross join lateral (
    select m.document_id, (m.document_id is not null)::int as document, ${columns('m')}, ${assistant} as assistant,
      floor(m.place / ${DAY_MS}.0)::bigint as day
    from ${schema}.memories${past} m where ${ofBank('m')} and m.memory_id = p.memory_id offset 0
  ) c
)`,
    `near as materialized (
  select c.r, c.document, n.* from pooled c cross join lateral (
    ${beside('<', 'b.document_id = c.document_id')}
    union all
    ${beside('>', 'b.document_id = c.document_id')}
  ) n where c.document_id is not null
  union all
  select c.r, c.document, n.* from pooled c cross join lateral (
    ${beside('<', ofDay(`>= c.day * ${DAY_MS}`))}
    union all
    ${beside('>', ofDay(`< (c.day + 1) * ${DAY_MS}`))}
  ) n where c.document_id is null
)`,
  ]
}

interface ScoredRow {
  /** Step 7 of lib/stores/context.ts. */
  readonly best: ReadonlyArray<{
    memoryId: string
    score: number
    own: number
    passages: ReadonlyArray<{ ordinal: number, score: number }>
  }>
  /** The ids of memories that are found only by the terms of their neighbours. */
  readonly byContext: readonly string[]
  /** The scores of any memory that was retrieved. */
  scoresOf (memoryId: string): { score: number, own: number }
}

/**
 * Scores what a search has retrieved.
 * @param needsAll whether also the scores of memories matter that the search does not find
 */
export function scoreRow (row: LexicalRow, request: LexicalRequest, limit: number, needsAll: boolean): ScoredRow {
  const query = new QueryWeights(
    { passages: row.passages, meanLength: row.mean_length, frequencies: numbers(row.frequencies) }, request,
  )
  const ids = row.member_ids === null ? [] : arrayElements(row.member_ids).map(String)
  const [windowsOf, places, documents, questions, assistants, lengths, passing] = [
    row.member_windows, row.member_places, row.member_documents, row.member_questions, row.member_assistants,
    row.member_lengths, row.member_passing,
  ].map(numbers) as [number[], number[], number[], number[], number[], number[], number[]]
  const [matchMembers, terms, ordinals, matchLengths, counts] = [
    row.match_members, row.match_terms, row.match_ordinals, row.match_lengths, row.match_counts,
  ].map(numbers) as [number[], number[], number[], number[], number[]]
  const members = new Members(query.gains.length, ids.length)
  const numberOf = new Map<string, number>()
  // A memory that is listed several times is one member, that of its first place in the list.
  const memberOf = ids.map((id, listed) => {
    const known = numberOf.get(id)
    if (known !== undefined) return known
    const flags = (documents[listed] === 1 ? HAS_DOCUMENT : 0) | (questions[listed] === 1 ? IS_QUESTION : 0) |
      (assistants[listed] === 1 ? IS_ASSISTANT : 0) | (passing[listed] === 1 ? PASSES : 0)
    const number = members.add(flags, lengths[listed]!)
    numberOf.set(id, number)
    return number
  })
  // The list has the postings of a memory at each of its places.
  for (const [at, listed] of matchMembers.entries()) {
    members.addMatch(memberOf[listed - 1]!, ordinals[at]!, matchLengths[at]!, terms[at]! - 1, counts[at]!)
  }
  const isMatch = (listed: number) => members.firsts[memberOf[listed]!] !== NONE

  const inSequence = (a: number, b: number) => places[a]! - places[b]! || (ids[a]! < ids[b]! ? -1 : 1)
  const near: number[][] = []
  for (const [listed, window] of windowsOf.entries()) {
    if (window === 0) near.push([])
    else if (window > 0) near[window - 1]!.push(listed)
  }
  // Without a document only memories matter that have a term of the query or may follow a matching question.
  const windows = new Int32Array(request.context ? near.length * WINDOW_PLACES : 0).fill(NONE)
  for (const [listed, beside] of request.context ? near.entries() : []) {
    const sorted = [...beside, listed].sort(inSequence)
    const from = sorted.indexOf(listed) - WINDOW_REACH
    for (let place = 0; place < WINDOW_PLACES; place++) {
      const number = sorted[from + place]
      if (number === undefined) continue
      const before = sorted[from + place - 1]
      const matters = needsAll || documents[listed] === 1 || isMatch(number) || before === undefined ||
        (questions[before] === 1 && isMatch(before))
      if (matters) windows[listed * WINDOW_PLACES + place] = memberOf[number]!
    }
  }
  const pool = near.map((_, listed) => memberOf[listed]!)
  const uniqueIds = [...numberOf.keys()]
  const scores = lexicalScores(
    query, request, members, pool, windows, limit, (a, b) => (uniqueIds[a]! < uniqueIds[b]! ? -1 : 1),
  )
  return {
    best: scores.best.map(({ member, score, own }) => (
      { memoryId: uniqueIds[member]!, score, own, passages: scores.passagesOf(member) }
    )),
    byContext: scores.byContext.map((member) => uniqueIds[member]!),
    scoresOf (memoryId) {
      const number = numberOf.get(memoryId)
      return number === undefined ? { score: 0, own: 0 } : scores.scoresOf(number)
    },
  }
}

function numbers (text: string | null): number[] {
  return text === null ? [] : arrayNumbers(text).map((number) => number ?? 0)
}
