import { UnusableInput } from '../../checker.js'
import type { Question, Session } from '../conversation-types.js'

/** Characters of a part; a memory may have 50,000. */
const PART_CHARACTERS = 49_000

/**
 * A text as the contents of its memories: one, unless it is too long for that; none, when it is blank.
 * No part begins within a surrogate pair.
 */
export function contentsOf (text: string, most = PART_CHARACTERS): string[] {
  const contents: string[] = []
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + most)
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1
    contents.push(text.slice(start, end))
    start = end
  }
  return contents.filter((content) => content.trim() !== '')
}

/** The session of each turn. */
export function sessionsByTurn (sessions: readonly Session[]): Map<string, string> {
  return new Map(sessions.flatMap(({ id, turns }) => turns.map((turn) => [turn.id, id] as const)))
}

/**
 * Questions whose evidence exists: evidence that names no turn is omitted, and so is a question without any left. The
 * sessions that contain the evidence are wanted, unless the data name others.
 */
export function answerable (questions: ReadonlyArray<
  Omit<Question, 'index' | 'sessions'> & { sessions?: readonly string[], left?: boolean }
>, sessions: readonly Session[]): Question[] {
  const known = sessionsByTurn(sessions)
  return questions.flatMap(({ sessions: named, left = false, ...question }, index) => {
    const evidence = [...new Set(question.evidence)].filter((id) => known.has(id))
    if (left || evidence.length === 0) return []
    return [{ ...question, index, evidence, sessions: [...new Set(named ?? evidence.map((id) => known.get(id)!))] }]
  })
}

/** @throws UnusableInput that names the place when a time could not be read */
export function timeOr (instant: number | undefined, place: string, text: string, like: string): number {
  if (instant === undefined) throw new UnusableInput(`${place} is ${JSON.stringify(text)}, not like "${like}"`)
  return instant
}
