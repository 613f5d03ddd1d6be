/** A text of the answer, or the number of the source that a mark cites. */
export type AnswerPart = string | number

const MARK = /\[(\d{1,3})\]/g

/** An answer in parts. Marks that name no source remain text. */
export function answerPartsOf (answer: string, sourceCount: number): AnswerPart[] {
  const parts: AnswerPart[] = []
  let end = 0
  for (const { 0: mark, 1: digits, index } of answer.matchAll(MARK)) {
    const number = Number(digits)
    if (number < 1 || number > sourceCount) continue
    if (index > end) parts.push(answer.slice(end, index))
    parts.push(number)
    end = index + mark.length
  }
  if (end < answer.length) parts.push(answer.slice(end))
  return parts
}

/** How often each source is cited, by its number. */
export function citedCounts (parts: readonly AnswerPart[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const part of parts) if (typeof part === 'number') counts.set(part, (counts.get(part) ?? 0) + 1)
  return counts
}
