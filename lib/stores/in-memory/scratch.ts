/** Scratches that are kept for the next searches. */
const SPARE = 4
const FIRST = 64

/** What a search adds up, by ordinal of a document: all zero between searches. */
export interface Scratch {
  scores: Float64Array
  /** As `scores`, by own words alone. */
  owns: Float64Array
  /** Ordinals with a score, in the order in which they got it. */
  touched: Uint32Array
  /** How many they are. */
  count: number
}

const spare: Scratch[] = []

/** One for all indexes and not one each: there are thousands of small banks. @param documents for ordinals below this */
export function takeScratch (documents: number): Scratch {
  const scratch = spare.pop()
  if (scratch !== undefined && scratch.scores.length >= documents) return scratch
  const length = Math.max(FIRST, 2 ** Math.ceil(Math.log2(documents)))
  return { scores: new Float64Array(length), owns: new Float64Array(length), touched: new Uint32Array(length), count: 0 }
}

/** To be called once for each that was taken. */
export function giveBack (scratch: Scratch): void {
  const { scores, owns, touched, count } = scratch
  for (let i = 0; i < count; i++) {
    scores[touched[i]!] = 0
    owns[touched[i]!] = 0
  }
  scratch.count = 0
  if (spare.length < SPARE) spare.push(scratch)
}
