import { randomInt } from 'node:crypto'
import { STOP_WORDS } from '../text/stop-words.js'
import { stem, words } from '../text/words.js'

/**
 * The data of a text for its comparison with others. Terms are hashes of 53 bits, because a request may have millions
 * of them.
 */
export interface TextProfile {
  /** Distinct terms without stop words, ascending. */
  readonly terms: Float64Array
  /** The number of occurrences of each of `terms`. */
  readonly counts: Uint32Array
  /** The Euclidean norm of `counts`. */
  readonly norm: number
  /** The terms in the order of the text, with repeats, as indices of `terms`. */
  readonly sequence: Uint32Array
  /** Equal for texts with the same numbers and the same count of negations. */
  readonly numbersAndNegations: string
}

/** Maximum number of terms of the search for near-duplicates of a text. */
const MAX_TERMS = 64

const DIGIT = /\p{N}/u
const NUMBER_WORDS: ReadonlySet<string> = new Set([
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
    'eighteen nineteen',
  'twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half twice',
  'first second third fourth fifth sixth seventh eighth ninth tenth',
].flatMap((line) => line.split(' ')))
/** Folded like the output of `words`. */
const NEGATIONS: ReadonlySet<string> = new Set([
  'no not nor never none nobody nothing nowhere neither without cannot aint',
  'dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt mustnt neednt',
].flatMap((line) => line.split(' ')))

/** Random seeds, so that nobody can prepare texts whose hashes collide. */
const SEEDS = [randomInt(2 ** 32), randomInt(2 ** 32)] as const

/**
 * @returns the profile, and the longest terms of the text, which usually are the rarest: a near-duplicate shares nearly
 * all of them
 */
export function profileOf (text: string): { profile: TextProfile, longest: string[] } {
  const counts = new Map<number, number>()
  const byLength: string[][] = []
  const sequence: number[] = []
  const numbers: string[] = []
  let negations = 0
  for (const word of words(text)) {
    if (DIGIT.test(word) || NUMBER_WORDS.has(word)) numbers.push(word)
    if (NEGATIONS.has(word)) negations++
    if (STOP_WORDS.has(word)) continue
    const term = stem(word)
    const hash = hashOf(term)
    sequence.push(hash)
    const count = counts.get(hash)
    counts.set(hash, (count ?? 0) + 1)
    if (count === undefined) (byLength[term.length] ??= []).push(term)
  }
  const terms = Float64Array.from(counts.keys()).sort()
  let squares = 0
  for (const count of counts.values()) squares += count * count
  const inOrder = Uint32Array.from(terms, (term) => counts.get(term)!)
  // From here on the map contains the index of each term.
  for (let place = 0; place < terms.length; place++) counts.set(terms[place]!, place)
  return {
    profile: {
      terms,
      counts: inOrder,
      norm: Math.sqrt(squares),
      sequence: Uint32Array.from(sequence, (term) => counts.get(term)!),
      numbersAndNegations: JSON.stringify([negations, numbers.sort()]),
    },
    longest: firstOf(byLength.reverse(), MAX_TERMS),
  }
}

function firstOf (lists: ReadonlyArray<readonly string[] | undefined>, limit: number): string[] {
  const found: string[] = []
  for (const list of lists) {
    if (found.length === limit) break
    if (list !== undefined) found.push(...list.slice(0, limit - found.length))
  }
  return found
}

/** Two multiplicative hashes similar to FNV-1a, combined into the 53 bits that a number represents exactly. */
function hashOf (term: string): number {
  let [low, high] = SEEDS
  for (let index = 0; index < term.length; index++) {
    const unit = term.charCodeAt(index)
    low = Math.imul(low ^ unit, 0x9e3779b1)
    high = Math.imul(high ^ unit, 0x85ebca77)
  }
  low ^= low >>> 15
  high ^= high >>> 13
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0)
}

/**
 * The similarity of two texts, 0–1: the cosine of their term counts. It is 0 when their numbers or negations differ,
 * and when the words that occur once in both are in a different order, because only the order distinguishes subject and
 * object.
 */
export function similarity (a: TextProfile, b: TextProfile): number {
  if (a.numbersAndNegations !== b.numbersAndNegations || a.norm === 0 || b.norm === 0) return 0
  let product = 0
  const single = new Set<number>()
  for (let left = 0, right = 0; left < a.terms.length && right < b.terms.length;) {
    const term = a.terms[left]!
    const difference = term - b.terms[right]!
    if (difference === 0) {
      if (a.counts[left] === 1 && b.counts[right] === 1) single.add(term)
      product += a.counts[left]! * b.counts[right]!
    }
    if (difference <= 0) left++
    if (difference >= 0) right++
  }
  const cosine = Math.min(1, product / (a.norm * b.norm))
  if (cosine === 0 || !inSameOrder(a, b, single)) return 0
  // Rounded, because rounding errors would keep equal texts below a threshold of 1.
  return Math.round(cosine * 1e6) / 1e6
}

/** @param single the terms that occur once in both texts */
function inSameOrder (a: TextProfile, b: TextProfile, single: ReadonlySet<number>): boolean {
  const next = singles(b, single)
  for (const term of singles(a, single)) {
    if (next.next().value !== term) return false
  }
  return true
}

function * singles ({ terms, sequence }: TextProfile, single: ReadonlySet<number>): Generator<number> {
  for (const place of sequence) if (single.has(terms[place]!)) yield terms[place]!
}
