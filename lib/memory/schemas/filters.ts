import { Type } from 'typebox'
import { instant, BankId, Tags, TagsMatch, trust, MetadataSchema } from './common.js'

/** A filter that recall and reflect share. */
export const minTrust = Type.Optional(trust('Only memories that are trusted at least so much. Default: all.'))

export const scope = {
  bank_id: Type.Optional(BankId),
  banks: Type.Optional(Type.Array(BankId, { minItems: 1, maxItems: 64, description: 'Several banks in one ranking; instead of bank_id.' })),
}

export const query = Type.String({ minLength: 1, maxLength: 8192, examples: ['What does Alice drink?'] })

/** What a memory must satisfy. */
export const filters = {
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(TagsMatch),
  metadata: Type.Optional(MetadataSchema),
  occurred_after: Type.Optional(instant('Inclusive.')),
  occurred_before: Type.Optional(instant('Exclusive.')),
  as_of: Type.Optional(instant('Only memories retained by then; inclusive.')),
  min_trust: minTrust,
}

export const referenceTime = Type.Optional(Type.String({
  format: 'date-time',
  description: 'What relative times in the query, as "yesterday" or "two weeks ago", are counted from; for questions about a conversation of the past. RFC 3339 with an offset. Default now. It moves nothing else: what has expired stays expired.',
}))
