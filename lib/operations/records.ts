import { formatInstant, INSTANT_RULE, parseInstant, utcOffsetOf } from '../base/clock.js'
import { isJsonObject, parsedJson } from '../base/json-object.js'
import { withoutUndefined, type Mutable } from '../base/members.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import type { RetrievedHit } from '../ranking/candidates.js'
import type { Explanation } from '../ranking/ranking.js'
import type { ReferenceTime } from '../ranking/retriever.js'
import { answeredMembers } from '../stores/memory-fields.js'
import { speakerProblem, trimSpeaker } from '../stores/speaker.js'
import type { Filters, Memory, ListFilters, Metadata, VectorStore } from '../stores/vector-store.js'
import type { Hit, MemoryRecord, RecallRequest, MemoriesQuery } from './schemas.js'

/** @throws ServiceError invalid_request that names the field */
export function instantField (field: string, text: string): number {
  const instant = parseInstant(text)
  if (instant === undefined) throw invalidField(field, INSTANT_RULE)
  return instant
}

/** Limits a page size or answer size to a range. */
export function clamp (value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

/** The filters as clients write them. */
export type WireFilters = Pick<
  RecallRequest,
  'tags' | 'tags_match' | 'document_ids' | 'metadata' | 'speakers' | 'occurred_after' | 'occurred_before' | 'as_of' |
  'state' | 'valid_at' | 'min_trust'
>

export function readFilters (wire: WireFilters): Filters {
  const { tags, metadata, occurred_after: after, occurred_before: before, as_of: asOf, min_trust: minTrust } = wire
  const { document_ids: documentIds } = wire
  const filters: Mutable<Filters> = {}
  if (tags !== undefined) filters.tags = { values: tags, match: wire.tags_match ?? 'any' }
  if (documentIds !== undefined) filters.documentIds = documentIds
  if (metadata !== undefined) filters.metadata = metadata
  if (wire.speakers !== undefined) filters.speakers = wire.speakers.map(readSpeaker)
  if (after !== undefined) filters.occurredAfter = instantField('occurred_after', after)
  if (before !== undefined) filters.occurredBefore = instantField('occurred_before', before)
  if (asOf !== undefined) filters.asOf = instantField('as_of', asOf)
  if (wire.state !== undefined && wire.state !== 'current') filters.state = wire.state
  if (wire.valid_at !== undefined) filters.validAt = instantField('valid_at', wire.valid_at)
  if (minTrust !== undefined) filters.minTrust = minTrust
  return filters
}

function readSpeaker (text: string, index: number): string {
  const speaker = trimSpeaker(text)
  const problem = speakerProblem(speaker)
  if (problem !== undefined) throw invalidField(`speakers[${index}]`, problem)
  return speaker
}

/** @throws ServiceError not_supported when the store has no states and no times of the world */
export function requireLife (store: VectorStore, { state, validAt }: Filters): void {
  if (store.revise !== undefined || (state === undefined && validAt === undefined)) return
  throw new ServiceError('not_supported', 'The configured vector store does not support state and valid_at')
}

/** What relative times of the query refer to, if the request says so. */
export function readReference ({ reference_time: text }: { reference_time?: string }): ReferenceTime | undefined {
  return text === undefined
    ? undefined
    : { instant: instantField('reference_time', text), utcOffset: utcOffsetOf(text) }
}

export function toRecord (bankId: string, memory: Memory): MemoryRecord {
  const { memory_id: memoryId, ...others } = answeredMembers(({ name, kind }) => {
    const value = memory[name]
    if ((name === 'changedAt' && memory.version === 1) || (name === 'kind' && value === 'memory')) return null
    return kind === 'instant' && typeof value === 'number' ? formatInstant(value) : value
  })
  return { memory_id: memoryId, bank_id: bankId, ...others }
}

export function toHit (retrieved: RetrievedHit, explanation?: Explanation): Hit {
  const { bank, memory, score, passageCount, passages, rerank } = retrieved
  const hit: Hit = Object.assign(toRecord(bank.bankId, memory), { score })
  if (passageCount > 1) {
    hit.passages = passages.map(({ start, end, score }) => ({ text: memory.text.slice(start, end), start, end, score }))
  }
  if (explanation !== undefined) {
    const { strategies, scorerContributions, contributions, sum } = explanation
    hit.scores = { ...strategies, signals: scorerContributions, contributions, sum, rerank }
  }
  return hit
}

export function nullableInstant (instant: number | null): string | null {
  return instant === null ? null : formatInstant(instant)
}

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
