import { placesByDocument, type MergedCandidate } from './candidates.js'
import type { AnalyzedQuery } from './query.js'
import type { Signals } from './scoring/signals.js'

/** The share of the question in the meaning of an answer. */
const QUESTION_SHARE = 0.4

/**
 * For a query about an earlier answer of an assistant: the candidates with the cosines of its turns moved towards that
 * of the user's turn that precedes each among the candidates of its document. Such a query resembles the question that
 * was asked then, and the answer to it is sought.
 */
export function withQuestionsOfAnswers (
  candidates: readonly MergedCandidate[], allSignals: readonly Signals[],
  { asksForAssistantTurn, asksForMethod }: Pick<AnalyzedQuery, 'asksForAssistantTurn' | 'asksForMethod'>,
): readonly MergedCandidate[] {
  if (!asksForAssistantTurn && !asksForMethod) return candidates
  const changed = [...candidates]
  for (const places of placesByDocument(candidates)) {
    for (let at = 1; at < places.length; at++) {
      const place = places[at]!
      const before = places[at - 1]!
      if (allSignals[place]!.role !== 'assistant' || allSignals[before]!.role !== 'user') continue
      const candidate = candidates[place]!
      const { semantic } = candidate.scores
      const ofQuestion = candidates[before]!.scores.semantic
      if (semantic === undefined || ofQuestion === undefined) continue
      const mixed = semantic + QUESTION_SHARE * (ofQuestion - semantic)
      changed[place] = { ...candidate, scores: { ...candidate.scores, semantic: mixed } }
    }
  }
  return changed
}
