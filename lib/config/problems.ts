/** Everything that is wrong with the configuration, in one error. No problem holds the value of a secret. */
export class ConfigurationError extends Error {
  /** One sentence each: the variable or YAML path, what was found, what is allowed. */
  readonly problems: string[]

  /** @param problems at least one; the message has one line for each */
  constructor (problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(`The configuration has ${count}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`)
    this.name = 'ConfigurationError'
    this.problems = [...problems]
  }
}

const LONGEST_QUOTE = 80
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu
const URL_WITH_CREDENTIALS = /:\/\/[^\s/]*@/

/** Text on one line and without control characters, at most 80 characters of it. */
export function printable (text: string): string {
  const cut = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text
  return cut.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** A value that is no secret, in quotes. A URL with credentials in it is a secret wherever it stands. */
export function quote (value: string): string {
  return URL_WITH_CREDENTIALS.test(value) ? 'a URL with credentials (not shown)' : `"${printable(value)}"`
}

/** `"a", "b"`. */
export function quoteAll (values: readonly string[]): string {
  return values.map(quote).join(', ')
}
