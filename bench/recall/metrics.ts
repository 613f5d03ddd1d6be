/*
 * Binary relevance: a memory is evidence or it is not. All functions take the ranks (from 1; Infinity when not found)
 * of a question's evidence, one for each piece of evidence, and none is called without evidence.
 */

/**
 * The ranks of the evidence among the hits.
 * @param evidence ids of the memories that are evidence
 * @param hits ids of the memories that were found, best first
 */
export function ranksOf (evidence: ReadonlySet<string>, hits: readonly string[]): number[] {
  return [...evidence].map((id) => {
    const index = hits.indexOf(id)
    return index === -1 ? Infinity : index + 1
  })
}

/** The share of the evidence that is among the first k hits. */
export function recallAt (ranks: readonly number[], k: number): number {
  return foundWithin(ranks, k).length / ranks.length
}

/** 1 when any evidence is among the first k hits, else 0. */
export function hitAt (ranks: readonly number[], k: number): number {
  return foundWithin(ranks, k).length > 0 ? 1 : 0
}

/** 1 when all evidence is among the first k hits, else 0. */
export function allAt (ranks: readonly number[], k: number): number {
  return foundWithin(ranks, k).length === ranks.length ? 1 : 0
}

/** 1 / rank of the best piece of evidence; 0 when none was found. Its mean over questions is MRR. */
export function reciprocalRank (ranks: readonly number[]): number {
  return 1 / Math.min(...ranks)
}

/**
 * nDCG@k (K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002) with gain 1 and
 * discount log2(rank + 1); the ideal has all evidence, as far as k reaches, at the top.
 */
export function ndcgAt (ranks: readonly number[], k: number): number {
  const ideal = Array.from({ length: Math.min(ranks.length, k) }, (_, index) => index + 1)
  return discountedGain(foundWithin(ranks, k)) / discountedGain(ideal)
}

function foundWithin (ranks: readonly number[], k: number): number[] {
  return ranks.filter((rank) => rank <= k)
}

function discountedGain (ranks: readonly number[]): number {
  return ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 1), 0)
}
