import type { Spending } from '../metered-language-model.js'

/** What all calls of one answer cost together. */
export type Spent = Spending

export const NOTHING_SPENT: Spent = { inputTokens: 0, outputTokens: 0 }

export function addSpending (one: Spent, other: Spent): Spent {
  const cost = one.cost === undefined && other.cost === undefined ? undefined : (one.cost ?? 0) + (other.cost ?? 0)
  return { inputTokens: one.inputTokens + other.inputTokens, outputTokens: one.outputTokens + other.outputTokens, ...(cost !== undefined && { cost }) }
}
