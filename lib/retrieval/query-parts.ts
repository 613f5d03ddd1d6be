import { contentStems } from '../text/analysis.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { analyzeQuery, type AnalyzedQuery } from './query.js'
import { namesTimesOnly } from './query-words.js'
import type { RetrievalRequest } from './request.js'

/** The most parts that a query is split into; a longer list of names stays one query. */
const MAX_PARTS = 3
/** Longer queries are not split. */
const MAX_SPLIT_CHARACTERS = 500

const NAME_WORD = String.raw`\p{Lu}[\p{L}\p{M}'’-]*`
const NAME = String.raw`${NAME_WORD}(?:\s+${NAME_WORD})*`
/** A list of names that share one question: `Ann and Bob Jones`, `Ann, Bob and Cy`. */
const NAMES = new RegExp([
  String.raw`(?<![\p{L}\p{N}_])(?:both\s+)?(${NAME}(?:,\s+${NAME})*),?`,
  String.raw`\s+(?:and|or)\s+(${NAME})(?=[\s?.!,]|['’]s\b|$)`,
].join(''), 'u')
/**
 * `When … after the move`: a query for the time of one event relative to another. Other queries lose their sense when
 * split at such a word.
 */
const RELATIVE_TIME = /^(when\b.*\S)\s+(?:before|after|while|during|since)\s+(\S.*?)[?.!]*$/iu
/** Words that each part needs: `the day after` is no query by itself. */
const MIN_WORDS = 2

/** `between the flood and the fire`: the second of two events begins with such a word, if any does. */
const BETWEEN = /\bbetween\s+(\S.*?)[?.!]*$/iu
const SECOND_EVENT = /^(.+?),?\s+and\s+((?:when|since|the|my|our|his|her|their|an?|i|we)\b.+)$/iu
const SECOND = /^(.+?),?\s+and\s+(.+)$/iu
/** `Which opened first, the mill or the bridge?` */
const CHOICE = /^\s*(?:which|what|who|whom|where|did|do|does|have|has|is|are|was|were)\b/i
/** Of a clause, which is no option: `Which of the two, if any, did Ann like?` */
const CLAUSE = /^(?:did|do|does|have|has|had|is|are|was|were|can|could|will|would|should|if|when|but|and|then)\b/i

/**
 * Splits a query into simpler ones, by its form alone: one for each of several names (`What do Ann and Bob like?`), for
 * each of the events between which a time passed (`between the flood and the fire`), for each of the things to choose
 * from (`Which opened first, the mill or the bridge?`), and for the time of an event relative to another (`When did Ann
 * buy it after the move?`) one for each event.
 * @returns an empty list for a query that is not split
 */
export function splitQuery (text: string): string[] {
  if (text.length > MAX_SPLIT_CHARACTERS) return []
  const names = splitNames(text)
  if (names !== undefined) return names
  const between = splitBetween(text)
  if (between.length > 0) return between
  const choices = splitChoices(text)
  if (choices.length > 0) return choices
  const match = RELATIVE_TIME.exec(text)
  if (match === null) return []
  const [, main, event] = match
  return isSearchable(main!) && isSearchable(event!) ? [main!, event!] : []
}

/** @returns undefined for a query without such a list of names; an empty list when its parts would be no queries */
function splitNames (text: string): string[] | undefined {
  const names = NAMES.exec(text)
  if (names === null) return undefined
  const [first, ...others] = [...names[1]!.split(/,\s+/), names[2]!]
  // The first word of a question has a capital too: `Did Ann and Bob`.
  const words = first!.split(/\s+/)
  const frame = words.findIndex((word) => !STOP_WORDS.has(word.toLowerCase()))
  const all = [words.slice(frame).join(' '), ...others]
  const before = [text.slice(0, names.index), ...words.slice(0, frame).map((word) => `${word} `)].join('')
  // `between Monday and Friday` is one period, and `between Ann and Bob` one relation.
  if (/\bbetween\s+$/i.test(before) || all.every((name) => namesTimesOnly(name, contentStems(name)))) return undefined
  if (all.length > MAX_PARTS) return []
  const after = text.slice(names.index + names[0].length)
  const parts = all.map((name) => `${before}${name}${after}`.replace(/\bboth\b\s*/i, ''))
  return parts.every(hasContentWords) ? parts : []
}

function splitBetween (text: string): string[] {
  const events = BETWEEN.exec(text)?.[1]
  if (events === undefined) return []
  const [, first, second] = SECOND_EVENT.exec(events) ?? SECOND.exec(events) ?? []
  // Times alone (`between 3 May and 5 June`) bound a period, in which the answer lies.
  const isEvent = (part: string | undefined) => (
    part !== undefined && isSearchable(part) && !namesTimesOnly(part, contentStems(part))
  )
  return isEvent(first) && isEvent(second) ? [first!, second!] : []
}

function splitChoices (text: string): string[] {
  if (!CHOICE.test(text)) return []
  const [, ...listed] = text.replace(/[?.!\s]+$/, '').replace(/,(?=\s+or\s)/gi, '').split(/[,:]\s+/)
  const options = [...listed.slice(0, -1), ...listed.at(-1)?.split(/\s+or\s+/i) ?? []]
  if (options.length < 2 || options.length > MAX_PARTS || options.length === listed.length) return []
  return options.every((option) => hasContentWords(option) && !CLAUSE.test(option)) ? options : []
}

function isSearchable (text: string): boolean {
  return (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= MIN_WORDS && hasContentWords(text)
}

/** A part of stop words alone (`What did I do?`) would match any text with those words. */
function hasContentWords (text: string): boolean {
  return contentStems(text).length > 0
}

/** Analyses the query, then its parts, then its other wordings. */
export function analyzeQueries (
  { query, rewrites = [], reference }: Pick<RetrievalRequest, 'query' | 'rewrites' | 'reference'>, now: number,
): [AnalyzedQuery, ...AnalyzedQuery[]] {
  const { instant, utcOffset } = reference ?? { instant: now, utcOffset: 0 }
  const queries: [AnalyzedQuery, ...AnalyzedQuery[]] = [analyzeQuery(query, instant, utcOffset)]
  const [{ asksForTime, asksForAssistantTurn, asksAboutUser }] = queries
  for (const text of splitQuery(query)) {
    const part = analyzeQuery(text, instant, utcOffset)
    // `the bridge`, as a part of `Which did I see first, …`, does not tell what is asked about it.
    queries.push({
      ...part,
      asksForTime: asksForTime || part.asksForTime,
      asksForAssistantTurn: asksForAssistantTurn || part.asksForAssistantTurn,
      asksAboutUser: !asksForAssistantTurn && (asksAboutUser || part.asksAboutUser),
    })
  }
  for (const text of rewrites) queries.push(analyzeQuery(text, instant, utcOffset))
  return queries
}
