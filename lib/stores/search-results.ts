import type { Candidate, SearchResult } from './searches.js'

/** The types of a result as a class of the operator's own may have broken them. */
type Unchecked<T> = { [K in keyof T]?: unknown }

/**
 * Checks what later stages compute with, in the result of any store: a wrong number would otherwise surface as a fault
 * of a stage, or put hits into a random order.
 * @throws Error that names the strategy, the memory and the member
 */
export function checkedResult (result: SearchResult): SearchResult {
  const { total } = result
  if (!Number.isSafeInteger(total) || total < 0) throw wrong('total', total)
  for (const name of ['lexical', 'semantic'] as const) {
    const candidates: unknown = result[name]
    if (candidates === undefined) continue
    if (!Array.isArray(candidates)) throw wrong(name, candidates)
    for (const candidate of candidates as Candidate[]) checkCandidate(name, candidate)
  }
  return result
}

function checkCandidate (strategy: string, candidate: Candidate): void {
  const { score, scores, passages }: Unchecked<Candidate> = candidate
  if (!Number.isFinite(score)) throw wrongMember(strategy, candidate, 'score', score)
  if (typeof scores !== 'object' || scores === null) throw wrongMember(strategy, candidate, 'scores', scores)
  const { lexical, own, semantic } = scores as Unchecked<Candidate['scores']>
  if (!isScoreOrAbsent(lexical)) throw wrongMember(strategy, candidate, 'scores.lexical', lexical)
  if (!isScoreOrAbsent(own)) throw wrongMember(strategy, candidate, 'scores.own', own)
  if (!isScoreOrAbsent(semantic)) throw wrongMember(strategy, candidate, 'scores.semantic', semantic)
  if (!Array.isArray(passages)) throw wrongMember(strategy, candidate, 'passages', passages)
  for (const passage of passages as Candidate['passages']) {
    if (!Number.isFinite(passage.score)) {
      throw wrongMember(strategy, candidate, 'the score of a passage', passage.score)
    }
  }
}

function isScoreOrAbsent (score: unknown): boolean {
  return score === undefined || Number.isFinite(score)
}

function wrongMember (strategy: string, { memory }: Candidate, member: string, found: unknown): Error {
  return wrong(`${strategy}: ${member} of memory ${memory.memoryId}`, found)
}

/** Quotes numbers only, because the log must not contain texts of memories. */
function wrong (what: string, found: unknown): Error {
  const kind = typeof found === 'number' ? String(found) : found === null ? 'null' : `of type ${typeof found}`
  return new Error(`The vector store returned an unusable search result: ${what} is ${kind}`)
}
