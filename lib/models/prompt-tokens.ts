import { sumTokens, TokenCount } from '../text/tokens.js'
import type { Message } from './language-model.js'

/**
 * Tokens of a prompt, counted here in turns of the event loop; the model's own count may differ by a little.
 * @param caller as in TurnBudget.next
 */
export async function promptTokens (messages: readonly Message[], caller: string): Promise<number> {
  return await sumTokens(messages.map(({ content }) => TokenCount.of(content)), caller)
}
