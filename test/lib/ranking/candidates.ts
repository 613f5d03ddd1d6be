import type { BankKey } from '../../../lib/access/context.js'
import { defaultSections } from '../../../lib/config/schema.js'
import { retrievalSettings } from '../../../lib/operations/search.js'
import { mergeCandidates, type MergedCandidate, type RankedCandidate } from '../../../lib/ranking/candidates.js'
import { interleave, type QueryOrder, type RankingOptions } from '../../../lib/ranking/ranking.js'
import { SCORER_NAMES, type ScorerWeights } from '../../../lib/ranking/scoring/scorers.js'
import type { Candidate, CandidateScores, Memory } from '../../../lib/stores/vector-store.js'
import { TokenCount } from '../../../lib/text/tokens.js'
import { memoryWith } from '../../helpers/memories.js'

export const HOME: BankKey = { tenantId: null, bankId: 'home' }

/** The instant at which questions are asked. */
export const NOW = Date.parse('2026-01-15T10:00:00Z')
export const DAY = 86_400_000

export interface CandidateFields extends Partial<Omit<Memory, 'memoryId'>>, CandidateScores {
  bank?: BankKey
}

/** A memory without a speaker, a document and a time, with a text to which no scorer adds. */
export function memory (memoryId: string, fields: Partial<Memory> = {}): Memory {
  return memoryWith({ memoryId, text: 'plain words', tokens: TokenCount.known(2), retainedAt: NOW, ...fields })
}

/**
 * A find by words, unless only `semantic` is given; its own words alone are worth as much as they are with the
 * neighbours'.
 */
export function candidate (
  memoryId: string, { lexical, own, semantic, bank = HOME, ...fields }: CandidateFields = {},
): Candidate {
  const scores: CandidateScores = {
    ...(lexical !== undefined && { lexical, own: own ?? lexical }),
    ...(semantic !== undefined && { semantic }),
  }
  const score = lexical ?? semantic ?? 0
  return {
    bank, memory: memory(memoryId, fields), score, scores, passageCount: 1, passages: [{ start: 0, end: 1, score }],
  }
}

/** Candidates as they come from one search by words, in the order given. */
export function found (...lexical: Candidate[]): MergedCandidate[] {
  return mergeCandidates([{ lexical, total: lexical.length }], true)
}

/** The ranking of one query, in the order given, each candidate with the score by which it was found. */
export function rankingOf (...candidates: Candidate[]): QueryOrder {
  const scores = candidates.map(({ score }) => score)
  return { candidates: found(...candidates), scores, order: [...scores.keys()] }
}

/** The same as the ranking of a recall. */
export function ranked (...candidates: Candidate[]): RankedCandidate[] {
  return interleave([rankingOf(...candidates)], 0)
}

/** The options of a service with nothing configured, with words alone. */
export const DEFAULTS: RankingOptions = { ...retrievalSettings(defaultSections(0).retrieval), minScore: 0 }

/** Weights that switch every scorer off but these. */
export function only (weights: Partial<ScorerWeights> = {}): ScorerWeights {
  return { ...Object.fromEntries(SCORER_NAMES.map((name) => [name, 0])) as unknown as ScorerWeights, ...weights }
}

export function ids (candidates: ReadonlyArray<Pick<Candidate, 'memory'>>): string[] {
  return candidates.map(({ memory }) => memory.memoryId)
}
