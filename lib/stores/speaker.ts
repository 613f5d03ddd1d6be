import { codePointsUpTo } from '../validation/code-points.js'
import type { Memory } from './records.js'

/** Maximum number of characters of a speaker. */
export const MAX_SPEAKER_CHARACTERS = 128

/** What is trimmed: white space, and characters that no reader can see. */
export const SPEAKER_MARGIN = '\t\n\v\f\r \u00a0\u00ad\u115f\u1160\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005' +
  '\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u2800\u3000\u3164\ufeff\uffa0'
/**
 * What no speaker contains, as ranges in a bracket of a regular expression, in JavaScript and in PostgreSQL: line
 * breaks and characters that control a terminal or the direction of writing, with which it could pose as other text.
 */
export const SPEAKER_CONTROLS =
  String.raw`\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`
/** The roles of chat messages, which are speakers where nobody else is stated. Compared without case. */
export const MESSAGE_ROLES: readonly string[] = ['user', 'human', 'assistant', 'ai', 'system', 'tool']

const CONTROL = new RegExp(String.raw`[\0${SPEAKER_CONTROLS}]`)
const MARGIN = new Set(SPEAKER_MARGIN)
const ROLE = new RegExp(`^(?:${MESSAGE_ROLES.join('|')})$`, 'i')

/**
 * Who said a memory: the text `metadata.speaker`, else `metadata.role` when it is the role of a chat message. Null when
 * neither states one.
 */
export function speakerOf ({ metadata: { speaker, role } }: Pick<Memory, 'metadata'>): string | null {
  if (typeof speaker === 'string') {
    const trimmed = trimSpeaker(speaker)
    return speakerProblem(trimmed) === undefined ? trimmed : null
  }
  return typeof role === 'string' && ROLE.test(role) ? role : null
}

export function trimSpeaker (text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && MARGIN.has(text[start]!)) start++
  while (end > start && MARGIN.has(text[end - 1]!)) end--
  return text.slice(start, end)
}

/** @returns what is wrong with a trimmed speaker; undefined when it is valid */
export function speakerProblem (trimmed: string): string | undefined {
  if (trimmed === '') return 'must not be blank'
  if (codePointsUpTo(trimmed, MAX_SPEAKER_CHARACTERS) > MAX_SPEAKER_CHARACTERS) {
    return `must not be longer than ${MAX_SPEAKER_CHARACTERS} characters`
  }
  if (CONTROL.test(trimmed)) return 'must not contain control characters'
  return undefined
}

/** The name of the speaker; null when only a role is stated, or nothing. */
export function nameOf (memory: Pick<Memory, 'metadata'>): string | null {
  const speaker = speakerOf(memory)
  return speaker === null || ROLE.test(speaker) ? null : speaker
}

/**
 * The texts of a memory that are embedded, one for each passage. The speaker's name stands before the first, because a
 * question that names a person is then closer to what that person said.
 */
export function embeddedTexts ({ text, name, passages }: {
  text: string, name: string | null, passages: ReadonlyArray<Readonly<{ start: number, end: number }>>,
}): string[] {
  return passages.map(({ start, end }, index) => (
    `${index === 0 && name !== null ? `${name}: ` : ''}${text.slice(start, end)}`
  ))
}
