import { analyzeQuery, tellingStems } from '../../text/analysis.js'
import { fnv1a } from '../../text/hashes.js'
import { timeSpans, type TimeSpan } from './dates.js'

/** What a query asks for, as far as its form shows it. */
export interface Question {
  text: string
  /** Distinct index terms. */
  terms: readonly string[]
  /** Stems of its words in order, without stop words. */
  stems: readonly string[]
  /** Their hashes, in order. */
  hashes: readonly number[]
  asksTime: boolean
  asksNumber: boolean
  asksPlace: boolean
  /** Whether the answer is likely to be the name of somebody or something. */
  asksName: boolean
  /** Whether it asks for several things: a list or a count. */
  asksSeveral: boolean
  /** Spans of time that it names. */
  spans: readonly TimeSpan[]
}

/** Characters whose form is looked at. */
const LOOKED_AT = 500

const TIME = /\b(?:when|what (?:date|day|month|year|time)|which (?:month|year|day|week)|how long|since when)\b/i
const NUMBER = /\bhow (?:many|much|often|old|long|far)\b/i
const PLACE = /\b(?:where|(?:which|what) (?:city|cities|country|countries|state|states|places?|areas?|locations?|town|towns))\b/i
const NAME = /^\s*(?:who|which|what(?:'s|’s| is| was| are| were) the names?)\b/i

/** A question word and, a few words on, a plural: `Which cities`, `What kinds of tea`, `In what two ways`. */
const SEVERAL = /^\s*(?:(?:in|on|at|for|to)\s+)?(?:what|which|whose)\s+(?:(?!(?:is|was|does|has|did|do|are|were|the)\b)[\p{L}\p{N}'’-]+\s+){0,3}?(?!(?:is|was|does|has|this|us)\b)\p{L}{2,}(?<![su])s\b|\bhow many\b/iu

/** @param now the instant that relative times are counted from */
export function readQuestion (text: string, now: number): Question {
  const stems = tellingStems(text)
  return {
    text,
    terms: analyzeQuery(text),
    stems,
    hashes: stems.map(fnv1a),
    asksTime: TIME.test(text),
    asksNumber: NUMBER.test(text),
    asksPlace: PLACE.test(text),
    asksName: NAME.test(text),
    asksSeveral: SEVERAL.test(text.slice(0, LOOKED_AT)),
    spans: timeSpans(text, now),
  }
}
