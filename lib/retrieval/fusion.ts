import { bankKeyString } from '../identity/context.js'
import type { Candidate, SearchResult } from '../stores/vector-store.js'

export const STRATEGIES = ['lexical', 'semantic'] as const
export type Strategy = typeof STRATEGIES[number]
/** 0 switches a strategy off. */
export type Weights = Readonly<Record<Strategy, number>>

export interface FusedCandidate extends Candidate {
  /** Where each strategy that found it had it; ranks from 1. */
  strategies: Partial<Record<Strategy, { rank: number, score: number }>>
}

/**
 * Linear fusion: the mean of the strategies' scores (each within 0–1) by weight; a strategy that did not find a memory
 * gives it 0. Reciprocal-rank fusion is not used because a weak second strategy then drags a strong first one down.
 * @returns falling by score, ties by memory id
 */
export function fuse (result: SearchResult, weights: Weights): FusedCandidate[] {
  const { lexical, semantic } = result
  // One strategy has nothing to be fused with: its order and its scores stand.
  if (semantic === undefined) return lexical?.map((candidate, index) => alone(candidate, 'lexical', index)) ?? []
  if (lexical === undefined) return semantic.map((candidate, index) => alone(candidate, 'semantic', index))
  const fused = new Map<string, FusedCandidate>()
  for (const [strategy, candidates] of [['lexical', lexical], ['semantic', semantic]] as const) {
    candidates.forEach((candidate, index) => {
      const key = `${bankKeyString(candidate.bank)} ${candidate.memory.memoryId}`
      const known = fused.get(key) ?? { ...candidate, score: 0, strategies: {} }
      known.score += weights[strategy] * candidate.score
      known.strategies[strategy] = { rank: index + 1, score: candidate.score }
      fused.set(key, known)
    })
  }
  const list = [...fused.values()]
  const totalWeight = weights.lexical + weights.semantic
  for (const candidate of list) candidate.score /= totalWeight
  return list.sort((a, b) => b.score - a.score || (a.memory.memoryId < b.memory.memoryId ? -1 : 1))
}

/** Written out, not spread: this runs for every hit of every recall. */
function alone ({ bank, memory, score, passageCount, passages }: Candidate, strategy: Strategy, index: number): FusedCandidate {
  return { bank, memory, score, passageCount, passages, strategies: { [strategy]: { rank: index + 1, score } } }
}
