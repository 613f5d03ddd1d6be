import type { CandidateScores, Memory } from '../../stores/vector-store.js'
import type { AnalyzedQuery } from '../query.js'
import type { Signals } from './signals.js'

/** A candidate with what the scorers look at. */
export interface RankingInput {
  memory: Memory
  scores: CandidateScores
  signals: Signals
  /** What the candidates of the same document have together, each as a share of what the best document has: by their best five, by their best one's own words, and by the cosines of the best five. */
  document: { together: number, best: number, meaning: number }
  /** Days between a time that the query names and the memory, by when it occurred and by what its text tells; Infinity when the query names none. */
  daysAway: number
  /** Whether the query names who speaks here and nobody else who speaks in a candidate. */
  isAskedSpeaker: boolean
}

/** @returns within 0–1; 0 when there is nothing to judge by */
export type Scorer = (input: RankingInput, query: AnalyzedQuery) => number

/** Words, stop words left out, below which a query says little beside what it asks. */
const SHORT = 15
/** The same below which a turn of a talk may be small talk, so that a time or names in it say that it is more. */
const BRIEF = 50
/** Days after which closeness in time has fallen to a third. */
const FADING_DAYS = 5

/**
 * What a candidate is judged by, beside the strategies that found it. A scorer is small, general, and 0 where what it looks for is absent. What
 * each means and weighs stands in lib/config/scorer-table.ts.
 */
export const SCORERS = {
  match: ({ scores }) => scores.lexical ?? 0,
  phrase,
  document: ({ document }) => document.together,
  document_best: ({ document }) => document.best,
  document_meaning: ({ document }) => document.meaning,
  speaker: ({ isAskedSpeaker }) => isAskedSpeaker ? 1 : 0,
  speaker_self: ({ isAskedSpeaker, signals }) => isAskedSpeaker && signals.firstPerson ? 1 : 0,
  user_said: ({ signals }, { asksSelf, asksAdvice }) => signals.role === 'user' ? asksAdvice ? 1 : asksSelf ? 0.5 : 0 : 0,
  assistant_said: ({ signals }, { asksTold }) => asksTold && signals.role === 'assistant' ? 1 : 0,
  date: ({ daysAway }) => Math.exp(-daysAway / FADING_DAYS),
  time_told: ({ signals }, { asksTime }) => asksTime && signals.tellsTime ? 1 : 0,
  name_told: ({ signals }, { asksName }) => asksName ? signals.names : 0,
  details,
  question: ({ signals }) => signals.question && signals.stems.length < SHORT ? 1 : 0,
  reaction: ({ signals }) => signals.reaction ? 1 : 0,
} as const satisfies Record<string, Scorer>

export type ScorerName = keyof typeof SCORERS

/** Whether a query has what a scorer looks for. Where it has not, that scorer is 0 for every candidate and need not be asked. */
export const LOOKS_FOR: Partial<Record<ScorerName, (query: AnalyzedQuery) => boolean>> = {
  phrase: ({ hashes }) => hashes.length > 1,
  date: ({ spans }) => spans.length > 0,
  time_told: ({ asksTime }) => asksTime,
  name_told: ({ asksName }) => asksName,
  user_said: ({ asksSelf, asksAdvice }) => asksSelf || asksAdvice,
  assistant_said: ({ asksTold }) => asksTold,
}
export const SCORER_NAMES = Object.keys(SCORERS) as ScorerName[]
export type ScorerWeights = Readonly<Record<ScorerName, number>>

/** Between a user and an assistant, who speaks tells it better; a text by itself has no small talk beside it. */
function details ({ memory, signals: { role, stems, tellsTime, names } }: RankingInput): number {
  if (role !== undefined || memory.documentId === null || stems.length >= BRIEF) return 0
  return ((tellsTime ? 1 : 0) + names) / 2
}

function phrase ({ signals: { hashes } }: RankingInput, { hashes: asked, marks, places }: AnalyzedQuery): number {
  if (asked.length < 2) return 0
  let found = 0
  for (let at = 1; at < hashes.length; at++) {
    const hash = hashes[at]!
    // A byte of a hash tells most words apart without a look at the places.
    if (marks[hash & 0xff] === 0) continue
    const place = places.get(hash)
    if (place !== undefined && place > 0 && asked[place - 1] === hashes[at - 1]) found++
  }
  return Math.min(1, found / (asked.length - 1))
}
