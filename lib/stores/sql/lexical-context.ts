import { DAY_MS } from '../../time/days.js'
import {
  ASSISTANTS, MIN_NOTES, NEIGHBOUR_WEIGHTS, NOTES_QUESTIONS, WINDOW_REACH, WITHOUT_DOCUMENT, WITHOUT_OWN_TERMS,
} from '../context.js'
import type { Parameters } from './fragments.js'
import { filteredMemories, type Shape } from './search-shape.js'

/** Generates the SQL of scores. */
export interface Scorer {
  /** How many times as long the pivot is for a pool of notes or articles; undefined when it is the same. */
  notesRatio: string | undefined
  /** The length normalization of a length. */
  normOf: (length: string) => string
  /**
   * The score of a group of rows `h` with a term number `n`.
   * @param more follows the sum over the group
   * @param factor of the score
   */
  score: (weight: string, norm: string, more?: string, factor?: string) => string
}

/**
 * Whether any hit is in a passage other than its memory's first. If not, choosing the best passage of each memory is
 * skipped.
 */
export const HAS_SEVERAL_PASSAGES = '(select q.several from query q)'

/**
 * The common table expressions of the context: steps 3 to 7 of lib/stores/context.ts.
 * @param pool a query of the pool's memory ids
 */
export function lexicalContext (shape: Shape, scorer: Scorer, pool: string): string[] {
  return [
    `pool as materialized (\n  ${pool}\n)`, ...candidates(shape, scorer), ...contributions(scorer),
    ...scores(shape, scorer),
  ]
}

/** The members of the pool and of their windows, numbered in the order of their sequences. */
function candidates ({ schema, unexpired, parameters }: Shape, { notesRatio }: Scorer): string[] {
  const columns = (alias: string) => (
    `${alias}.memory_id, ${alias}.place, coalesce(${alias}.question, false) as question, ${alias}.passage_length`
  )
  const beside = (alias: string, comparison: '<' | '>', sequence: string) => {
    const direction = comparison === '<' ? ' desc' : ''
    return `(select ${columns(alias)} from ${schema}.memories ${alias}
      where ${alias}.bank_key = $1
        and ${sequence} and (${alias}.place,
          ${alias}.memory_id) ${comparison} (c.place, c.memory_id) and ${unexpired(alias)}
      order by ${alias}.place${direction}, ${alias}.memory_id${direction} limit ${WINDOW_REACH})`
  }
  const ofDocument = (alias: string) => `${alias}.document_id = c.document_id`
  const ofDay = (alias: string, bound: string) => `${alias}.document_id is null and ${alias}.place ${bound}`
  return [
    `members as materialized (
  select c.*, case when c.document_id is null then floor(c.place / ${DAY_MS}.0)::bigint end as day
  from pool p cross join lateral (
    select m.document_id, ${columns('m')}${notesRatio === undefined ? '' : `, ${isAssistants('m', parameters)}`}
    from ${schema}.memories m where m.bank_key = $1 and m.memory_id = p.memory_id offset 0
  ) c
)`,
    ...(notesRatio === undefined
      ? []
      : [`notes as materialized (
  select case when count(*) >= ${MIN_NOTES} and 100 * count(*) filter (where c.question) < ${NOTES_QUESTIONS} * count(*)
    and not bool_or(c.assistant) then ${notesRatio} else 1 end as ratio from members c
)`]),
    // The sequences of memories without a document have negative numbers.
    `candidates as materialized (
  select (row_number() over places)::int as r,
    (dense_rank() over sequences * case when a.document_id is null then -1 else 1 end)::int as document,
    a.memory_id, a.question, a.passage_length, a.pooled
  from (
    select distinct on (a.document_id, a.day, a.place, a.memory_id) a.* from (
      select c.document_id, ${columns('c')}, c.day, true as pooled from members c
      union all
      select c.document_id, n.*, c.day, false from members c cross join lateral (
        ${beside('b', '<', ofDocument('b'))}
        union all
        ${beside('f', '>', ofDocument('f'))}
      ) n where c.document_id is not null
      union all
      select c.document_id, n.*, c.day, false from members c cross join lateral (
        ${beside('b', '<', ofDay('b', `>= c.day * ${DAY_MS}`))}
        union all
        ${beside('f', '>', ofDay('f', `< (c.day + 1) * ${DAY_MS}`))}
      ) n where c.document_id is null
    ) a
    order by a.document_id, a.day, a.place, a.memory_id, a.pooled desc
  ) a window sequences as (order by a.document_id, a.day),
    places as (order by a.document_id, a.day, a.place, a.memory_id)
)`,
    `places as materialized (
  select array_agg(c.memory_id) as ids, array_agg(c.document) as documents, array_agg(c.question) as questions,
    array_agg(c.pooled) as pooled
  from (select c.* from candidates c order by c.r) c
)`,
  ]
}

/** A column: whether the metadata state that an assistant said the memory, as `isAssistants` in context.ts. */
function isAssistants (alias: string, parameters: Parameters): string {
  const stated = `coalesce(${alias}.metadata->>'speaker', ${alias}.metadata->>'role')`
  return `coalesce(lower(${stated} collate "C") = any(${parameters.bind(ASSISTANTS)}::text[]), false) as assistant`
}

