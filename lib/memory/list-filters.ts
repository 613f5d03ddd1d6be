import { invalidField } from '../errors/service-error.js'
import type { ListFilters, Metadata } from '../stores/vector-store.js'
import { instantField, readFilters } from './records.js'
import type { MemoriesQuery } from './schemas.js'
import { isJsonObject, parsedJson } from '../validation/json-object.js'
import { withoutUndefined } from '../validation/members.js'

/**
 * The filters of a list.
 * @throws ServiceError invalid_request that names the field
 */
export function readListFilters (query: MemoriesQuery): ListFilters {
  const { metadata, document_id: documentId, trust, ...filters } = query
  const own = { documentIds: documentId === undefined ? undefined : [documentId], trust }
  const wire = metadata === undefined ? filters : { ...filters, metadata: readMetadata(metadata) }
  return { ...readFilters(wire), ...readRetainedBounds(query), ...withoutUndefined(own) }
}

/** @throws ServiceError invalid_request that names the field */
export function readRetainedBounds (
  { retained_after: after, retained_before: before }: Pick<MemoriesQuery, 'retained_after' | 'retained_before'>,
): Pick<ListFilters, 'retainedAfter' | 'retainedBefore'> {
  return withoutUndefined({
    retainedAfter: after === undefined ? undefined : instantField('retained_after', after),
    retainedBefore: before === undefined ? undefined : instantField('retained_before', before),
  })
}

/** Whether only a store with `countMemories` can answer the query. */
export function needsCountMemories (query: MemoriesQuery): boolean {
  const { document_id: documentId, trust, retained_after: after, retained_before: before, order, offset, total } = query
  return [documentId, trust, after, before].some((value) => value !== undefined) ||
    order === 'oldest' || total === true || (offset !== undefined && offset > 0)
}

function readMetadata (text: string): Metadata {
  const value = parsedJson(text)
  if (!isMetadata(value)) {
    throw invalidField('metadata', 'must be a JSON object of strings, numbers, booleans and nulls')
  }
  return value
}

function isMetadata (value: unknown): value is Metadata {
  return isJsonObject(value) && Object.values(value).every((member) => (
    member === null || typeof member === 'string' || typeof member === 'boolean' ||
    (typeof member === 'number' && Number.isFinite(member))
  ))
}
