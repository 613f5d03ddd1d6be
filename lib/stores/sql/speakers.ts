import { MAX_SPEAKER_CHARACTERS, MESSAGE_ROLES, SPEAKER_CONTROLS, SPEAKER_MARGIN } from '../speaker.js'

/*
 * What speaker.ts does, in SQL. Nothing here depends on the locale of the database: in the C collation, `lower` changes
 * ASCII letters alone, and the other letters are translated by a table of ours.
 */

/** As escapes, because a statement with line breaks of other kinds and invisible characters cannot be read. */
const MARGIN = [...SPEAKER_MARGIN].map((character) => (
  `\\${character.charCodeAt(0).toString(16).padStart(4, '0')}`
)).join('')

/** What a memory's metadata states as its speaker, trimmed; it need not be valid. */
export function statedSpeaker (alias: string): string {
  const text = (key: string) => `${alias}.metadata ->> '${key}'`
  const isText = (key: string) => `jsonb_typeof(${alias}.metadata -> '${key}') = 'string'`
  const roles = MESSAGE_ROLES.map((role) => `'${role}'`).join(', ')
  return `case when ${isText('speaker')} then btrim(${text('speaker')}, U&'${MARGIN}')
    when ${isText('role')} and lower((${text('role')}) collate "C") in (${roles}) then ${text('role')} end`
}

/** Whether a trimmed text is the valid name of a speaker. */
export function isSpeaker (text: string): string {
  return `(char_length(${text}) between 1 and ${MAX_SPEAKER_CHARACTERS}
    and ${text} collate "C" !~ '[${SPEAKER_CONTROLS}]')`
}
