/** The halfwidth sound marks of Japanese are letters that become combining marks in NFKC and NFKD. */
const PILED_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu
/** ASCII text is in every normal form. */
const BEYOND_ASCII = /[\u0080-\uffff]/
/** U+034F COMBINING GRAPHEME JOINER: of class 0, so nothing is ordered across it. */
const JOINER = '$&\u034f'

/**
 * A normal form of Unicode, of a text in Stream-Safe Text Format (UAX #15, section 13): to put thousands of combining
 * marks in a row into canonical order takes time by the square of their number, so a joiner stands behind each thirty
 * of them. No writing has so many.
 */
export function normalForm (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  if (!BEYOND_ASCII.test(text)) return text
  return text.replace(PILED_MARKS, JOINER).normalize(form)
}
