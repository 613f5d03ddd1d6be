const SESSION_TIME = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Za-z]+), (\d{4})$/
const SLASHED_TIME = /^(\d{4})\/(\d{2})\/(\d{2}) \([A-Z][a-z]{2}\) (\d{2}):(\d{2})$/
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december']

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
  const instant = Date.UTC(year, month, day, hour % 12 + (half === 'pm' ? 12 : 0), minute)
  // Date.UTC rolls 31 June over into July.
  return new Date(instant).getUTCDate() === day ? instant : undefined
}

/**
 * Reads when a question is asked, as UTC: in the form of a session's time, or in that of LongMemEval, "2023/05/30 (Tue) 23:40".
 * @returns as parseSessionTime
 */
export function parseQuestionDate (text: string): number | undefined {
  const parts = SLASHED_TIME.exec(text)
  if (parts === null) return parseSessionTime(text)
  const [year, month, day, hour, minute] = parts.slice(1).map(Number) as [number, number, number, number, number]
  if (month < 1 || month > 12 || hour > 23 || minute > 59) return undefined
  const instant = Date.UTC(year, month - 1, day, hour, minute)
  return new Date(instant).getUTCDate() === day ? instant : undefined
}

/**
 * The turns that are evidence for a question.
 * @param entries as in the data: each holds one turn id, or several split by `;` or `,`
 * @param turns ids of the turns that there are; what names none of them is left out
 */
export function evidenceTurns (entries: readonly string[], turns: { has (id: string): boolean }): Set<string> {
  const ids = entries.flatMap((entry) => entry.split(/[;,]/)).map((id) => id.trim())
  return new Set(ids.filter((id) => turns.has(id)))
}

/** The content of a turn's memory: who said it when somebody did, what, and what the photo shows when there is one. */
export function turnContent ({ speaker, text, blip_caption: caption }: { speaker?: string, text: string, blip_caption?: string }): string {
  return `${speaker === undefined ? '' : `${speaker}: `}${text}${caption === undefined ? '' : ` [photo: ${caption}]`}`
}

/** Adversarial questions (category 5) have no answer in the conversation, so there is no evidence to find. */
export function isAnswerable ({ category }: { category: number }): boolean {
  return category >= 1 && category <= 4
}
