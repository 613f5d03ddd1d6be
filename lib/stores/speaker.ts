import type { Memory } from './records.js'

/** Maximum number of characters of a speaker. */
export const MAX_SPEAKER_CHARACTERS = 128

/** The roles of chat messages. */
const MESSAGE_ROLE = /^(?:user|human|assistant|ai|system|tool)$/i

/**
 * Who said a memory: the text `metadata.speaker`, else `metadata.role` when it is the role of a chat message. Null when
 * neither states one.
 */
export function speakerOf ({ metadata: { speaker, role } }: Pick<Memory, 'metadata'>): string | null {
  if (typeof speaker === 'string') return isSpeaker(speaker) ? speaker.trim() : null
  return typeof role === 'string' && MESSAGE_ROLE.test(role) ? role : null
}

function isSpeaker (text: string): boolean {
  return text.trim() !== '' && text.length <= MAX_SPEAKER_CHARACTERS
}

/** The name of the speaker; null when only a role is stated, or nothing. */
export function nameOf (memory: Pick<Memory, 'metadata'>): string | null {
  const speaker = speakerOf(memory)
  return speaker === null || MESSAGE_ROLE.test(speaker) ? null : speaker
}
