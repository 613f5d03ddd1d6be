import { mapGivingWay } from '../../concurrency/event-loop.js'
import type { Candidate, Memory } from '../../stores/vector-store.js'
import { documentKey, placesByDocument } from '../candidates.js'
import { TYPICAL_COSINE } from '../fusion.js'
import type { AnalyzedQuery } from '../query.js'
import { daysToNearestSpan } from '../dates.js'
import {
  applies, SCORER_NAMES, SCORERS, type RankingInput, type ScorerName, type ScorerWeights,
} from './scorers.js'
import type { SignalReader } from './signal-reader.js'
import { timesIn, type Signals } from './signals.js'

/** The candidates of a document that count towards its score; the share of each falls with its rank. */
const DOCUMENT_DEPTH = 5

/** The part of a candidate that scoring needs. */
export type Scorable = Readonly<Pick<Candidate, 'bank' | 'memory' | 'scores'>>

/** The value of each scorer, by name, before its weight. */
type ScoreBreakdown = Readonly<Record<ScorerName, number>>

/** @returns the signals of each candidate */
export async function readSignals (candidates: readonly Scorable[], reader: SignalReader): Promise<Signals[]> {
  return await mapGivingWay(candidates, ({ memory }) => reader.known(memory) ?? reader.read(memory))
}

/**
 * Makes the input of the scorers for each candidate.
 * @param candidates each memory once
 */
export function rankingInputs (
  candidates: readonly Scorable[], allSignals: readonly Signals[], query: AnalyzedQuery,
): RankingInput[] {
  const namedSpeaker = findNamedSpeaker(allSignals, query)
  const documents = documentShares(candidates)
  const questions = questionMeanings(candidates, allSignals)
  const instructions = instructionShares(candidates, allSignals)
  const seeksTime = query.namedPeriods.length > 0
  const inputs: RankingInput[] = []
  for (let index = 0; index < candidates.length; index++) {
    const { memory, scores } = candidates[index]!
    const signals = allSignals[index]!
    inputs.push({
      memory,
      scores,
      signals,
      document: documents[index]!,
      questionMeaning: questions?.[index] ?? 0,
      timeDistanceDays: seeksTime ? daysAway(memory, signals, query) : Infinity,
      instructionShare: instructions?.[index] ?? 0,
      isNamedSpeaker: namedSpeaker !== undefined && signals.speakerName === namedSpeaker,
    })
  }
  return inputs
}

/**
 * The weighted sums of the scorers, in the order of the inputs. It runs scorer by scorer, and skips scorers
 * that do not apply to this query: that takes half the time of scoring input by input.
 */
export function weightedSums (
  inputs: readonly RankingInput[], query: AnalyzedQuery, weights: ScorerWeights,
): Float64Array {
  const sums = new Float64Array(inputs.length)
  for (const name of SCORER_NAMES) {
    const weight = weights[name]
    if (weight === 0 || !applies(name, query)) continue
    const score = SCORERS[name]
    for (let index = 0; index < sums.length; index++) {
      sums[index]! += weight * score(inputs[index]!, query)
    }
  }
  return sums
}

export function scoreBreakdown (input: RankingInput, query: AnalyzedQuery): ScoreBreakdown {
  return Object.fromEntries(SCORER_NAMES.map((name) => (
    [name, applies(name, query) ? SCORERS[name](input, query) : 0]
  ))) as ScoreBreakdown
}

/** @returns the speaker of the candidates whom the query names; undefined when it names none or several */
function findNamedSpeaker (allSignals: readonly Signals[], { stems }: AnalyzedQuery): string | undefined {
  const seen = new Set<string>()
  let named: ReadonlySet<string> | undefined
  let match: string | undefined
  for (const { speaker, speakerName } of allSignals) {
    if (speakerName === '' || seen.has(speakerName)) continue
    seen.add(speakerName)
    const words = named ??= new Set(stems)
    if (!speaker.some((word) => words.has(word))) continue
    if (match !== undefined) return undefined
    match = speakerName
  }
  return match
}

/** `RankingInput.document` while it is computed. */
type DocumentShares = Record<keyof RankingInput['document'], number>

/** The candidates of a document, and its shares, which they have in common. */
interface DocumentScores {
  readonly lexical: number[]
  readonly cosines: number[]
  ownLexical: number
  readonly shares: DocumentShares
}

/**
 * The scores of each candidate's document, as shares of the best document's. A memory without a document counts as a
 * document of its own.
 */
