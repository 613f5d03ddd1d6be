import { SCORE_GRID } from '../context.js'
import { MAX_PASSAGES } from '../vector-store.js'
import type { Parameters } from './fragments.js'

/**
 * SCORE_GRID in SQL. Scores are rounded to multiples of 1 / GRID, so that equally relevant memories tie, whatever the
 * order in which their terms were summed.
 */
export const GRID = SCORE_GRID.toExponential()

/** Data shared by the parts of a search statement. */
export interface Shape {
  /** Quoted. */
  schema: string
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

/**
 * The ordinals of the best passages of a memory, followed by as many scores.
 * @param passages a query of `ordinal` and `score`
 */
export function bestPassages (passages: string): string {
  const order = 'order by s.score desc, s.ordinal'
  return `select (array_agg(s.ordinal::float8 ${order}))[1:${MAX_PASSAGES}] ||
    (array_agg(s.score ${order}))[1:${MAX_PASSAGES}] from (${passages}) s`
}

/** Restricts the rows of `alias` to those whose memory passes the filters. */
export function filteredMemories ({ schema, filters }: Pick<Shape, 'schema' | 'filters'>, alias: string): string {
  return filters === ''
    ? ''
    : `cross join lateral (
    select from ${schema}.memories m where ${ofBank('m')} and m.memory_id = ${alias}.memory_id${filters} offset 0
  ) passing`
}
