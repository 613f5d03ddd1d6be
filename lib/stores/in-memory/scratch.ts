/** Scratches that are kept for the next searches. */
const SPARE = 4
const FIRST = 64

/** What a search adds up, by ordinal of a document: all zero between searches. */
export interface Scratch {
  scores: Float64Array
  /** Ordinals with a score, in the order in which they got it. */
  touched: Uint32Array
  /** How many they are. */
  count: number
  /**
   * By ordinal of a memory's first document: which of its documents has the best score, by its ordinal + 1. Only where
   * memories have several.
   */
  best: Uint32Array
  /** The memories of `best`. */
  heads: Uint32Array
  headCount: number
  /**
   * By ordinal: whose counts these are among the candidates, by number + 1; negative where a memory is only known by
   * it.
   */
  places: Int32Array
  /** The ordinals that have a place. */
  placed: number[]
}

const spare: Scratch[] = []

/**
 * One for all indexes and not one each: there are thousands of small banks.
 * @param documents for ordinals below this
 */
export function takeScratch (documents: number): Scratch {
  const scratch = spare.pop()
  if (scratch !== undefined && scratch.scores.length >= documents) return scratch
  const length = Math.max(FIRST, 2 ** Math.ceil(Math.log2(documents)))
  return {
    scores: new Float64Array(length),
    touched: new Uint32Array(length),
    count: 0,
    best: new Uint32Array(length),
    heads: new Uint32Array(length),
    headCount: 0,
    places: new Int32Array(length),
    placed: [],
  }
}

/** To be called once for each that was taken. */
export function releaseScratch (scratch: Scratch): void {
  const { scores, touched, count, best, heads, headCount, places, placed } = scratch
  for (let i = 0; i < count; i++) scores[touched[i]!] = 0
  for (let i = 0; i < headCount; i++) best[heads[i]!] = 0
  for (const ordinal of placed) places[ordinal] = 0
  scratch.count = 0
  scratch.headCount = 0
  placed.length = 0
  if (spare.length < SPARE) spare.push(scratch)
}
