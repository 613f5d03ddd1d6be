import { contentStems } from '../text/analysis.js'

/** The most parts that a query is split into; a longer list of names stays one query. */
const MAX_PARTS = 3
/** Longer queries are not split. */
const MAX_CHARACTERS = 500

const NAME = String.raw`\p{Lu}[\p{L}\p{M}'’-]*`
/** A list of names that share one question: `Ann and Bob`, `Ann, Bob and Cy`. */
const NAMES = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:both\s+)?(${NAME}(?:,\s+${NAME})*),?\s+(?:and|or)\s+(${NAME})(?=[\s?.!,]|['’]s\b|$)`, 'u')
/**
 * `When … after the move`: a query for the time of one event relative to another. Other queries lose their sense when
 * split at such a word.
 */
const ANCHORED = /^(when\b.*\S)\s+(?:before|after|while|during|since)\s+(\S.*?)[?.!]*$/iu
/** Words that each part needs: `the day after` is no query by itself. */
const MIN_WORDS = 2

/**
 * Splits a query into simpler ones, by its form alone: one for each of several names (`What do Ann and Bob like?`), and
 * for the time of an event relative to another (`When did Ann buy it after the move?`) one for each event.
 * @returns an empty list for a query that is not split
 */
export function splitQuery (text: string): string[] {
  if (text.length > MAX_CHARACTERS) return []
  const names = NAMES.exec(text)
  if (names !== null) {
    const all = [...names[1]!.split(/,\s+/), names[2]!]
    if (all.length > MAX_PARTS) return []
    const parts = all.map((name) => `${text.slice(0, names.index)}${name}${text.slice(names.index + names[0].length)}`.replace(/\bboth\b\s*/i, ''))
    return parts.every(hasContentWords) ? parts : []
  }
  const anchored = ANCHORED.exec(text)
  if (anchored === null) return []
  const [, main, anchor] = anchored
  return isSearchable(main!) && isSearchable(anchor!) ? [main!, anchor!] : []
}

function isSearchable (text: string): boolean {
  return (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= MIN_WORDS && hasContentWords(text)
}

/** A part of stop words alone (`What did I do?`) would match any text with those words. */
function hasContentWords (text: string): boolean {
  return contentStems(text).length > 0
}
