import { Type, type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox'
import { TRUST_LEVELS, type Trust } from '../access/trust.js'
import type { TokenCount } from '../text/tokens.js'
import { MAX_SPEAKER_CHARACTERS } from './speaker.js'

export type Metadata = Record<string, string | number | boolean | null>

/** Of a memory that is a message of a conversation, which its `documentId` names. */
export interface MessageFields {
  /** For instance `user` or `assistant`. */
  readonly role: string
  readonly name?: string
  /** Given by whoever sent it; unique in its conversation. */
  readonly id?: string
  /** How many messages stand before it, from 0; those with instructions for the model are not counted. */
  readonly position: number
  /** Equal for messages of one role, name and text as they were sent. */
  readonly digest: string
}

/** The values that a field may have: their type in the program. What a database has instead is in sql/rows.ts. */
interface Values {
  id: string
  text: string
  texts: readonly string[]
  object: Readonly<Metadata>
  message: MessageFields
  /** Milliseconds since the epoch; RFC 3339 on the wire. */
  instant: number
  trust: Trust
  /** A persistent store writes `tokens.value` and restores it by `TokenCount.known`. */
  tokens: TokenCount
}
export type FieldKind = keyof Values

interface FieldDefinition {
  /** The name on the wire and of the column in SQL. */
  readonly column: string
  readonly kind: FieldKind
  /** Whether a memory may have none. */
  readonly nullable?: true
  /** In lists, hits and lines of an export. Absent: no answer has the field. */
  readonly answered?: TSchema
  /** In a retain, where it is optional. Absent: a retain cannot send the field. */
  readonly retained?: TSchema
  /** In a line of an import, where it is optional; default as `retained`. */
  readonly imported?: TSchema
  /** Whether the event of a webhook may have it. */
  readonly event?: true
  /** Its value in the examples of the documentation; default null. */
  readonly example?: unknown
}

export const nullable = (options: Record<string, unknown> = {}) => Type.Unsafe<string | null>({
  type: ['string', 'null'], ...options,
})
export const instant = (description: string) => Type.String({
  format: 'date-time', description: `${description} RFC 3339 with an offset.`,
})
export const nullableInstant = (description: string) => nullable({ format: 'date-time', description })
export const trust = (description: string) => Type.Enum([...TRUST_LEVELS], { title: 'TrustLevel', description })
export const MemoryId = Type.String({
  format: 'uuid', description: 'UUIDv7.', examples: ['01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f'],
})
/** Of the role and of the id of a message. */
export const MAX_ROLE_CHARACTERS = 64
export const MAX_MESSAGE_ID_CHARACTERS = 255
/** Maximum number of tags of a memory or a filter. */
export const MAX_TAGS = 100
const Tag = Type.String({ minLength: 1, maxLength: 128 })
export const tagList = (description: string) => Type.Array(Tag, { minItems: 1, maxItems: MAX_TAGS, description })
export const speakerText = (description: string) => (
  Type.String({ minLength: 1, maxLength: MAX_SPEAKER_CHARACTERS, description })
)
export const MetadataSchema = Type.Unsafe<Metadata>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  title: 'Metadata',
  description: 'A flat object whose values are strings, numbers, booleans or null. Numbers are those of JavaScript: ' +
    'send an id beyond 2^53 as a string.',
})

const MessageSchema = (type: 'object' | ['object', 'null']) => ({
  type,
  properties: {
    role: { type: 'string', minLength: 1, maxLength: MAX_ROLE_CHARACTERS },
    name: { type: 'string', minLength: 1, maxLength: MAX_SPEAKER_CHARACTERS },
    id: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_ID_CHARACTERS },
    position: {
      type: 'integer', minimum: 0, maximum: 1e9, description: 'How many messages stand before it, from 0.',
    },
    digest: {
      type: 'string', minLength: 1, maxLength: 64, description: 'Equal for messages of one role, name and text.',
    },
  },
  required: ['role', 'position', 'digest'],
  additionalProperties: false,
  description: 'What the memory is in its conversation, which `document_id` names.',
})

const OCCURRED = 'When the event that the memory describes happened.'

/**
 * The fields of a memory, by their names in the program. Types, schemas of requests and answers, columns, lines of an
 * export and copies are made from this table; a new field needs an entry here and its column in migrations/.
 */
