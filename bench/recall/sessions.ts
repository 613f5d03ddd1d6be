/** The share of a further hit's score that is added to that of the session's best hit. */
const SUPPORTING_HIT_WEIGHT = 0.15
const MAX_SUPPORTING_HITS = 2

/** A hit with its session: the document of the memory, null when it has none. */
export interface SessionHit {
  session: string | null
  score: number
}

/**
 * Sessions by the rank of their best hit: in the order in which they first appear.
 * @param hits best first; those without a session are ignored
 */
export function sessionsByFirst (hits: readonly SessionHit[]): string[] {
  return [...new Set(hits.flatMap(({ session }) => session ?? []))]
}

/**
 * Sessions by the score of their best hit + 0.15 × those of the next two, so that a session that answers with several
 * turns ranks before one that answers with one. Sessions of the same score keep the order of their best hits.
 * @param hits best first; those without a session are ignored
 */
export function sessionsByScore (hits: readonly SessionHit[]): string[] {
  const scores = new Map<string, number[]>()
  for (const { session, score } of hits) {
    if (session === null) continue
    const seen = scores.get(session)
    if (seen === undefined) scores.set(session, [score])
    else seen.push(score)
  }
  const total = ([best = 0, ...rest]: readonly number[]) => rest.slice(0, MAX_SUPPORTING_HITS)
    .reduce((sum, score) => sum + SUPPORTING_HIT_WEIGHT * score, best)
  return [...scores].map(([session, found]) => ({ session, score: total(found) }))
    .sort((a, b) => b.score - a.score)
    .map(({ session }) => session)
}
