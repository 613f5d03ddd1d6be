import {
  lengthNorm, MIN_NOTES, neighbourWeight, NOTES_QUESTIONS, toScore, WINDOW_REACH, WITHOUT_DOCUMENT, WITHOUT_OWN_TERMS,
} from './context.js'
import { TopK } from './top-k.js'
import { byScore, MAX_PASSAGES, type LexicalRequest } from './vector-store.js'

/** A passage that has terms of the query. */
export interface MatchedPassage {
  readonly ordinal: number
  readonly length: number
  /** Which of the query's terms it has, ascending, and how often. */
  readonly terms: number[]
  readonly counts: number[]
}

/** Adds a term to the passages of a memory. Terms are added in ascending order, so that each store adds up alike. */
export function addMatch (
  passages: MatchedPassage[], ordinal: number, length: number, term: number, count: number,
): void {
  const known = passages.find((passage) => passage.ordinal === ordinal)
  if (known === undefined) passages.push({ ordinal, length, terms: [term], counts: [count] })
  else {
    known.terms.push(term)
    known.counts.push(count)
  }
}

/** What the score of a memory depends on. A store retrieves it for the pool and for the windows of the pool. */
export interface Member {
  readonly memory: { readonly memoryId: string }
  readonly hasDocument: boolean
  /** Whether it ends in a question. */
  readonly isQuestion: boolean
  /** As `isAssistants` says. Matters only in the pool. */
  readonly isAssistant: boolean
  /** Mean length of its passages. */
  readonly meanLength: number
  /** In any order. */
  readonly passages: readonly MatchedPassage[]
  /** Whether it passes the filters. */
  readonly passes: boolean
}

/** A member of the pool in the middle, and what is before and after it in its sequence. */
export type Window<M> = ReadonlyArray<M | undefined>

/** What BM25 uses of a bank. */
export interface BankStatistics {
  readonly passages: number
  /** 0 when all passages have the length 0. */
  readonly meanLength: number
  /** For each term of the query, in how many passages it is. */
  readonly frequencies: readonly number[]
}

export interface ScoredMember<M> {
  readonly memory: Member['memory']
  readonly member: M
  readonly score: number
  readonly own: number
  /** The best passages that have terms of the query; empty when only its neighbours have. */
  readonly passages: ReadonlyArray<{ ordinal: number, score: number }>
}

export interface LexicalScores<M> {
  /** Step 7. */
  readonly best: Array<ScoredMember<M>>
  /** The candidates that pass the filters and are found, but only by the terms of their neighbours. */
  readonly byContext: readonly M[]
  /** The scores of any member that was retrieved, whether or not it is a candidate. */
  scoresOf (member: M): { score: number, own: number }
}

/** The factors of BM25 that depend on the query and the bank, but not on a passage: step 1 of lib/stores/context.ts. */
export class QueryWeights {
  readonly k1: number
  /** By term: it adds gain · tf / (tf + k1 · norm) to a score. */
  readonly gains: readonly number[]
  /** The highest score that the query can reach. */
  readonly highest: number
  readonly #length: LexicalRequest['length']
  readonly #meanLength: number

  constructor ({ passages, meanLength, frequencies }: BankStatistics, { k1, length }: LexicalRequest) {
    this.k1 = k1
    this.gains = frequencies.map((frequency) => (
      (k1 + 1) * Math.log(1 + (Math.max(0, passages - frequency) + 0.5) / (frequency + 0.5))
    ))
    this.highest = this.gains.reduce((sum, gain) => sum + gain, 0)
    this.#length = length
    // If all passages have the length 0, b has no effect.
    this.#meanLength = meanLength > 0 ? meanLength : Infinity
  }

