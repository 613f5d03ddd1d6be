import { codePointsUpTo } from '../base/code-points.js'
import type { Metadata } from './memory-fields.js'

/** Maximum number of characters of a speaker. */
export const MAX_SPEAKER_CHARACTERS = 128

/** What is trimmed: white space, and characters that no reader can see. */
const MARGIN = new Set('\t\n\v\f\r \u00a0\u00ad\u115f\u1160\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005' +
  '\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u2800\u3000\u3164\ufeff\uffa0')
/**
 * What no speaker contains: line breaks and characters that control a terminal or the direction of writing, with which
 * it could pose as other text.
 */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u
/** The roles of chat messages, which are speakers where nobody else is stated. */
const ROLE = /^(?:user|human|assistant|ai|system|tool)$/i

/**
 * Who said a memory whose retain names nobody: the text `metadata.speaker`, else `metadata.role` when it is the role of
 * a chat message. Null when neither states one.
 */
export function statedSpeaker ({ speaker, role }: Readonly<Metadata>): string | null {
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
export function nameOf ({ speaker }: { readonly speaker: string | null }): string | null {
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
