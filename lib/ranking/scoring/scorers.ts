import type { CandidateScores, Memory, Candidate } from '../../stores/vector-store.js'
import { documentKey, placesByDocument, TYPICAL_COSINE } from '../candidates.js'
import { daysToNearestSpan } from '../dates.js'
import type { AnalyzedQuery } from '../query.js'
import { SHORT_TURN_WORDS, timesIn, type Signals } from './signals.js'

/** A candidate with everything that the scorers use. */
export interface RankingInput {
  readonly memory: Memory
  readonly scores: Readonly<CandidateScores>
  readonly signals: Signals
  /**
   * Scores of the candidate's document, as shares of the best document's: of the best five lexical scores together, of
   * the best score by a memory's own words, and of the best five cosines together.
   */
  readonly document: Readonly<Record<'lexical' | 'ownLexical' | 'semantic', number>>
  /**
   * How close in meaning to the query the question of the previous candidate of its document is, within 0–1; 0 if that
   * one asks none.
   */
  readonly questionMeaning: number
  /**
   * Days between the times that the query names and those of the memory (`occurred_at` and the times in its text);
   * Infinity when the query names none.
   */
  readonly timeDistanceDays: number
  /**
   * For a trusted instruction of the user (`Signals.isInstruction`): its part of the scores that all of them among the
   * candidates have by their own words together; 0 for other memories.
   */
  readonly instructionShare: number
  /** Whether the query names the speaker of this memory, and no other speaker of the candidates. */
  readonly isNamedSpeaker: boolean
}

/** Called where its condition in CONDITIONS holds. @returns a value within 0–1; 0 where it adds nothing */
type Scorer = (input: RankingInput, query: AnalyzedQuery) => number

/** A question with fewer words, not counting stop words, states little besides what it asks. */
const SHORT_QUESTION_WORDS = 15
/**
 * The preference for the user's turns applies in full up to FULL_PREFERENCE_TERMS terms of the query, and not at all
 * from NO_PREFERENCE_TERMS on.
 */
const FULL_PREFERENCE_TERMS = 8
const NO_PREFERENCE_TERMS = 13
/** How many equally good instructions are raised in full. */
const PREFERRED_INSTRUCTIONS = 2
/** Days in which the score for closeness in time falls to about a third (1/e). */
const DECAY_DAYS = 5
/** The share of closeness in time that counts for a question about the present or the future. */
const PRESENT_SHARE = 0.4

/**
 * The scorers that rank candidates in addition to the strategies. A scorer is small, general, and 0 where it does not
 * apply. Their meanings and default weights are in lib/config/scorer-table.ts.
 */
const SCORERS = {
  match: ({ scores }) => scores.lexical ?? 0,
  phrase,
  document: ({ document }) => document.lexical,
  document_best: ({ document }) => document.ownLexical,
  document_meaning: ({ document }) => document.semantic,
  question_meaning: ({ questionMeaning }) => questionMeaning,
  speaker: ({ isNamedSpeaker }) => isNamedSpeaker ? 1 : 0,
  speaker_self: ({ isNamedSpeaker, signals }) => isNamedSpeaker && signals.isFirstPerson ? 1 : 0,
  user_said: userSaid,
  assistant_said: ({ signals }) => signals.role === 'assistant' ? 1 : 0,
  date: ({ timeDistanceDays: daysAway }, { asksAboutPresent }) => (
    (asksAboutPresent ? PRESENT_SHARE : 1) * Math.exp(-daysAway / DECAY_DAYS)
  ),
  time_told: ({ signals }) => signals.mentionsTime ? 1 : 0,
  // Answers of an assistant have numbers anyway, at least those of their lists.
  quantity_told: ({ signals: { role, mentionsNumber } }, query) => (
    mentionsNumber && role === 'user' ? preferenceForUser(query) : 0
  ),
  name_told: ({ signals }) => signals.nameScore,
  details,
  question: ({ signals }) => signals.endsInQuestion && signals.contentWords < SHORT_QUESTION_WORDS ? 1 : 0,
  instruction,
  // What somebody prefers counts for what they should do, even if it has few words in common with the question.
  preference: ({ signals: { role, statesPreference } }) => statesPreference && role === 'user' ? 1 : 0,
  // Assistants begin many a full answer with `Absolutely!` or `Great question`.
  reaction: ({ signals }) => signals.isReaction && signals.contentWords < SHORT_TURN_WORDS ? 1 : 0,
} as const satisfies Record<string, Scorer>

export type ScorerName = keyof typeof SCORERS

const CONDITIONS: Partial<Record<ScorerName, (query: AnalyzedQuery) => boolean>> = {
  phrase: ({ hashes }) => hashes.length > 1,
  date: ({ namedPeriods }) => namedPeriods.length > 0,
  time_told: ({ asksForTime }) => asksForTime,
  quantity_told: (query) => query.asksForQuantity && preferenceForUser(query) > 0,
  name_told: ({ asksForName }) => asksForName,
  user_said: ({ asksAboutUser, asksForAdvice }) => asksAboutUser || asksForAdvice,
  assistant_said: ({ asksForAssistantTurn, asksForMethod }) => asksForAssistantTurn || asksForMethod,
  preference: ({ asksForGuidance }) => asksForGuidance,
  instruction: (query) => !query.asksForAssistantTurn && preferenceForUser(query) > 0,
}

