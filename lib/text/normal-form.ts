/** The halfwidth sound marks of Japanese are letters that become combining marks in NFKC and NFKD. */
const STACKED_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu
/** ASCII text is in every normal form. */
const BEYOND_ASCII = /[\u0080-\uffff]/
/** U+034F COMBINING GRAPHEME JOINER: of class 0, so nothing is ordered across it. */
const JOINER = '$&\u034f'

/**
 * Normalizes a text that is first brought into Stream-Safe Text Format (UAX #15, section 13), which inserts a joiner
 * after every thirty combining marks. Without it, canonical ordering of thousands of marks in a row takes quadratic
 * time. No script uses so many.
 */
export function normalForm (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  if (!BEYOND_ASCII.test(text)) return text
  return text.replace(STACKED_MARKS, JOINER).normalize(form)
}