export const MEMORY_FIELDS = {
  /** UUIDv7, unique within its bank. */
  memoryId: {
    column: 'memory_id',
    kind: 'id',
    answered: MemoryId,
    imported: Type.String({ format: 'uuid7' }),
    example: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f',
  },
  /** A retain sends it as `content`. */
  text: {
    column: 'text',
    kind: 'text',
    answered: Type.String({ description: 'The whole text of the memory.' }),
    example: 'Alice prefers tea over coffee.',
  },
  /** Sorted, without duplicates. */
  tags: {
    column: 'tags',
    kind: 'texts',
    answered: Type.Array(Type.String()),
    retained: tagList('Tags of the memory, by which it can be filtered and deleted.'),
    imported: Type.Array(Tag, { maxItems: MAX_TAGS }),
    event: true,
    example: ['preference'],
  },
  metadata: {
    column: 'metadata',
    kind: 'object',
    answered: MetadataSchema,
    retained: MetadataSchema,
    event: true,
    example: { channel: 'chat' },
  },
  occurredAt: {
    column: 'occurred_at',
    kind: 'instant',
    nullable: true,
    answered: nullableInstant(OCCURRED),
    retained: instant(OCCURRED),
    event: true,
  },
  retainedAt: {
    column: 'retained_at',
    kind: 'instant',
    answered: Type.String({ format: 'date-time' }),
    imported: instant('When the memory was first retained. Default now.'),
    example: '2026-01-05T09:30:00.000Z',
  },
  /** From this instant on no method of a store returns or counts the memory. */
  expiresAt: {
    column: 'expires_at',
    kind: 'instant',
    nullable: true,
    answered: nullableInstant('When the memory expires.'),
    retained: instant('When the memory expires; must be in the future.'),
  },
  documentId: {
    column: 'document_id',
    kind: 'text',
    nullable: true,
    answered: nullable(),
    retained: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'The document or conversation that the memory belongs to. Its neighbours in it help to find it.',
    }),
  },
  source: {
    column: 'source',
    kind: 'text',
    nullable: true,
    answered: nullable(),
    retained: Type.String({ minLength: 1, maxLength: 512, description: 'Where the memory comes from.' }),
  },
  /** A valid speaker (speaker.ts). */
  speaker: {
    column: 'speaker',
    kind: 'text',
    nullable: true,
    answered: nullable({
      description: 'Who said it: a name, `user` or `assistant`. Null when nobody is stated.',
    }),
    retained: speakerText('Who said it: `user`, `assistant` or a name, in visible characters. Default: the text ' +
      '`metadata.speaker`, else the role of a chat message in `metadata.role`. It is kept as `metadata.speaker`.'),
    event: true,
    example: 'Alice',
  },
  /** A retain makes no messages: they come through the operations on conversations. */
  message: {
    column: 'message',
    kind: 'message',
    nullable: true,
    answered: Type.Unsafe<MessageFields | null>({
      ...MessageSchema(['object', 'null']), description: 'Of a message of a conversation; null for any other memory.',
    }),
    imported: Type.Unsafe<MessageFields>(MessageSchema('object')),
  },
  /** Decided at write time. */
  trust: {
    column: 'trust',
    kind: 'trust',
    answered: trust('How far the memory may be believed, decided when it was written: by its writer, and `suspect` ' +
      'when it looks like an instruction to a model or hides text.'),
    imported: trust('Can lower the trust that memories of the importer have, but not raise it.'),
    example: 'trusted',
  },
  /** Of the text. */
  tokens: { column: 'tokens', kind: 'tokens' },
} as const satisfies Record<string, FieldDefinition>

type Fields = typeof MEMORY_FIELDS
export type FieldName = keyof Fields
type OrNull<F, V> = F extends { readonly nullable: true } ? V | null : V
type With<P extends string, V = TSchema> = { [K in FieldName]: Fields[K] extends Record<P, V> ? K : never }[FieldName]

/** The fields of a memory. */
export type MemoryValues = { readonly [K in FieldName]: OrNull<Fields[K], Values[Fields[K]['kind']]> }

/** The fields that an answer has. */
type Answered = With<'answered'>
/** The fields that a retain may send. */
export type Retained = With<'retained'>
/** The texts and instants that a retain may send. */
export type Optional = Retained & With<'nullable', true>

/** An entry of the table, with its name. */
export interface Field<N extends FieldName = FieldName> extends FieldDefinition {
  readonly name: N
  readonly column: Fields[N]['column']
}

export const FIELDS: readonly Field[] = (Object.keys(MEMORY_FIELDS) as FieldName[])
  .map((name) => ({ name, ...MEMORY_FIELDS[name] }))