/** Whether a scorer applies to a query. Where it does not, it is not called, and counts as 0 for every candidate. */
function applies (name: ScorerName, query: AnalyzedQuery): boolean {
  return CONDITIONS[name]?.(query) ?? true
}

export const SCORER_NAMES = Object.keys(SCORERS) as ScorerName[]
export type ScorerWeights = Readonly<Record<ScorerName, number>>

function userSaid ({ signals }: RankingInput, query: AnalyzedQuery): number {
  if (signals.role !== 'user') return 0
  if (query.asksForAdvice) return 1
  return query.asksForMethod ? 0.25 : 0.5 * preferenceForUser(query)
}

/**
 * An instruction applies to a query that shares a word with it. It has few words and seldom answers a question, so by
 * its words alone it would rank far behind the memories that do. All instructions together are raised by as much as
 * PREFERRED_INSTRUCTIONS, so that in a bank of many they do not take the place of everything else.
 */
function instruction ({ instructionShare }: RankingInput, query: AnalyzedQuery): number {
  return Math.min(1, PREFERRED_INSTRUCTIONS * instructionShare) * preferenceForUser(query)
}

/**
 * How much a query prefers the user's turns, by its length alone, within 0–1. A long query compares or combines several
 * things, and its own words describe its subject. The preference would hide answers that discuss all of them behind
 * short turns about one.
 */
function preferenceForUser ({ ownTerms }: AnalyzedQuery): number {
  return Math.min(1, Math.max(0, (NO_PREFERENCE_TERMS - ownTerms) / (NO_PREFERENCE_TERMS - FULL_PREFERENCE_TERMS)))
}

/**
 * It does not apply between a user and an assistant, where the role is the better signal, or to a text outside a
 * conversation.
 */
function details ({ memory, signals: { role, contentWords, mentionsTime, nameScore } }: RankingInput): number {
  if (role !== undefined || memory.documentId === null || contentWords >= SHORT_TURN_WORDS) return 0
  return ((mentionsTime ? 1 : 0) + nameScore) / 2
}

function phrase (
  { signals: { hashes } }: RankingInput,
  { hashes: queryHashes, hashLowBits, hashPositions }: AnalyzedQuery,
): number {
  let found = 0
  for (let at = 1; at < hashes.length; at++) {
    const hash = hashes[at]!
    // The low bits rule out most words without a look-up in the map.
    if (hashLowBits[hash & 0x3f] === 0) continue
    const position = hashPositions.get(hash)
    if (position !== undefined && position > 0 && queryHashes[position - 1] === hashes[at - 1]) found++
  }
  return Math.min(1, found / (queryHashes.length - 1))
}

/** The candidates of a document that count towards its score; the share of each falls with its rank. */
const DOCUMENT_DEPTH = 5

/** The part of a candidate that scoring needs. */
export type Scorable = Readonly<Pick<Candidate, 'bank' | 'memory' | 'scores'>>

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

/** The value of each scorer, by name, before its weight. */
export function scoreBreakdown (input: RankingInput, query: AnalyzedQuery): ScorerWeights {
  return Object.fromEntries(SCORER_NAMES.map((name) => (
    [name, applies(name, query) ? SCORERS[name](input, query) : 0]
  ))) as ScorerWeights
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

type DocumentShare = Record<keyof RankingInput['document'], number>

/**
 * The scores of each candidate's document, as shares of the best document's. A memory without a document counts as a
 * document of its own.
 */
function documentShares (candidates: readonly Scorable[]): Array<RankingInput['document']> {
  const documents = new Map<string, { lexical: number[], cosines: number[], share: DocumentShare }>()
  // At first the sums, which become shares when the best of them is known.
  const shares: DocumentShare[] = []
  const shareOf = candidates.map((candidate) => {
    const { memory: { documentId }, scores: { lexical = 0, own = 0, semantic = 0 } } = candidate
    // A memory without a document is one by itself.
    const key = documentId === null ? undefined : documentKey(candidate)
    const document = key === undefined ? undefined : documents.get(key)
    if (document === undefined) {
      const share = { lexical, ownLexical: own, semantic }
      shares.push(share)
      if (key !== undefined) documents.set(key, { lexical: [lexical], cosines: [semantic], share })
      return share
    }
    document.lexical.push(lexical)
    document.cosines.push(semantic)
    if (own > document.share.ownLexical) document.share.ownLexical = own
    return document.share
  })
  for (const { lexical, cosines, share } of documents.values()) {
    share.lexical = discountedSum(lexical)
    share.semantic = discountedSum(cosines)
  }
  let [lexical, ownLexical, semantic] = [Number.MIN_VALUE, Number.MIN_VALUE, Number.MIN_VALUE]
  for (const share of shares) {
    if (share.lexical > lexical) lexical = share.lexical
    if (share.ownLexical > ownLexical) ownLexical = share.ownLexical
    if (share.semantic > semantic) semantic = share.semantic
  }
  for (const share of shares) {
    share.lexical /= lexical
    share.ownLexical /= ownLexical
    share.semantic /= semantic
  }
  return shareOf
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
