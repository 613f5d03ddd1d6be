/*
 * The ranges of the numbers in requests. They import nothing, so that the command line can state them without loading
 * the schemas.
 */

/** The range into which a number of a request is moved, and its value when the request leaves it out. */
export interface RequestRange {
  readonly min: number
  readonly max: number
  readonly default: number
}

/** The size of the pages of a list. */
export const PAGE_SIZE: RequestRange = { min: 1, max: 200, default: 50 }
/** The number of hits of a recall. */
export const RESULTS: RequestRange = { min: 1, max: 1000, default: 10 }
export const GROWTH_DAYS: RequestRange = { min: 1, max: 366, default: 30 }
/** The number of neighbours of a memory, on each side of it. */
export const NEIGHBOURS: RequestRange = { min: 0, max: 50, default: 5 }