/** The norm of a passage or a memory in the score of a candidate. */
function inNotes (norm: string, { notesRatio }: Scorer): string {
  return notesRatio === undefined ? norm : `greatest(1, ${norm} / (select n.ratio from notes n))`
}

/**
 * The weights of each candidate's terms, and what these add to the candidates one and two places before and after it.
 * The numbers of candidates stand for places in the sequence: two candidates with adjacent numbers that are not
 * adjacent in the sequence have no window in common, so the test for a common window excludes them.
 */
function contributions (scorer: Scorer): string[] {
  const { score } = scorer
  const norm = inNotes('t.norm', scorer)
  const { before, after, secondBefore, secondAfter } = NEIGHBOUR_WEIGHTS
  const to = (places: number, weight: string) => {
    const pooled = [-2, -1, 0, 1, 2].filter((at) => Math.abs(at - places) <= WINDOW_REACH)
      .map((at) => at === 0 ? 's.pooled' : `a.pooled[s.r + ${at}]`).join(' or ')
    return `case when a.documents[s.r + ${places}] = s.document and (${pooled}) then ${weight} end::float8`
  }
  return [
    // The condition keeps the planner from making this an inner join, for which it could choose nested loops.
    `touched as materialized (
  select c.r, c.memory_id, c.document, c.question, c.pooled, h.n, h.ordinal, h.weight, h.norm
  from hits h full join candidates c on c.memory_id = h.memory_id where coalesce(c.r, 0) > 0 and coalesce(h.n, 0) > 0
)`,
    `ranked as materialized (
  select h.*, ${score('h.weight', 'h.norm', ' over (partition by h.r, h.ordinal)')} as score from touched h
    where ${HAS_SEVERAL_PASSAGES}
)`,
    `best_passages as materialized (
  select t.r, t.document, t.question, t.pooled, t.n, t.weight, ${norm} as norm from touched t
    where not ${HAS_SEVERAL_PASSAGES}
  union all
  select t.r, t.document, t.question, t.pooled, t.n, t.weight, ${norm} from (
    select t.*, first_value(t.ordinal) over (partition by t.r order by t.score desc, t.ordinal) as best from ranked t
  ) t where t.ordinal = t.best
)`,
    `contributions as materialized (
  select s.r, s.document, s.n, s.question, s.weight,
    s.weight * case when s.document < 0 then ${WITHOUT_DOCUMENT} else 1 end /
      nullif(s.norm, 0) as contribution,
    ${to(1, `case when s.question then ${before.question} else ${before.other} end`)} as after,
    ${to(2, String(secondBefore))} as second_after,
    ${to(-1, `case when a.questions[s.r - 1] then ${after.question} else ${after.other} end`)} as before,
    ${to(-2, String(secondAfter))} as second_before
  from best_passages s cross join places a
)`,
  ]
}

/** The scores of the candidates, and the best of those that pass the filters. */
function scores (shape: Shape, scorer: Scorer): string[] {
  const { normOf, score } = scorer
  const added = (places: string, weight: string, isAnswer = 'false') => (
    `select l.r ${places}, l.document, l.n, l.${weight} * l.contribution, 0, ${isAnswer} from contributions l
      where l.${weight} is not null`
  )
  const norm = '(select n.norms from norms n)[h.r]'
  const factor = `case when bool_or(h.own > 0 or h.is_answer) then 1 else ${WITHOUT_OWN_TERMS} end::float8`
  return [
    `norms as materialized (
  select array_agg(n.norm) as norms from (
    select x.r, coalesce(max(x.norm), max(x.mean)) as norm from (
      select s.r, s.norm, null::float8 as mean from best_passages s union all select c.r, null,
        ${inNotes(normOf('c.passage_length'), scorer)} from candidates c
    ) x group by x.r order by x.r
  ) n
)`,
    // Two neighbours are in one sequence, so what they add has the number of its document.
    `summed as (
  select x.r, x.document, x.n, sum(x.own) as own, bool_or(x.is_answer) as is_answer,
    case when x.document < 0 and sum(x.own) > 0 then sum(x.own) else sum(x.weight) end as weight
  from (
    select l.r, l.document, l.n, l.weight, l.weight as own, false as is_answer from contributions l
    union all ${added('+ 1', 'after', 'l.question')}
    union all ${added('+ 2', 'second_after')}
    union all ${added('- 1', 'before')}
    union all ${added('- 2', 'second_before')}
  ) x group by x.r, x.document, x.n
)`,
    `scored as materialized (
  select p.ids[s.r] as memory_id, s.score, s.own, s.own > 0 or s.is_answer or s.document > 0 as is_found from (
    select h.r, h.document, ${score('h.weight', norm, '', factor)} as score, bool_or(h.is_answer) as is_answer,
      ${score('h.own', norm, ' filter (where h.own > 0)')} as own from summed h group by h.r, h.document
  ) s cross join places p
)`,
    `passing as materialized (
  select s.memory_id, s.score, s.own from scored s ${filteredMemories(shape, 's')} where s.score > 0 and s.is_found
)`,
    `lexical as materialized (
  select s.memory_id, s.score, s.own from passing s order by s.score desc, s.memory_id limit ${shape.limit}
)`,
  ]
}
