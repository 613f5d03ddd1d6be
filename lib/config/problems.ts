import { isJsonObject, pointerSegments } from '../base/json-object.js'
import { shorten } from '../base/shorten.js'

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

/** The place of a value in the configuration file: keys of maps and indexes of lists, from the top. */
export type Path = readonly (string | number)[]

const PLAIN_KEY = /^[A-Za-z0-9_@*:-]+$/

/** For messages: `access_grants[0].bank_id`, with keys that contain a dot or a space in `["…"]`. */
export function formatPath (path: Path): string {
  if (path.length === 0) return 'the configuration file'
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (PLAIN_KEY.test(segment)) text += `${text === '' ? '' : '.'}${printable(segment)}`
    else text += `["${printable(segment)}"]`
  }
  return text
}

/** As a JSON pointer (RFC 6901), the form of Ajv. */
export function toPointer (path: Path): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** @param root the value, which shows whether a segment is an index of a list or a key of a map */
export function fromPointer (pointer: string, root: unknown): Path {
  const path: (string | number)[] = []
  let value = root
  for (const segment of pointerSegments(pointer)) {
    path.push(Array.isArray(value) ? Number(segment) : segment)
    value = isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, segment) : undefined
  }
  return path
}
