import type { TokenUsage } from '../models/language-model.js'

/** The usage of the language model: tokens, and a cost when the model has a price. */
export interface ModelUsage extends TokenUsage {
  cost?: number | undefined
}

export const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0 }

export function addUsage (one: ModelUsage, other: ModelUsage): ModelUsage {
  const cost = one.cost === undefined && other.cost === undefined ? undefined : (one.cost ?? 0) + (other.cost ?? 0)
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost,
  }
}
