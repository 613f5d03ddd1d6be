/**
 * Rewrites dates that chrono-node reads in another sense than their writers mean. Each regular expression takes linear
 * time.
 */

/** Figures with two dots or more: `5.6.2026`, but also versions and addresses. */
const DOTTED = /(?<!\d)\d+(?:\.\d+){2,}/g
/** The words before a dotted date whose year has two digits, which tell it from a version. */
const DOTTED_CONTEXT = /\b(?:on|am|vom) $/i
const MONTHS = [
  'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
  'December',
]
const MONTH = '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|' +
  'oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
/** Both ends of the period name a day or a month. */
const BETWEEN = new RegExp(
  String.raw`\b(between (?:the )?(?:\d|${MONTH}\b)[^.;?!]{0,24}?) and (?:the )?(?=\d{1,2}(?:st|nd|rd|th)?\b|${MONTH}\b)`,
  'gi',
)
const NO_SEPARATOR = '|'

/** The text with its dates as chrono-node reads them rightly, of about the same length. */
export function readableDates (text: string): string {
  // "7 May,2023": without the space the parser sees no year.
  return text.replace(/(\d),(\d{4})\b/g, '$1, $2')
    .replace(/(\.\d{4})[-–](?=\d)/g, '$1 to ').replace(DOTTED, dottedDate)
    .replace(BETWEEN, '$1 to ')
}

/** Dots stand between day, month and year, in this order, or after a year that comes first; all else is no date. */
function dottedDate (figures: string, index: number, text: string): string {
  const [first, month, year, ...more] = figures.split('.') as [string, string, string, ...string[]]
  const isDate = more.length === 0 && !/[\w.]/.test(text[index - 1] ?? ' ') &&
    Number(month) >= 1 && Number(month) <= 12
  if (isDate && first.length === 4) return figures
  const before = text.slice(Math.max(0, index - 5), index)
  const isYear = year.length === 4 || (year.length === 2 && DOTTED_CONTEXT.test(before))
  if (!isDate || !isYear || Number(first) < 1 || Number(first) > 31) return figures.replaceAll('.', NO_SEPARATOR)
  return `${Number(first)} ${MONTHS[Number(month) - 1]} ${year.length === 2 ? `20${year}` : year}`
}
