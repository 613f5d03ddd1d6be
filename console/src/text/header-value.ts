/** The characters that fetch accepts in the value of a header, without control characters. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export const INVALID_HEADER_VALUE = 'This contains a character that an HTTP header cannot contain.'

/** Whether fetch can send a text as the value of a header. */
export function isValidHeaderValue (text: string): boolean {
  return HEADER_VALUE.test(text)
}
