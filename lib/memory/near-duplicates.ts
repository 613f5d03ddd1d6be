import { atOnce, type Steps } from '../steps.js'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem } from '../text/stems.js'
import { wordsInParts } from '../text/words.js'

/** What is known of a text when it is compared with others. */
export interface TextProfile {
  /** Terms that are no stop words, with the number of times they occur. */
  counts: ReadonlyMap<string, number>
  /** Length of `counts` as a vector. */
  norm: number
  /** The terms of `counts` in order, with repeats. */
  sequence: readonly string[]
  /** Equal for texts with the same numbers and as many negations. */
  marks: string
}

const DIGIT = /\p{N}/u
const NUMBER_WORDS: ReadonlySet<string> = new Set([
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  'twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half twice',
  'first second third fourth fifth sixth seventh eighth ninth tenth',
].flatMap((line) => line.split(' ')))
/** Folded as `words` folds them. */
const NEGATIONS: ReadonlySet<string> = new Set([
  'no not nor never none nobody nothing nowhere neither without cannot aint',
  'dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt mustnt neednt',
].flatMap((line) => line.split(' ')))

export function profileOf (text: string): TextProfile {
  return atOnce(profileSteps(text))
}

/** profileOf, for texts of any length. */
export function * profileSteps (text: string): Steps<TextProfile> {
  const counts = new Map<string, number>()
  const sequence: string[] = []
  const numbers: string[] = []
  let negations = 0
  let isFirst = true
  for (const part of wordsInParts(text)) {
    if (!isFirst) yield
    isFirst = false
    for (const word of part) {
      if (DIGIT.test(word) || NUMBER_WORDS.has(word)) numbers.push(word)
      if (NEGATIONS.has(word)) negations++
      if (STOP_WORDS.has(word)) continue
      const term = stem(word)
      sequence.push(term)
      counts.set(term, (counts.get(term) ?? 0) + 1)
    }
  }
  let squares = 0
  for (const count of counts.values()) squares += count * count
  return { counts, norm: Math.sqrt(squares), sequence, marks: JSON.stringify([negations, numbers.sort()]) }
}

/**
 * How much two texts say the same, 0–1: the cosine of their term counts. 0 when their numbers or negations differ, and when words that
 * each has once stand in another order: who did what to whom is told by nothing else.
 */
export function similarity (a: TextProfile, b: TextProfile): number {
  if (a.marks !== b.marks || a.norm === 0 || b.norm === 0) return 0
  let product = 0
  for (const [term, count] of a.counts) product += count * (b.counts.get(term) ?? 0)
  const cosine = Math.min(1, product / (a.norm * b.norm))
  if (cosine === 0 || !inSameOrder(a, b)) return 0
  // Digits beyond are noise of the arithmetic, and would keep equal texts below a threshold of 1.
  return Math.round(cosine * 1e6) / 1e6
}

function inSameOrder (a: TextProfile, b: TextProfile): boolean {
  const shared = (term: string): boolean => a.counts.get(term) === 1 && b.counts.get(term) === 1
  const left = a.sequence.filter(shared)
  const right = b.sequence.filter(shared)
  return left.every((term, index) => term === right[index])
}
