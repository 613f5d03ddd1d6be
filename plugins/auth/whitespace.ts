/**
 * Trims the white space of headers (RFC 9110 section 5.6.3) and JSON. `String.trim` also removes a no-break space,
 * which would turn the principal `user:<no-break space>` into `user:`.
 */
export function trimWhitespace (text: string): string {
  let end = text.length
  while (end > 0 && isBlank(text, end - 1)) end--
  let start = 0
  while (start < end && isBlank(text, start)) start++
  return text.slice(start, end)
}

function isBlank (text: string, at: number): boolean {
  const character = text[at]
  return character === ' ' || character === '\t' || character === '\r' || character === '\n'
}
