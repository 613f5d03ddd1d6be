import { InvalidArgumentError } from 'commander'

/** @returns a parser of whole numbers */
export function integer (min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
    }
    return value
  }
}

export function share (text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1)) {
    throw new InvalidArgumentError('It must be a number from 0 to 1.')
  }
  return value
}

/** Options that may be given several times. */
export function collect (text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

export type Metadata = Record<string, string | number | boolean | null>

/**
 * `name=value`, several times. A value that is a JSON number, boolean or null is taken as that, a JSON string in double
 * quotes as its text, any other as the text that it is.
 */
export function pair (text: string, before: Metadata = {}): Metadata {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must have the form name=value.')
  return { ...before, [text.slice(0, at)]: scalar(text.slice(at + 1)) }
}

function scalar (text: string): string | number | boolean | null {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  if (text.startsWith('"')) {
    const value = jsonText(text)
    if (value !== undefined) return value
  }
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text) ? Number(text) : text
}

/** @returns undefined for what is not a JSON string */
function jsonText (text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
