import { Type, type Static, type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import { BANK_ID_PATTERN } from '../../access/context.js'
import { BANK_ID_IN_WORDS } from '../../base/ids.js'
import { instant, MetadataSchema, speakerText, tagList, trust } from '../../stores/memory-fields.js'
import { IDEMPOTENCY_LIFETIME_MS, STATE_FILTERS } from '../../stores/vector-store.js'
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

/** A filter that several operations share. */
export const minTrust = Type.Optional(trust('Only memories with at least this level of trust. Default: all.'))

export const scope = {
  bank_id: Type.Optional(BankId),
  banks: Type.Optional(Type.Array(BankId, {
    minItems: 1, maxItems: 64, description: 'Several banks, searched in one ranking; used instead of bank_id.',
  })),
}

/** Of a request with `scope`: the choice in it, which the operation checks itself. */
export const oneBankOrSeveral = { 'x-choice': { bank_id: [], banks: [] } }

/** Maximum length of a query. */
export const MAX_QUERY_CHARACTERS = 8192

export const query = Type.String({
  minLength: 1, maxLength: MAX_QUERY_CHARACTERS, examples: ['What does Alice drink?'],
})

/** Maximum number of values of which a filter admits any. */
const MAX_FILTER_VALUES = 100
/** The id of a document in a filter. */
export const DocumentId = Type.String({ minLength: 1, maxLength: 512 })

/** Filters on memories that a search and a forget have. */
export const memoryFilters = {
  tags: Type.Optional(tagList('An untagged memory never matches a tag filter.')),
  tags_match: Type.Optional(Type.Enum(['any', 'all'], {
    title: 'TagsMatch',
    description: 'Whether a memory must have any or all of the tags. Default any. A search or list ' +
      'without tags ignores it.',
  })),
  document_ids: Type.Optional(Type.Array(DocumentId, {
    minItems: 1, maxItems: MAX_FILTER_VALUES, description: 'Only memories of one of these documents or conversations.',
  })),
  metadata: Type.Optional(MetadataSchema),
  speakers: Type.Optional(Type.Array(speakerText('A name, `user` or `assistant`.'), {
    minItems: 1,
    maxItems: MAX_FILTER_VALUES,
    description: 'Only memories that one of these said, compared without regard to case.',
    examples: [['user']],
  })),
  occurred_after: Type.Optional(instant('Only memories that occurred at or after this instant.')),
  occurred_before: Type.Optional(instant('Only memories that occurred before this instant.')),
}

/** Filters that a list and a forget have. */
export const retainedBounds = {
  retained_after: Type.Optional(instant('Only memories retained at or after this instant.')),
  retained_before: Type.Optional(instant('Only memories retained before this instant.')),
}

/** Filters of a search. */
export const filters = {
  ...memoryFilters,
  as_of: Type.Optional(instant('The bank as it was stored at this instant: the memories of then, with their texts, ' +
    'tags and states of then.')),
  state: Type.Optional(Type.Enum([...STATE_FILTERS], {
    title: 'StateFilter',
    description: '`current`; `history`: superseded and retired memories; or `all`. Default current.',
  })),
  valid_at: Type.Optional(instant('Only memories that, as far as it is told, are valid in the world at this instant.')),
  min_trust: minTrust,
}

export const referenceTime = Type.Optional(Type.String({
  format: 'date-time',
  description: 'The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for ' +
    'queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at ' +
    'that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.',
}))
