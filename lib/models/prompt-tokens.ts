import { sumTokens, TokenCount } from '../text/tokens.js'
import type { Message } from './language-model.js'

/**
 * Tokens of a prompt, counted here; the model's own count may differ by a little.
 */
export async function promptTokens (messages: readonly Message[]): Promise<number> {
  return await sumTokens(messages.map(({ content }) => TokenCount.of(content)))
}