function documentShares (candidates: readonly Scorable[]): DocumentShares[] {
  const documents = new Map<string, DocumentScores>()
  // At first the sums, which become shares when the best of them is known.
  const all: DocumentShares[] = []
  const result = candidates.map((candidate) => {
    const { lexical = 0, own = 0, semantic = 0 } = candidate.scores
    if (candidate.memory.documentId === null) {
      const shares = { lexical, ownLexical: own, semantic }
      all.push(shares)
      return shares
    }
    const key = documentKey(candidate)
    let document = documents.get(key)
    if (document === undefined) {
      document = { lexical: [], cosines: [], ownLexical: 0, shares: { lexical: 0, ownLexical: 0, semantic: 0 } }
      documents.set(key, document)
      all.push(document.shares)
    }
    document.lexical.push(lexical)
    document.cosines.push(semantic)
    if (own > document.ownLexical) document.ownLexical = own
    return document.shares
  })
  for (const { lexical, cosines, ownLexical, shares } of documents.values()) {
    shares.lexical = discountedSum(lexical)
    shares.ownLexical = ownLexical
    shares.semantic = discountedSum(cosines)
  }
  let [maxLexical, maxOwn, maxSemantic] = [Number.MIN_VALUE, Number.MIN_VALUE, Number.MIN_VALUE]
  for (const { lexical, ownLexical, semantic } of all) {
    if (lexical > maxLexical) maxLexical = lexical
    if (ownLexical > maxOwn) maxOwn = ownLexical
    if (semantic > maxSemantic) maxSemantic = semantic
  }
  for (const shares of all) {
    shares.lexical /= maxLexical
    shares.ownLexical /= maxOwn
    shares.semantic /= maxSemantic
  }
  return result
}

/** The sum of the best few scores, each divided by its rank. */
function discountedSum (scores: readonly number[]): number {
  if (scores.length === 1) return scores[0]!
  return scores.toSorted((a, b) => b - a).slice(0, DOCUMENT_DEPTH)
    .reduce((sum, score, rank) => sum + score / (rank + 1), 0)
}

/**
 * For each candidate, how close in meaning the question is that the previous candidate of its document asks: 1 for the
 * highest cosine of all candidates, 0 for a typical one. 0 for an assistant's turn, because it answers all questions
 * of the user, and its own words say what about.
 * @returns undefined without cosines
 */
function questionMeanings (candidates: readonly Scorable[], allSignals: readonly Signals[]): Float64Array | undefined {
  let best = 0
  for (const { scores: { semantic = 0 } } of candidates) if (semantic > best) best = semantic
  if (best === 0) return undefined
  const meanings = new Float64Array(candidates.length)
  for (const turns of placesByDocument(candidates)) {
    for (let at = 1; at < turns.length; at++) {
      const index = turns[at]!
      const before = turns[at - 1]!
      if (!allSignals[before]!.endsInQuestion || allSignals[index]!.role === 'assistant') continue
      const cosine = candidates[before]!.scores.semantic ?? 0
      meanings[index] = Math.max(0, (cosine / best - TYPICAL_COSINE) / (1 - TYPICAL_COSINE))
    }
  }
  return meanings
}

/**
 * The shares of instructions (`RankingInput.instructionShare`). One whose writer is not trusted, or that looks like an
 * order to a model, is not raised.
 * @returns undefined when no candidate is an instruction that shares a word with the query
 */
function instructionShares (candidates: readonly Scorable[], allSignals: readonly Signals[]): Float64Array | undefined {
  let shares: Float64Array | undefined
  let sum = 0
  for (let index = 0; index < candidates.length; index++) {
    const { memory: { trust }, scores: { own = 0 } } = candidates[index]!
    if (own === 0 || trust !== 'trusted' || !allSignals[index]!.isInstruction) continue
    shares ??= new Float64Array(candidates.length)
    shares[index] = own
    sum += own
  }
  return shares?.map((own) => own / sum)
}

/** Days from a memory, or from a time that it names, to the nearest of the query's periods, of which there is one. */
function daysAway (
  { occurredAt, retainedAt }: Memory, signals: Signals, { utcOffset, namedPeriods, soughtPeriods }: AnalyzedQuery,
): number {
  // A text names whole days, here of the query's calendar: the day after a span begins when the span ends.
  const distances = timesIn(signals, occurredAt ?? retainedAt)
    .map(({ from }) => Math.ceil(daysToNearestSpan(namedPeriods, from - utcOffset)))
  const asksForPeriod = soughtPeriods.length > 0
  // What was retained in a period answers a query that names nothing else.
  const own = occurredAt ?? (asksForPeriod ? retainedAt : undefined)
  const distance = own === undefined ? Infinity : daysToNearestSpan(namedPeriods, own)
  // The night before a day is another day, if the day is all that the query asks for.
  return Math.min(asksForPeriod ? Math.ceil(distance) : distance, ...distances)
}
