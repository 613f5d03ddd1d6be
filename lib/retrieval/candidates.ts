import { bankKeyString } from '../identity/context.js'
import type { Candidate } from '../stores/vector-store.js'
import type { ScorerName } from './scoring/scorers.js'

export const STRATEGIES = ['lexical', 'semantic'] as const
export type Strategy = typeof STRATEGIES[number]

/** A memory that a strategy found, once, whatever found it. It has no score yet that compares it with the others. */
export interface MergedCandidate extends Readonly<Omit<Candidate, 'score'>> {
  /** Where each strategy has it; ranks from 1, absent for a memory that a strategy scored and did not have among its best. */
  readonly strategies: Readonly<Partial<Record<Strategy, { rank?: number, score: number }>>>
}

/** A candidate with the score that the ranking goes by, within 0–1. */
export interface ScoredCandidate extends MergedCandidate {
  readonly score: number
  /** What each scorer added to the sum that the score is made of; only when it was asked for. */
  readonly signals?: Readonly<Partial<Record<ScorerName, number>>>
  /** What the reranker said of it; absent for one that it was not asked about. */
  readonly rerank?: { readonly rank: number, readonly score: number }
}

/** What tells a candidate from all others: one id can be in several banks. */
export function candidateKey ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>): string {
  return `${bankKeyString(bank)} ${memory.memoryId}`
}

/** What tells a candidate's document from all others; a memory without one is its own. */
export function documentKey ({ bank, memory }: Pick<Candidate, 'bank' | 'memory'>): string {
  return `${bankKeyString(bank)} ${memory.documentId === null ? `m${memory.memoryId}` : `d${memory.documentId}`}`
}

/** Falling scores, ties by memory id. */
export function byScore (a: ScoredCandidate, b: ScoredCandidate): number {
  return b.score - a.score || (a.memory.memoryId < b.memory.memoryId ? -1 : 1)
}
