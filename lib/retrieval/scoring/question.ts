import { atOnce, type Steps } from '../../steps.js'
import { fnv1a } from '../../text/hashes.js'
import { stem } from '../../text/stems.js'
import { STOP_WORDS } from '../../text/stop-words.js'
import { wordsInParts } from '../../text/words.js'
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
  /** Of each of the 256 last bytes that a hash may have, whether one has it. */
  marks: Uint8Array
  /** Where each hash stands first. */
  places: ReadonlyMap<number, number>
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
  return atOnce(questionSteps(text, now))
}

/** readQuestion in steps. */
export function * questionSteps (text: string, now: number): Steps<Question> {
  const stems: string[] = []
  const terms = new Set<string>()
  const others = new Set<string>()
  for (const part of wordsInParts(text)) {
    yield
    for (const word of part) {
      if (STOP_WORDS.has(word)) others.add(word)
      else stems.push(stem(word))
    }
  }
  for (const one of stems) terms.add(one)
  const hashes = stems.map(fnv1a)
  const marks = new Uint8Array(256)
  const places = new Map<number, number>()
  for (const [place, hash] of hashes.entries()) {
    marks[hash & 0xff] = 1
    if (!places.has(hash)) places.set(hash, place)
  }
  yield
  return {
    text,
    // Stop words are dropped, unless there is no other word.
    terms: [...terms.size > 0 ? terms : others],
    stems,
    hashes,
    marks,
    places,
    asksTime: TIME.test(text),
    asksNumber: NUMBER.test(text),
    asksPlace: PLACE.test(text),
    asksName: NAME.test(text),
    asksSeveral: SEVERAL.test(text.slice(0, LOOKED_AT)),
    spans: timeSpans(text, now),
  }
}
