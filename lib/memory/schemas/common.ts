import { Type, type Static, type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import { BANK_ID_PATTERN } from '../../identity/context.js'
import { IDEMPOTENCY_LIFETIME_MS } from '../../stores/vector-store.js'
import { speakerText, tagList } from '../../stores/memory-fields.js'
import { BANK_ID_IN_WORDS } from '../../validation/ids.js'
import { PAGE_SIZE, type RequestRange } from './ranges.js'

export {
  instant, MemoryId, MetadataSchema, nullable, nullableInstant, trust,
} from '../../stores/memory-fields.js'

export const strict = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) => (
  Type.Object(properties, { additionalProperties: false, ...options })
)
/** A member of an answer that may be undefined: its JSON then lacks the member, as it does an absent one. */
export const optionalOrUndefined = <S extends TSchema>(schema: S) => (
  Type.Optional(schema) as unknown as TOptional<TUnsafe<Static<S> | undefined>>
)
// The default is in the description only: the keyword would make the member required in generated types of requests.
export const clamped = (description: string, { min, max, default: fallback }: RequestRange) => Type.Integer({
  description: `${description} Clamped to ${min}–${max}. Default ${fallback}.`,
})
export const BankId = Type.String({
  pattern: BANK_ID_PATTERN, 'x-allowed': BANK_ID_IN_WORDS, description: 'Id of a bank.', examples: ['user-alice'],
})
/** PostgreSQL can store neither U+0000 nor lone surrogates. */
export const TenantId = (description: string) => Type.String({
  minLength: 1,
  maxLength: 512,
  pattern: '^[^\\u0000\\ud800-\\udfff]*$',
  'x-allowed': 'in well-formed Unicode without U+0000',
  description,
})
/** Maximum number of values of which a filter admits any. */
export const MAX_FILTER_VALUES = 100
/** The id of a document in a filter. */
export const DocumentId = Type.String({ minLength: 1, maxLength: 512 })
export const TagFilter = tagList('An untagged memory never matches a tag filter.')
export const TagsMatch = Type.Enum(['any', 'all'], {
  title: 'TagsMatch',
  description: 'Whether a memory must have any or all of the tags. Default any. A search or list ' +
    'without tags ignores it.',
})
export const SpeakerFilter = Type.Array(speakerText('A name, `user` or `assistant`.'), {
  minItems: 1,
  maxItems: MAX_FILTER_VALUES,
  description: 'Only memories that one of these said, compared without regard to case.',
  examples: [['user']],
})
/** How long the same key gets the same answer. */
export const IDEMPOTENCY_PERIOD = `${IDEMPOTENCY_LIFETIME_MS / 3_600_000} hours`

/** The query parameters of a list. */
export const pageFields = {
  limit: Type.Optional(clamped('Number of entries in one page.', PAGE_SIZE)),
  cursor: Type.Optional(Type.String({
    minLength: 1, maxLength: 1024, description: '`next_cursor` of the previous page.',
  })),
}
/** Of a list of banks, which examines a bounded number of them. */
export const BANKS_CURSOR = 'Null on the last page. A page before it may have fewer banks than `limit`, or none, ' +
  'when the caller may not read the others.'
