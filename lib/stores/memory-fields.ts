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
/**
 * Whether a memory is what its bank holds to be so. superseded: another memory took its place. retired: somebody took
 * it back. Both are kept with their texts, and only readers who ask for history find them.
 */
export const STATES = ['current', 'superseded', 'retired'] as const
export type MemoryState = typeof STATES[number]

/** memory: as somebody retained it. fact: derived from other memories by a model. */
export const MEMORY_KINDS = ['memory', 'fact'] as const
export type MemoryKind = typeof MEMORY_KINDS[number]

/** The values that a field may have: their type in the program. What a database has instead is in sql/rows.ts. */
interface Values {
  id: string
  text: string
  texts: readonly string[]
  /** Ids of memories. */
  ids: readonly string[]
  object: Readonly<Metadata>
  message: MessageFields
  /** A positive integer. */
  count: number
  /** Milliseconds since the epoch; RFC 3339 on the wire. */
  instant: number
  trust: Trust
  state: MemoryState
  memoryKind: MemoryKind
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
  /** Whether an answer lacks the member when there is nothing in it; other members are null then. */
  readonly told?: true
  /** In a retain, where it is optional. Absent: a retain cannot send the field. */
  readonly retained?: TSchema
  /** In a line of an import, where it is optional; default as `retained`. */
  readonly imported?: TSchema
  /** Whether the event of a webhook may have it. */
  readonly event?: true
  /** Whether a memory that was never changed, and of which no more is told, has the default of `newLife` or null. */
  readonly life?: true
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

const MessageSchema = Type.Unsafe<MessageFields>({
  title: 'MessageFields',
  type: 'object',
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
/** Maximum number of memories that one supersedes by their ids. */
export const MAX_SUPERSEDED = 100
const MAX_KEY_CHARACTERS = 256
const Ids = Type.Array(MemoryId)

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
    life: true,
    nullable: true,
    answered: MessageSchema,
    told: true,
    imported: MessageSchema,
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
  /** Counts the changes of the memory, its state included. */
  version: {
    column: 'version',
    kind: 'count',
    life: true,
    answered: Type.Integer({ description: 'Counts the changes of the memory from 1; in quotes, its entity tag.' }),
    imported: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
    example: 1,
  },
  state: {
    column: 'state',
    kind: 'state',
    life: true,
    answered: Type.Enum([...STATES], {
      title: 'MemoryState',
      description: 'superseded: another memory took its place. retired: somebody took it back.',
    }),
    imported: Type.Enum([...STATES]),
    example: 'current',
  },
  /** At most one current memory of a bank has it. */
  key: {
    column: 'key',
    kind: 'text',
    life: true,
    nullable: true,
    answered: Type.String({ description: 'The slot that the memory fills, such as `ada/employer`.' }),
    told: true,
    retained: Type.String({
      minLength: 1,
      maxLength: MAX_KEY_CHARACTERS,
      pattern: '^[^\\s\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$',
      'x-allowed': 'in visible characters without spaces',
      description: 'A slot that holds one fact, such as `ada/employer`: a new memory supersedes the one that stands ' +
        'under the same key.',
    }),
  },
  /** The memory is about the world from this instant on. */
  validFrom: {
    column: 'valid_from',
    kind: 'instant',
    life: true,
    nullable: true,
    answered: Type.String({ format: 'date-time', description: 'From when on it is so in the world.' }),
    told: true,
    retained: instant('From when on it is so in the world.'),
  },
  /** And before this one. */
  validUntil: {
    column: 'valid_until',
    kind: 'instant',
    life: true,
    nullable: true,
    answered: Type.String({ format: 'date-time', description: 'Until when it was so in the world, exclusive.' }),
    told: true,
    retained: instant('Until when it is so in the world, exclusive; after `valid_from`.'),
  },
  /** Memories that it took the place of, as its writer named them or as they stood under its key. */
  supersedes: {
    column: 'supersedes',
    kind: 'ids',
    life: true,
    answered: Type.Array(MemoryId, { description: 'The memories whose place it took.' }),
    told: true,
    retained: Type.Array(MemoryId, {
      minItems: 1, maxItems: MAX_SUPERSEDED, description: 'Memories of the bank whose place this one takes.',
    }),
    imported: Ids,
  },
  supersededBy: {
    column: 'superseded_by',
    kind: 'id',
    life: true,
    nullable: true,
    answered: Type.String({ format: 'uuid', description: 'The memory that took its place.' }),
    told: true,
    imported: MemoryId,
  },
  kind: {
    column: 'kind',
    kind: 'memoryKind',
    life: true,
    answered: Type.Enum([...MEMORY_KINDS], {
      title: 'MemoryKind',
      description: 'fact: derived from other memories by a model. Absent of a memory as it was retained.',
    }),
    told: true,
    imported: Type.Enum([...MEMORY_KINDS]),
  },
  derivedFrom: {
    column: 'derived_from',
    kind: 'ids',
    life: true,
    answered: Type.Array(MemoryId, { description: 'The memories that a fact was derived from.' }),
    told: true,
    imported: Ids,
  },
  /** When this version was made. */
  changedAt: {
    column: 'changed_at',
    kind: 'instant',
    life: true,
    answered: Type.String({
      format: 'date-time', description: 'When this version was made; absent of the first one, made at `retained_at`.',
    }),
    told: true,
    imported: instant('When this version was made. Default `retained_at`.'),
  },
  /** The principal that made this version; null for an anonymous caller. */
  changedBy: { column: 'changed_by', kind: 'text', nullable: true, imported: Type.String({ maxLength: 512 }) },
  /** Why this version was made. */
  reason: { column: 'reason', kind: 'text', nullable: true, life: true, imported: Type.String({ maxLength: 1024 }) },
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
type OmittedColumn = Fields[Answered & (With<'nullable', true> | With<'kind', 'texts' | 'ids' | 'object'>)]['column']

function mapped<N extends FieldName, T> (
  fields: FieldsOf<N>, key: 'name' | 'column', valueOf: (field: Field<N>) => unknown,
): T {
  const result = emptyOf(fields, key)
  for (const field of fields) result[field[key]] = valueOf(field)
  return result as T
}

const templates = new WeakMap<readonly object[], { name?: object, column?: object }>()

/**
 * An object with all the members, to be given values. V8 turns an object to which many members are added one by one
 * into a slow dictionary; a copy of one that has them stays fast.
 */
function emptyOf (
  fields: ReadonlyArray<Pick<Field, 'name' | 'column'>>, key: 'name' | 'column',
): Record<string, unknown> {
  let known = templates.get(fields)
  if (known === undefined) templates.set(fields, known = {})
  known[key] ??= Object.fromEntries(fields.map((field) => [field[key], null]))
  return { ...known[key] }
}

/** A memory without values, of which every record of one is a copy. */
export function emptyMemory (): Record<string, unknown> {
  return emptyOf(FIELDS, 'name')
}

/** The values of all fields, each from its entry in the table. */
export function memoryValues (valueOf: (field: Field) => unknown): MemoryValues {
  return mapped(FIELDS, 'name', valueOf)
}

const NO_IDS: readonly string[] = Object.freeze([])

export type Life = Pick<
  MemoryValues, 'version' | 'state' | 'supersedes' | 'supersededBy' | 'kind' | 'derivedFrom' | 'changedAt' |
  'changedBy' | 'reason'
>

/** What every memory has when it is stored, unless something else is told. */
export function newLife ({ changedAt, changedBy }: Pick<Life, 'changedAt' | 'changedBy'>): Life {
  return {
    version: 1,
    state: 'current',
    supersedes: NO_IDS,
    supersededBy: null,
    kind: 'memory',
    derivedFrom: NO_IDS,
    changedAt,
    changedBy,
    reason: null,
  }
}

/** The texts and instants of a retain. */
export function optionalValues (valueOf: (field: Field<Optional>) => unknown): Pick<MemoryValues, Optional> {
  return mapped(OPTIONAL, 'name', valueOf)
}

/** What a memory says whose contents nobody may see. */
export const NOTHING_SAID = Object.freeze({
  text: '', tags: NO_IDS, metadata: Object.freeze({}), ...optionalValues(() => null), message: null,
})

/** The members of an answer, each from its entry in the table; undefined where nothing is told. */
export function answeredMembers (valueOf: (field: Field<Answered>) => unknown): AnsweredMembers {
  return mapped(ANSWERED, 'column', (field) => {
    const value = valueOf(field)
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
    return field.told === true && isEmpty ? undefined : value
  })
}

type IsTold<F> = F extends { readonly told: true } ? true : false
/** Those that an answer lacks when there is nothing in them. */
type Told = Answered & With<'told', true>
type AnsweredMembers = { [K in Exclude<Answered, Told> as Fields[K]['column']]: Static<Fields[K]['answered']> } &
  { [K in Told as Fields[K]['column']]?: Static<Fields[K]['answered']> | undefined }
type AnsweredSchemas = {
  [K in Answered as Fields[K]['column']]: IsTold<Fields[K]> extends true
    ? TOptional<TUnsafe<Static<Fields[K]['answered']> | undefined>>
    : Fields[K]['answered']
}
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
    : IsTold<Fields[K]> extends true
      ? TOptional<TUnsafe<Static<Fields[K]['answered']> | undefined>>
      : Fields[K]['answered']
}

/** The schemas of an answer. */
export const answeredSchemas: AnsweredSchemas = mapped(
  ANSWERED, 'column', ({ answered, told }) => told === true ? Type.Optional(answered!) : answered,
)
/** Of a retain, where each is optional. */
export const retainedSchemas: RetainedSchemas = mapped(RETAINED, 'column', ({ retained }) => Type.Optional(retained!))
/** Of a line of an import, where each is optional. */
export const importedSchemas: ImportedSchemas = mapped(
  FIELDS.filter(({ retained, imported }) => retained !== undefined || imported !== undefined), 'column',
  ({ retained, imported }) => Type.Optional((imported ?? retained)!),
)
/** Of a memory without the members that have nothing in them. */
export const viewedSchemas: ViewedSchemas = mapped(ANSWERED, 'column', (field) => {
  if (!isOmitted(field) && field.told !== true) return field.answered
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
    if (value === null || value === undefined) return undefined
    return isOmitted(field) && typeof value === 'object' && Object.keys(value).length === 0 ? undefined : value
  })
}

/** Whether the member is left out of a memory that has nothing in it. */
function isOmitted ({ nullable, kind }: Pick<Field, 'nullable' | 'kind'>): boolean {
  return nullable === true || kind === 'texts' || kind === 'ids' || kind === 'object'
}
