import { countTokens } from '../text/tokens.js'
import type { Message } from './language-model.js'

/** Tokens of a prompt, counted here; the model's own count may differ by a little. */
export function promptTokens (messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + countTokens(content), 0)
}