  /** @param pivot replaces that of the request */
  normOf (length: number, pivot?: number): number {
    return lengthNorm(length, pivot === undefined ? this.#length : { pivot }, this.#meanLength)
  }

  /** The sum of step 1, from which `toShare` makes a score. */
  sumOf ({ terms, counts }: Pick<MatchedPassage, 'terms' | 'counts'>, norm: number): number {
    let sum = 0
    for (let at = 0; at < terms.length; at++) {
      const count = counts[at]!
      sum += this.gains[terms[at]!]! * count / (count + this.k1 * norm)
    }
    return sum
  }

  toShare (sum: number): number {
    return sum === 0 ? 0 : toScore(sum / this.highest)
  }
}

interface Candidate<M> {
  readonly member: M
  /** Its best passage; undefined without a term of the query. */
  readonly best: MatchedPassage | undefined
  readonly norm: number
  readonly own: number
  /** By the distance in places plus WINDOW_REACH. */
  readonly neighbours: Array<Candidate<M> | undefined>
}

/** Steps 2 to 7 of lib/stores/context.ts. @param windows empty without `context` */
export function lexicalScores<M extends Member> (
  query: QueryWeights, request: LexicalRequest, pool: readonly M[], windows: ReadonlyArray<Window<M>>, limit: number,
): LexicalScores<M> {
  const pivot = request.context ? notesPivot(request, pool) : undefined
  const candidates = new Map<M, Candidate<M>>()
  const toCandidate = (member: M) => {
    let candidate = candidates.get(member)
    if (candidate === undefined) candidates.set(member, candidate = makeCandidate(query, member, pivot))
    return candidate
  }
  for (const member of pool) toCandidate(member)
  for (const window of windows) {
    const inside = window.map((member) => member && toCandidate(member))
    for (const [at, candidate] of inside.entries()) {
      if (candidate === undefined) continue
      for (let places = 1; places <= WINDOW_REACH; places++) {
        const other = inside[at + places]
        if (other === undefined) continue
        candidate.neighbours[WINDOW_REACH + places] = other
        other.neighbours[WINDOW_REACH - places] = candidate
      }
    }
  }
  const sums = new Float64Array(query.gains.length)
  const scoreOf = (candidate: Candidate<M>) => (
    candidate.neighbours.length === 0 ? candidate.own : scoreInContext(query, candidate, sums)
  )
  const best = new TopK<{ memory: Member['memory'], candidate: Candidate<M>, score: number }>(limit, byScore)
  const byContext: M[] = []
  for (const candidate of candidates.values()) {
    const { member, own } = candidate
    if (!member.passes || (own === 0 && !member.hasDocument && !answersQuestion(candidate))) continue
    const score = scoreOf(candidate)
    if (score === 0) continue
    best.offer({ memory: member.memory, candidate, score })
    if (own === 0) byContext.push(member)
  }
  return {
    best: best.sorted().map(({ memory, candidate: { member, own }, score }) => (
      { memory, member, score, own, passages: bestPassages(query, member) }
    )),
    byContext,
    scoresOf (member) {
      const candidate = candidates.get(member)
      if (candidate !== undefined) return { score: scoreOf(candidate), own: candidate.own }
      const { own } = makeCandidate(query, member, undefined)
      return { score: own, own }
    },
  }
}

/** The pivot for a pool of notes or articles; undefined when the pool is not known to be one. */
function notesPivot ({ length }: LexicalRequest, pool: readonly Member[]): number | undefined {
  if (!('pivot' in length) || length.notesPivot === undefined || pool.length < MIN_NOTES) return undefined
  let questions = 0
  for (const { isQuestion, isAssistant } of pool) {
    if (isAssistant) return undefined
    if (isQuestion) questions++
  }
  return 100 * questions < NOTES_QUESTIONS * pool.length ? length.notesPivot : undefined
}

function makeCandidate<M extends Member> (query: QueryWeights, member: M, pivot: number | undefined): Candidate<M> {
  const { passages, meanLength } = member
  let [best, highest] = [passages[0], -1]
  for (const passage of passages.length > 1 ? passages : []) {
    const score = query.toShare(query.sumOf(passage, query.normOf(passage.length)))
    if (score > highest || (score === highest && passage.ordinal < best!.ordinal)) [best, highest] = [passage, score]
  }
  const norm = query.normOf(best?.length ?? meanLength, pivot)
  const own = best === undefined ? 0 : query.toShare(query.sumOf(best, norm))
  return { member, best, norm, own, neighbours: [] }
}

/** Whether the neighbour directly before ends in a question and has a term of the query. */
function answersQuestion ({ neighbours }: Candidate<Member>): boolean {
  const before = neighbours[WINDOW_REACH - 1]
  return before !== undefined && before.member.isQuestion && before.own > 0
}

/** Steps 5 and 6. @param sums by term; all 0, before and after */
function scoreInContext (query: QueryWeights, candidate: Candidate<Member>, sums: Float64Array): number {
  const { member: { hasDocument, isQuestion }, best, norm, own, neighbours } = candidate
  const { gains, k1 } = query
  // The terms with a sum above 0, in the order of their first counts, which is the same in every store.
  const terms: number[] = []
  let fixed = 0
  if (best !== undefined) {
    for (const [at, term] of best.terms.entries()) {
      sums[term] = best.counts[at]!
      terms.push(term)
    }
    if (!hasDocument) fixed = terms.length
  }
  const ownTerms = fixed === 0 ? undefined : best!.terms
  for (let at = 0; at < neighbours.length; at++) {
    const neighbour = neighbours[at]
    // The norm can be 0 where b is 1.
    if (neighbour?.best === undefined || neighbour.norm === 0) continue
    const weight = neighbourWeight(at - WINDOW_REACH, neighbour.member.isQuestion, isQuestion) *
      (hasDocument ? 1 : WITHOUT_DOCUMENT) / neighbour.norm
    const { terms: added, counts } = neighbour.best
    for (let i = 0; i < added.length; i++) {
      const term = added[i]!
      if (ownTerms?.includes(term) === true) continue
      if (sums[term] === 0) terms.push(term)
      sums[term]! += counts[i]! * weight
    }
  }
  let sum = 0
  for (const term of terms) {
    const count = sums[term]!
    sum += gains[term]! * count / (count + k1 * norm)
    sums[term] = 0
  }
  return query.toShare(own > 0 || answersQuestion(candidate) ? sum : sum * WITHOUT_OWN_TERMS)
}

function bestPassages (query: QueryWeights, { passages }: Member): ScoredMember<Member>['passages'] {
  return passages
    .map((passage) => ({
      ordinal: passage.ordinal, score: query.toShare(query.sumOf(passage, query.normOf(passage.length))),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.ordinal - b.ordinal)
    .slice(0, MAX_PASSAGES)
}
