import { bySequence } from '../stores/context.js'
import { documentKey, type MergedCandidate } from './candidates.js'
import type { AnalyzedQuery } from './query.js'
import type { Signals } from './scoring/signals.js'

/** The share of the question in the meaning of an answer. */
const QUESTION_SHARE = 0.4

/**
 * The places of the candidates of each document, in the order of the document. Memories without a document are left
 * out.
 */
export function placesByDocument (
  candidates: ReadonlyArray<Pick<MergedCandidate, 'bank' | 'memory'>>,
): Iterable<readonly number[]> {
  const documents = new Map<string, number[]>()
  for (const [place, candidate] of candidates.entries()) {
    if (candidate.memory.documentId === null) continue
    const key = documentKey(candidate)
    const places = documents.get(key)
    if (places === undefined) documents.set(key, [place])
    else places.push(place)
  }
  for (const places of documents.values()) places.sort((a, b) => bySequence(candidates[a]!, candidates[b]!))
  return documents.values()
}

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
  if (!candidates.some(({ scores: { semantic = 0 } }) => semantic > 0)) return candidates
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
