import type { Conversation } from './conversation-types.js'

/** The same conversations with the speaker as a field of each memory, instead of a name before its text. */
export function withSpeakerApart (conversations: readonly Conversation[]): Conversation[] {
  return conversations.map((conversation) => ({
    ...conversation,
    sessions: conversation.sessions.map(({ id, turns }) => ({
      id,
      turns: turns.map((turn) => (
        turn.apart === undefined ? turn : { ...turn, role: turn.apart.speaker, contents: turn.apart.contents }
      )),
    })),
  }))
}

/** What a memory of a conversation has beside its text, and can be retained without. */
export const ATTRIBUTES = ['speaker', 'time', 'document'] as const
export type Attribute = (typeof ATTRIBUTES)[number]

/** Names data that are measured without some of the attributes. */
export function labelWithout (data: string, omitted: readonly Attribute[]): string {
  return omitted.length === 0 ? data : `${data}, without ${omitted.join(', ')}`
}

/** The same conversations as a caller retains them who does not send some of the attributes. */
export function withoutAttributes (
  conversations: readonly Conversation[], omitted: readonly Attribute[],
): Conversation[] {
  const omits = (attribute: Attribute) => omitted.includes(attribute)
  return conversations.map((conversation) => ({
    ...conversation,
    hasDocuments: conversation.hasDocuments && !omits('document'),
    sessions: conversation.sessions.map(({ id, turns }) => ({
      id,
      turns: turns.map((turn) => ({
        ...turn,
        role: omits('speaker') ? undefined : turn.role,
        occurredAt: omits('time') ? undefined : turn.occurredAt,
      })),
    })),
  }))
}
