const SESSION_TIME = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Za-z]+), (\d{4})$/
const SLASHED_TIME = /^(\d{4})\/(\d{2})\/(\d{2}) \([A-Z][a-z]{2}\) (\d{2}):(\d{2})$/
export const MONTHS = [
  'january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november',
  'december',
]

/**
 * Reads a session's time, for instance "1:56 pm on 8 May, 2023", as UTC.
 * @returns milliseconds since the epoch; undefined when the text is no such time or names a day that does not exist
 */
export function parseSessionTime (text: string): number | undefined {
  const parts = SESSION_TIME.exec(text)
  if (parts === null) return undefined
  const [, hourText, minuteText, half, dayText, monthName, yearText] = parts
  const [hour, minute, day, year] = [Number(hourText), Number(minuteText), Number(dayText), Number(yearText)]
  const month = MONTHS.indexOf(monthName!.toLowerCase())
  if (hour < 1 || hour > 12 || minute > 59 || month === -1) return undefined
  return instantOf(year, month, day, hour % 12 + (half === 'pm' ? 12 : 0), minute)
}

/**
 * Reads when a question is asked, as UTC: in the form of a session's time, or in that of LongMemEval, "2023/05/30 (Tue)
 * 23:40".
 * @returns as parseSessionTime
 */
export function parseQuestionDate (text: string): number | undefined {
  const [, year, month, day, hour, minute] = SLASHED_TIME.exec(text) ?? []
  if (year === undefined) return parseSessionTime(text)
  return instantOf(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute))
}

/** @returns milliseconds since the epoch; undefined for a day or a time that does not exist. Months count from 0. */
export function instantOf (year: number, month: number, day: number, hour = 0, minute = 0): number | undefined {
  if (month < 0 || hour > 23 || minute > 59) return undefined
  const instant = Date.UTC(year, month, day, hour, minute)
  // Date.UTC rolls 31 June over into July, and a 13th month into the next year.
  const read = new Date(instant)
  return read.getUTCMonth() === month && read.getUTCDate() === day ? instant : undefined
}

/** @param entries as in the data: each holds one turn id, or several split by `;` or `,` */
export function parseEvidenceIds (entries: readonly string[]): string[] {
  return entries.flatMap((entry) => entry.split(/[;,]/)).map((id) => id.trim())
}

/**
 * The content of a turn's memory: the speaker if there is one, the text, and the caption of a photo if there is one.
 */
export function turnContent (
  { speaker, text, blip_caption: caption }: { speaker?: string | undefined, text: string, blip_caption?: string },
): string {
  return `${speaker === undefined ? '' : `${speaker}: `}${text}${caption === undefined ? '' : ` [photo: ${caption}]`}`
}
