import { Type } from 'typebox'
import {
  instant, BankId, DocumentId, MAX_FILTER_VALUES, SpeakerFilter, TagFilter, TagsMatch, trust, MetadataSchema,
} from './common.js'

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

/** Filters on memories that a search and a forget have. */
export const memoryFilters = {
  tags: Type.Optional(TagFilter),
  tags_match: Type.Optional(TagsMatch),
  document_ids: Type.Optional(Type.Array(DocumentId, {
    minItems: 1, maxItems: MAX_FILTER_VALUES, description: 'Only memories of one of these documents or conversations.',
  })),
  metadata: Type.Optional(MetadataSchema),
  speakers: Type.Optional(SpeakerFilter),
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
  as_of: Type.Optional(instant('Only memories retained at or before this instant.')),
  min_trust: minTrust,
}

export const referenceTime = Type.Optional(Type.String({
  format: 'date-time',
  description: 'The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for ' +
    'queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at ' +
    'that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.',
}))
