import type { CandidateScores, Memory } from '../../stores/vector-store.js'
import type { AnalyzedQuery } from '../query.js'
import type { Signals } from './signals.js'

/** A candidate with everything that the scorers use. */
export interface RankingInput {
  memory: Memory
  scores: CandidateScores
  signals: Signals
  /**
   * Scores of the candidate's document, as shares of the best document's: of the best five lexical scores together, of
   * the best score by a memory's own words, and of the best five cosines together.
   */
  document: { together: number, best: number, meaning: number }
  /**
   * Days between the times that the query names and those of the memory (`occurred_at` and the times in its text);
   * Infinity when the query names none.
   */
  daysAway: number
  /** Whether the query names the speaker of this memory, and no other speaker of the candidates. */
  isAskedSpeaker: boolean
}

/** @returns a value within 0–1; 0 when the scorer does not apply */
export type Scorer = (input: RankingInput, query: AnalyzedQuery) => number

/** A question with fewer words, not counting stop words, states little besides what it asks. */
const SHORT = 15
/** A turn with fewer words may be small talk, unless a time or names in it show otherwise. */
const BRIEF = 50
/**
 * A query in the first person fully prefers the user's turns up to FEW_TERMS terms, and not at all from MANY_TERMS on.
 */
const FEW_TERMS = 8
const MANY_TERMS = 13
/** Days in which the score for closeness in time falls to about a third (1/e). */
const FADING_DAYS = 5

/**
 * The scorers that rank candidates in addition to the strategies. A scorer is small, general, and 0 where it does not
 * apply. Their meanings and default weights are in lib/config/scorer-table.ts.
 */
export const SCORERS = {
  match: ({ scores }) => scores.lexical ?? 0,
  phrase,
  document: ({ document }) => document.together,
  document_best: ({ document }) => document.best,
  document_meaning: ({ document }) => document.meaning,
  speaker: ({ isAskedSpeaker }) => isAskedSpeaker ? 1 : 0,
  speaker_self: ({ isAskedSpeaker, signals }) => isAskedSpeaker && signals.firstPerson ? 1 : 0,
  user_said: userSaid,
  assistant_said: ({ signals }, { asksTold, asksWay }) => (asksTold || asksWay) && signals.role === 'assistant' ? 1 : 0,
  date: ({ daysAway }) => Math.exp(-daysAway / FADING_DAYS),
  time_told: ({ signals }, { asksTime }) => asksTime && signals.tellsTime ? 1 : 0,
  name_told: ({ signals }, { asksName }) => asksName ? signals.names : 0,
  details,
  question: ({ signals }) => signals.question && signals.stems.length < SHORT ? 1 : 0,
  // Assistants begin many a full answer with `Absolutely!` or `Great question`.
  reaction: ({ signals }) => signals.reaction && signals.stems.length < BRIEF ? 1 : 0,
} as const satisfies Record<string, Scorer>

export type ScorerName = keyof typeof SCORERS

/** Whether a scorer applies to a query. Where it does not, it is 0 for every candidate and is skipped. */
export const LOOKS_FOR: Partial<Record<ScorerName, (query: AnalyzedQuery) => boolean>> = {
  phrase: ({ hashes }) => hashes.length > 1,
  date: ({ spans }) => spans.length > 0,
  time_told: ({ asksTime }) => asksTime,
  name_told: ({ asksName }) => asksName,
  user_said: ({ asksSelf, asksAdvice }) => asksSelf || asksAdvice,
  assistant_said: ({ asksTold, asksWay }) => asksTold || asksWay,
}
export const SCORER_NAMES = Object.keys(SCORERS) as ScorerName[]
export type ScorerWeights = Readonly<Record<ScorerName, number>>

/**
 * A long query compares or combines several things, and its own words describe its subject. The preference would hide
 * answers that discuss all of them behind short turns about one.
 */
function userSaid ({ signals }: RankingInput, { asksSelf, asksAdvice, asksWay, terms }: AnalyzedQuery): number {
  if (signals.role !== 'user') return 0
  if (asksAdvice) return 1
  if (!asksSelf) return 0
  if (asksWay) return 0.25
  return 0.5 * Math.min(1, Math.max(0, (MANY_TERMS - terms.length) / (MANY_TERMS - FEW_TERMS)))
}

/**
 * It does not apply between a user and an assistant, where the role is the better signal, or to a text outside a
 * conversation.
 */
function details ({ memory, signals: { role, stems, tellsTime, names } }: RankingInput): number {
  if (role !== undefined || memory.documentId === null || stems.length >= BRIEF) return 0
  return ((tellsTime ? 1 : 0) + names) / 2
}

function phrase ({ signals: { hashes } }: RankingInput, { hashes: queryHashes, marks, places }: AnalyzedQuery): number {
  if (queryHashes.length < 2) return 0
  let found = 0
  for (let at = 1; at < hashes.length; at++) {
    const hash = hashes[at]!
    // The low byte rules out most words without a look-up in the map.
    if (marks[hash & 0xff] === 0) continue
    const place = places.get(hash)
    if (place !== undefined && place > 0 && queryHashes[place - 1] === hashes[at - 1]) found++
  }
  return Math.min(1, found / (queryHashes.length - 1))
}
