import { BankConfigurationSchema } from '../config/schema.js'
import { loadDateParser } from '../retrieval/date-parser.js'
import { loadVocabulary } from '../text/tokens.js'
import { validatorOf } from '../validation/schema-check.js'

/**
 * Loads and compiles, once in a process, what takes tens or hundreds of milliseconds at its first use and cannot be
 * split into turns of the event loop, so that no request waits for it.
 */
export function warmUp (): void {
  loadVocabulary()
  loadDateParser()
  validatorOf(BankConfigurationSchema).compile()
}
