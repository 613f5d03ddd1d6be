/**
 * A text without the white space around it that headers (RFC 9110 section 5.6.3) and JSON know. A no-break space is no
 * such white space: taken away, it would leave a principal (`user:`) that nobody has given.
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
