import { Type, type Static } from 'typebox'
import {
  MAX_MESSAGE_ID_CHARACTERS, MAX_ROLE_CHARACTERS, MemoryId, MetadataSchema, speakerText,
} from '../../stores/memory-fields.js'
import { BankId, clamped, DocumentId, instant, nullable, optionalOrUndefined, strict } from './common.js'
import { PAGE_SIZE } from './ranges.js'

/** Of one request. */
export const MAX_MESSAGES = 1000

const MESSAGE_ID = '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'
const conversation = { bank_id: BankId, conversation_id: DocumentId }

export interface ContentPart {
  type: string
  text?: string
}

export const SentMessage = strict({
  id: Type.Optional(Type.String({
    minLength: 1,
    maxLength: MAX_MESSAGE_ID_CHARACTERS,
    description: 'Unique in the conversation. Without ids, messages are told apart by their place in it.',
  })),
  role: Type.String({
    minLength: 1, maxLength: MAX_ROLE_CHARACTERS, description: 'For instance `user` or `assistant`.',
  }),
  content: Type.Optional(Type.Unsafe<string | ContentPart[]>({
    type: ['string', 'array'],
    items: {
      title: 'MessagePart',
      description: 'A part of a message; members that it has besides are ignored.',
      type: 'object',
      properties: { type: { type: 'string' }, text: { type: 'string' } },
      required: ['type'],
    },
    description: 'A text, or parts: the texts of those of type `text`, `input_text` and `output_text` are kept, each ' +
      'in a line of its own; a message that has parts but no text is not stored. Only a call of a tool may lack it.',
  })),
  name: Type.Optional(speakerText('Who says it. Default: the role.')),
  created_at: Type.Optional(instant('When it was said.')),
  metadata: Type.Optional(MetadataSchema),
  tool_calls: Type.Optional(Type.Array(Type.Unknown(), { description: 'Not stored.' })),
  tool_call_id: Type.Optional(Type.String({ description: 'Not stored.' })),
}, {
  title: 'ConversationMessage',
  description: 'A message in the form that chat APIs have. Calls of tools and their results (`role: "tool"`) are not ' +
    'stored.',
})

export const AppendMessagesRequest = strict({
  ...conversation, messages: Type.Array(SentMessage, { minItems: 1, maxItems: MAX_MESSAGES }),
}, {
  title: 'ConversationMessages',
  description: 'Messages to append, in order.',
  examples: [{
    messages: [
      { role: 'user', content: 'I moved to Lyon last week.' },
      { role: 'assistant', content: 'How do you like it?' },
    ],
  }],
})

export const AppendMessagesAnswer = strict({
  stored: Type.Integer({ description: 'Number of messages that are new.' }),
  repeated: Type.Integer({ description: 'Number of messages that the conversation had.' }),
  memory_ids: Type.Array(Type.Unsafe<string | null>({ ...MemoryId, type: ['string', 'null'] }), {
    description: 'The memory of each message, in order. Null for one that is not stored: a call of a tool or its ' +
      'result, a message without text, and a repeat of a message that was forgotten.',
  }),
  redactions: optionalOrUndefined(Type.Array(Type.String(), {
    description: 'Metadata keys that the bank\'s barriers removed.',
  })),
}, {
  title: 'AppendMessagesAnswer',
  description: 'What became of the messages.',
  examples: [{ stored: 1, repeated: 0, memory_ids: [MESSAGE_ID] }],
})

const place = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }))
export const MessagesRequest = strict({
  ...conversation,
  limit: Type.Optional(clamped('Number of messages in one page.', PAGE_SIZE)),
  before: place('`next_cursor` of a page: the messages before it. Default: the newest messages.'),
  after: place('`memory_id` of a message: the messages after it; or `next_cursor` of such a page. Not with `before`.'),
})

export const StoredMessage = strict({
  id: nullable({ description: 'As it was sent.' }),
  memory_id: MemoryId,
  role: Type.String(),
  name: nullable(),
  content: Type.String(),
  created_at: Type.String({
    format: 'date-time', description: 'When it was said, or stored where that was not told.',
  }),
}, { title: 'StoredMessage', description: 'A message of a conversation.' })
const MESSAGE = {
  id: null,
  memory_id: MESSAGE_ID,
  role: 'user',
  name: null,
  content: 'I moved to Lyon last week.',
  created_at: '2026-01-05T09:30:00.000Z',
}

export const MessagesAnswer = strict({
  messages: Type.Array(StoredMessage, { description: 'Oldest first.' }),
  next_cursor: nullable({
    description: 'For the page of older messages, as `before`; with `after`, for the next page, as `after`. Null on ' +
      'the last page.',
  }),
}, {
  title: 'MessagesPage',
  description: 'A page of a conversation.',
  examples: [{ messages: [MESSAGE], next_cursor: null }],
})

const Conversation = strict({
  conversation_id: Type.String(),
  message_count: Type.Integer(),
  last_message_at: Type.String({ format: 'date-time', description: 'When its newest message was stored.' }),
}, { title: 'ConversationSummary', description: 'A conversation in a list.' })

export const ConversationsAnswer = strict({
  conversations: Type.Array(Conversation, { description: 'Ordered by id.' }),
  next_cursor: nullable({ description: 'Null on the last page.' }),
}, {
  title: 'ConversationsPage',
  description: 'A page of conversations.',
  examples: [{
    conversations: [{ conversation_id: 'support-7', message_count: 2, last_message_at: '2026-01-05T09:30:00.000Z' }],
    next_cursor: null,
  }],
})

export const PopMessagesRequest = strict({
  ...conversation,
  count: Type.Integer({ minimum: 1, maximum: MAX_MESSAGES, description: 'Number of messages, from the newest on.' }),
}, { title: 'PopMessages', description: 'How many messages to delete.', examples: [{ count: 1 }] })

export const DeleteConversationRequest = strict(conversation)

export const DeletedMessages = strict({
  deleted_count: Type.Integer(),
  memory_ids: Type.Array(MemoryId, { description: 'Of the messages, at most 1000.' }),
}, {
  title: 'DeletedMessages',
  description: 'The messages that were deleted.',
  examples: [{ deleted_count: 1, memory_ids: [MESSAGE_ID] }],
})

export const PoppedMessages = strict({
  ...DeletedMessages.properties,
  messages: optionalOrUndefined(Type.Array(StoredMessage, {
    description: 'The messages, oldest first; for a caller that may also read the bank, and not for a repeat by ' +
      'idempotency key.',
  })),
}, {
  title: 'PoppedMessages',
  description: 'The messages that were deleted.',
  examples: [{ deleted_count: 1, memory_ids: [MESSAGE_ID], messages: [MESSAGE] }],
})

export type SentMessage = Static<typeof SentMessage>
export type AppendMessagesRequest = Static<typeof AppendMessagesRequest>
export type AppendMessagesAnswer = Static<typeof AppendMessagesAnswer>
export type MessagesRequest = Static<typeof MessagesRequest>
export type MessagesAnswer = Static<typeof MessagesAnswer>
export type ConversationsAnswer = Static<typeof ConversationsAnswer>
export type PopMessagesRequest = Static<typeof PopMessagesRequest>
export type PoppedMessages = Static<typeof PoppedMessages>
export type DeletedMessages = Static<typeof DeletedMessages>
export type DeleteConversationRequest = Static<typeof DeleteConversationRequest>
