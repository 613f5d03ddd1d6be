import type { CandidateScores, Memory } from '../../stores/vector-store.js'
import type { AnalyzedQuery } from '../query.js'
import { SHORT_TURN_WORDS, type Signals } from './signals.js'

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
export type Scorer = (input: RankingInput, query: AnalyzedQuery) => number

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
export const SCORERS = {
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
export function applies (name: ScorerName, query: AnalyzedQuery): boolean {
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
  { signals: { hashes, hashesFrom, hashesTo } }: RankingInput,
  { hashes: queryHashes, hashLowBits, hashPositions }: AnalyzedQuery,
): number {
  let found = 0
  for (let at = hashesFrom + 1; at < hashesTo; at++) {
    const hash = hashes[at]!
    // The low bits rule out most words without a look-up in the map.
    if (hashLowBits[hash & 0x3f] === 0) continue
    const position = hashPositions.get(hash)
    if (position !== undefined && position > 0 && queryHashes[position - 1] === hashes[at - 1]) found++
  }
  return Math.min(1, found / (queryHashes.length - 1))
}
