import { shorten } from '../validation/shorten.js'

/** Every problem of the configuration in one error. No message contains the value of a secret. */
export class ConfigurationError extends Error {
  /** One sentence each: the variable or YAML path, what was found, what is allowed. */
  readonly problems: string[]

  /** @param problems at least one; the message has a line for each */
  constructor (problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(`The configuration has ${count}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`)
    this.name = 'ConfigurationError'
    this.problems = [...problems]
  }
}

const MAX_QUOTE_CHARACTERS = 80
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu
const URL_WITH_CREDENTIALS = /:\/\/[^\s/]*@/

/** Escapes control characters and cuts the text to 80 characters. */
export function printable (text: string): string {
  return shorten(text, MAX_QUOTE_CHARACTERS)
    .replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Quotes a value that is not a secret; a URL with credentials is a secret in any setting. */
export function quote (value: string): string {
  return URL_WITH_CREDENTIALS.test(value) ? 'a URL with credentials (not shown)' : `"${printable(value)}"`
}

/** `"a", "b"`. */
export function quoteAll (values: readonly string[]): string {
  return values.map(quote).join(', ')
}
