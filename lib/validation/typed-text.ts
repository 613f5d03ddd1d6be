const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * The number or boolean that a text spells, where the schema has one: every variable of the environment is a text.
 * @param type that of the schema
 */
export function typedText (text: string, type: unknown): string | number | boolean {
  const trimmed = text.trim()
  if ((type === 'number' || type === 'integer') && NUMBER.test(trimmed)) return Number(trimmed)
  if (type === 'boolean' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  return text
}
