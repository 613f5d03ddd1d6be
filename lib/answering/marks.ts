/** The whole answer of a model when the evidence does not answer the query. */
export const NO_ANSWER = 'NO_ANSWER'

/** Maximum length of a mark's content that is parsed; a single number may be longer. */
const MAX_LIST_CHARACTERS = 200
const MAX_DIGITS = 9
const FIRST_YEAR = 1000
const LAST_YEAR = 2100

const LABEL = /^(?:sources?|evidence|memor(?:y|ies)|references?|refs?\.?|citations?|quellen?|fuentes?)\s*[:#]?\s*/i
const BETWEEN = /[,;&+]|\s(?:and|und|et|y)\s/i
const ITEM = /^[\^#]?(\d+)(?:\s*[-\u2013\u2014]\s*[\^#]?(\d+))?$/

export interface Mark {
  /** The numbers of existing sources, in the order of the mark, each once. */
  cited: number[]
  /** Whether it names a source that does not exist. */
  hasUnknownSource: boolean
  /** Whether it is a year rather than a mark. */
  isYear: boolean
}

/**
 * Reads the inside of a pair of square brackets: `3`, `1, 2`, `1-3`, `^2`, `source 2`, `Sources: 1 and 2`, `1†name`.
 *
 * Every number in square brackets is a mark, even directly after a word (`Lyon[1]`), with one exception: a single
 * number or range from 1000 to 2100 that names no source is a year. Dates, times and decimals (`2019-05-04`, `12:30`,
 * `1.5`) are not marks.
 * @returns undefined when it is not a mark
 */
export function readMark (inside: string, sources: number): Mark | undefined {
  const text = inside.length > MAX_LIST_CHARACTERS ? inside : inside.trim().replace(LABEL, '').replace(/†.*$/u, '')
  if (text.length > MAX_LIST_CHARACTERS) {
    return /^\d+$/.test(text) ? { cited: [], hasUnknownSource: true, isYear: false } : undefined
  }
  const spans: Array<[first: number, last: number]> = []
  for (const part of text.split(BETWEEN)) {
    const item = ITEM.exec(part.trim().replace(LABEL, ''))
    if (item === null) return undefined
    const first = numberOf(item[1]!)
    spans.push([first, item[2] === undefined ? first : numberOf(item[2])])
  }
  const [only] = spans
  const mayBeYear = (number: number) => number >= FIRST_YEAR && number <= LAST_YEAR && number > sources
  if (spans.length === 1 && only!.every(mayBeYear)) return { cited: [], hasUnknownSource: false, isYear: true }
  const cited = new Set<number>()
  let hasUnknownSource = false
  for (const span of spans) {
    const [low, high] = [Math.min(...span), Math.max(...span)]
    hasUnknownSource ||= low < 1 || high > sources
    for (let number = Math.max(low, 1); number <= Math.min(high, sources); number++) cited.add(number)
  }
  return { cited: [...cited], hasUnknownSource, isYear: false }
}

function numberOf (digits: string): number {
  return digits.length > MAX_DIGITS ? Infinity : Number(digits)
}
