/** Maximum number of neighbours of a candidate. */
export const MAX_NEIGHBOURS = 4

/** Maximum number of scratches kept for reuse. */
const MAX_POOLED_SCRATCHES = 4
/** Minimum number of passages of a scratch. */
const MIN_SCRATCH_PASSAGES = 64

/** Accumulators of a search, by ordinal of a passage: all zero between searches. */
export interface Scratch {
  scores: Float64Array
  /** Ordinals with a score, in the order in which they first received it. */
  scoredOrdinals: Uint32Array
  /** Number of ordinals in `scoredOrdinals`. */
  count: number
  /**
   * By ordinal of a memory's first passage: the ordinal, plus 1, of its passage with the best score. Only if memories
   * have several passages.
   */
  best: Uint32Array
  /** The first passages of the memories in `best`. */
  heads: Uint32Array
  headCount: number
  /** For the ordinals that a search found, and their scores. Not zero between searches. */
  matches: Uint32Array
  matchScores: Float64Array
  /**
   * By ordinal: the number, plus 1, of the candidate whose counts these are; negative if the ordinal only identifies
   * the candidate's memory.
   */
  candidateNumbers: Int32Array
  /** The ordinals with a value in `candidateNumbers`. */
  numberedOrdinals: number[]
  /** By term of the query: the number of its postings when the search began. */
  postingCounts: number[]
  candidates: CandidateArrays
}

/** What a search knows of its candidates, by their number. Not zero between searches. */
export interface CandidateArrays {
  /** Ordinals of the first passages. */
  heads: Uint32Array
  ownScores: Float64Array
  /** k1 · norm. */
  saturation: Float64Array
  /** MAX_NEIGHBOURS slots for each candidate: the number of a neighbour plus 1, or 0. */
  neighbours: Int32Array
  /** For each slot: the factor of the candidate's weights in the score of that neighbour. */
  neighbourWeights: Float64Array
  /** Scores with the counts of their neighbours. */
  scores: Float64Array
  /** Their own counts of the current term. */
  counts: Float64Array
  /** What their neighbours add to these. */
  addedCounts: Float64Array
  /** The candidates with a value in `counts` or `addedCounts`. */
  changed: Int32Array
  /** 1 for a candidate without a document. */
  withoutDocument: Uint8Array
}

const scratchPool: Scratch[] = []

/**
 * Shared by all indexes, because there are thousands of small banks.
 * @param passages upper bound of the ordinals
 */
export function takeScratch (passages: number): Scratch {
  const scratch = scratchPool.pop()
  if (scratch !== undefined && scratch.scores.length >= passages) return scratch
  const length = Math.max(MIN_SCRATCH_PASSAGES, 2 ** Math.ceil(Math.log2(passages)))
  return {
    scores: new Float64Array(length),
    scoredOrdinals: new Uint32Array(length),
    count: 0,
    best: new Uint32Array(length),
    heads: new Uint32Array(length),
    headCount: 0,
    matches: new Uint32Array(length),
    matchScores: new Float64Array(length),
    candidateNumbers: new Int32Array(length),
    numberedOrdinals: [],
    postingCounts: [],
    candidates: candidateArrays(0),
  }
}

/** The arrays of a scratch, grown to this number of candidates. To be called before the first candidate is known. */
export function candidateArraysOf (scratch: Scratch, candidates: number): CandidateArrays {
  if (scratch.candidates.heads.length < candidates) scratch.candidates = candidateArrays(candidates)
  return scratch.candidates
}

function candidateArrays (length: number): CandidateArrays {
  return {
    heads: new Uint32Array(length),
    ownScores: new Float64Array(length),
    scores: new Float64Array(length),
    saturation: new Float64Array(length),
    neighbours: new Int32Array(length * MAX_NEIGHBOURS),
    neighbourWeights: new Float64Array(length * MAX_NEIGHBOURS),
    counts: new Float64Array(length),
    addedCounts: new Float64Array(length),
    withoutDocument: new Uint8Array(length),
    changed: new Int32Array(length),
  }
}

/** To be called once for each scratch taken. */
export function releaseScratch (scratch: Scratch): void {
  const { scores, scoredOrdinals, count, best, heads, headCount, candidateNumbers, numberedOrdinals } = scratch
  for (let i = 0; i < count; i++) scores[scoredOrdinals[i]!] = 0
  for (let i = 0; i < headCount; i++) best[heads[i]!] = 0
  for (const ordinal of numberedOrdinals) candidateNumbers[ordinal] = 0
  scratch.count = 0
  scratch.headCount = 0
  numberedOrdinals.length = 0
  if (scratchPool.length < MAX_POOLED_SCRATCHES) scratchPool.push(scratch)
}
