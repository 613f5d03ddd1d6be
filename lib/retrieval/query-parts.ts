import { contentStems } from '../text/analysis.js'

/** Parts that a question is split into at most; a longer list is one question. */
const MAX_PARTS = 3
/** Characters up to which a question is split. */
const MAX_CHARACTERS = 500

const NAME = String.raw`\p{Lu}[\p{L}\p{M}'’-]*`
/** `Ann and Bob`, `Ann, Bob and Cy`: names that something is asked of together. */
const NAMES = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:both\s+)?(${NAME}(?:,\s+${NAME})*),?\s+(?:and|or)\s+(${NAME})(?=[\s?.!,]|['’]s\b|$)`, 'u')
/** `When … after the move`: asked is the time of one event, by that of another. Splitting other questions there takes apart what belongs together. */
const ANCHORED = /^(when\b.*\S)\s+(?:before|after|while|during|since)\s+(\S.*?)[?.!]*$/iu
/** Words on either side at least: `the day after` is no question by itself. */
const MIN_WORDS = 2

/**
 * The simpler questions that a question is made of, by its form alone: one for each of several names (`What do Ann and Bob like?`), and for the
 * time of an event that is placed by another one, the event and the other (`When did Ann buy it after the move?`).
 * @returns none for a question that is one already
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
  return isQuestion(main!) && isQuestion(anchor!) ? [main!, anchor!] : []
}

function isQuestion (text: string): boolean {
  return (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= MIN_WORDS && hasContentWords(text)
}

/** What says nothing but stop words (`What did I do?`) would find whatever has these. */
function hasContentWords (text: string): boolean {
  return contentStems(text).length > 0
}
