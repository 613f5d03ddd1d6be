import type { Parameters } from './fragments.js'

/**
 * Scores are rounded to 1 over it (SCORE_GRID), so that memories of equal worth tie whatever the order in which their
 * terms were summed.
 */
export const GRID = '1e12'
/** Passages that a candidate names at most. */
export const MAX_PASSAGES = 3

/** What the parts of a search statement share. */
export interface Shape {
  /** Quoted. */
  schema: string
  parameters: Parameters
  /** On `m`; '' when there are none. */
  filters: string
  /** Candidates of a strategy at most. */
  most: string
  /** Whether a row of the table with this alias has not expired. */
  unexpired: (alias: string) => string
  /** The instant of the search. */
  now: string
}

/** One of the strategies of a search statement. */
export interface Strategy {
  name: 'lexical' | 'semantic'
  /** Common table expressions; the last that has the best memories is named like the strategy. */
  parts: string
  /**
   * On `m`, of a memory of several passages that the strategy has among its best: ordinals of the passages to show,
   * then as many scores.
   */
  passages: string
  /** Of the semantic strategy: a query of `ordinal` and `score`, the cosines of all passages of `m`. */
  cosines?: string
}

/** Whether a row of the table with this alias has not expired at the instant. */
export function liveAt (alias: string, instant: string): string {
  return `(${alias}.expires_at is null or ${alias}.expires_at > ${instant})`
}

/** The passages of `m` to show. @param passages a query of `ordinal` and `score` */
export function bestPassages (passages: string): string {
  const order = 'order by s.score desc, s.ordinal'
  return `select (array_agg(s.ordinal::float8 ${order}))[1:${MAX_PASSAGES}] || (array_agg(s.score ${order}))[1:${MAX_PASSAGES}] from (${passages}) s`
}

/** Leaves of the rows of `alias` those whose memory passes the filters. */
export function filteredMemories ({ schema, filters }: Pick<Shape, 'schema' | 'filters'>, alias: string): string {
  return filters === ''
    ? ''
    : `cross join lateral (
    select from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = ${alias}.memory_id${filters} offset 0
  ) passing`
}