type FieldsOf<N extends FieldName> = ReadonlyArray<Field<N>>
const ANSWERED = FIELDS.filter(({ answered }) => answered !== undefined) as unknown as FieldsOf<Answered>
const RETAINED = FIELDS.filter(({ retained }) => retained !== undefined) as unknown as FieldsOf<Retained>
const OPTIONAL = RETAINED.filter(({ nullable }) => nullable === true) as unknown as FieldsOf<Optional>

/** The fields whose values are texts. */
export const TEXTS = FIELDS.filter(({ kind }) => kind === 'text').map(({ name }) => name) as Array<With<'kind', 'text'>>
/** The columns of the fields that the event of a webhook may have. */
export const EVENT_COLUMNS = FIELDS.filter(({ event }) => event === true)
  .map(({ column }) => column) as Array<Fields[With<'event', true>]['column']>
type OmittedColumn = Fields[Answered & (With<'nullable', true> | With<'kind', 'texts' | 'object'>)]['column']

function mapped<N extends FieldName, T> (
  fields: FieldsOf<N>, key: 'name' | 'column', valueOf: (field: Field<N>) => unknown,
): T {
  const result: Record<string, unknown> = {}
  for (const field of fields) result[field[key]] = valueOf(field)
  return result as T
}

/** The values of all fields, each from its entry in the table. */
export function memoryValues (valueOf: (field: Field) => unknown): MemoryValues {
  return mapped(FIELDS, 'name', valueOf)
}

/** The texts and instants of a retain. */
export function optionalValues (valueOf: (field: Field<Optional>) => unknown): Pick<MemoryValues, Optional> {
  return mapped(OPTIONAL, 'name', valueOf)
}

/** The members of an answer, each from its entry in the table. */
export function answeredMembers (valueOf: (field: Field<Answered>) => unknown): AnsweredMembers {
  return mapped(ANSWERED, 'column', valueOf)
}

type AnsweredMembers = { [K in Answered as Fields[K]['column']]: Static<Fields[K]['answered']> }
type AnsweredSchemas = { [K in Answered as Fields[K]['column']]: Fields[K]['answered'] }
type RetainedSchemas = { [K in Retained as Fields[K]['column']]: TOptional<Fields[K]['retained']> }
type ImportedSchemas = {
  [K in Retained | With<'imported'> as Fields[K]['column']]: TOptional<
    Fields[K] extends { readonly imported: infer S extends TSchema } ? S
      : Fields[K] extends { readonly retained: infer S extends TSchema } ? S : never
  >
}
type ViewedSchemas = {
  [K in Answered as Fields[K]['column']]: Fields[K]['column'] extends OmittedColumn
    ? TOptional<TUnsafe<NonNullable<Static<Fields[K]['answered']>>>>
    : Fields[K]['answered']
}

/** The schemas of an answer. */
export const answeredSchemas: AnsweredSchemas = mapped(ANSWERED, 'column', ({ answered }) => answered)
/** Of a retain, where each is optional. */
export const retainedSchemas: RetainedSchemas = mapped(RETAINED, 'column', ({ retained }) => Type.Optional(retained!))
/** Of a line of an import, where each is optional. */
export const importedSchemas: ImportedSchemas = mapped(
  FIELDS.filter(({ retained, imported }) => retained !== undefined || imported !== undefined), 'column',
  ({ retained, imported }) => Type.Optional((imported ?? retained)!),
)
/** Of a memory without the members that have nothing in them. */
export const viewedSchemas: ViewedSchemas = mapped(ANSWERED, 'column', (field) => {
  if (!isOmitted(field)) return field.answered
  const type = field.kind === 'message' ? 'object' : 'string'
  return Type.Optional(field.nullable === true ? Type.Unsafe({ ...field.answered, type }) : field.answered!)
})

type ViewedMembers = {
  [C in keyof AnsweredMembers]:
  C extends OmittedColumn ? NonNullable<AnsweredMembers[C]> | undefined : AnsweredMembers[C]
}

/** The members of an answer, undefined where they have nothing in them. */
export function viewedMembers (members: AnsweredMembers): ViewedMembers {
  return mapped(ANSWERED, 'column', (field) => {
    const value = members[field.column]
    if (value === null) return undefined
    return isOmitted(field) && typeof value === 'object' && Object.keys(value).length === 0 ? undefined : value
  })
}

/** Whether the member is left out of a memory that has nothing in it. */
function isOmitted ({ nullable, kind }: Pick<Field, 'nullable' | 'kind'>): boolean {
  return nullable === true || kind === 'texts' || kind === 'object'
}
