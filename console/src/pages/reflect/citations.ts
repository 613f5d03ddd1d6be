/** A text of the answer, or the number of a source that is cited at this place. */
export type AnswerPart = string | number

const CITATION_MARKER = /\[(\d{1,3})\]/g

/** Splits an answer into texts and citations. A marker that names no source remains text. */
export function answerPartsOf (answer: string, sourceCount: number): AnswerPart[] {
  const parts: AnswerPart[] = []
  let end = 0
  for (const { 0: marker, 1: digits, index } of answer.matchAll(CITATION_MARKER)) {
    const number = Number(digits)
    if (number < 1 || number > sourceCount) continue
    if (index > end) parts.push(answer.slice(end, index))
    parts.push(number)
    end = index + marker.length
  }
  if (end < answer.length) parts.push(answer.slice(end))
  return parts
}

/** How often each source is cited, by its number, in the order of the answer. */
export function countCitations (parts: readonly AnswerPart[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const part of parts) if (typeof part === 'number') counts.set(part, (counts.get(part) ?? 0) + 1)
  return counts
}
