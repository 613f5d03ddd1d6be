import { isAtLeast } from '../access/trust.js'
import { foldCase } from '../text/normal-form.js'
import type { ListFilters, Memory, Part, Version } from './vector-store.js'

type Condition = (memory: Memory) => boolean

function isVersion (memory: Memory | Version): memory is Version {
  return 'endedAt' in memory
}

/**
 * @param part which part of a bank the memories are of: those of the past are Versions
 * @returns the predicate for memories; undefined when every memory passes
 */
export function compileFilters (filters: ListFilters, part: Part = 'current'): Condition | undefined {
  const conditions: Condition[] = []
  const {
    tags, metadata, speakers, documentIds, occurredAfter, occurredBefore, asOf, minTrust = 'suspect',
    state = 'current', validAt,
  } = filters
  const { trust, undated, messages, retainedAfter, retainedBefore } = filters
  if (tags !== undefined) conditions.push(tagCondition(tags.values, tags.match))
  if (metadata !== undefined) {
    for (const [key, value] of Object.entries(metadata)) {
      conditions.push((memory) => Object.hasOwn(memory.metadata, key) && memory.metadata[key] === value)
    }
  }
  if (speakers !== undefined) conditions.push(speakerCondition(speakers))
  if (documentIds !== undefined) {
    const allowedIds = new Set(documentIds)
    conditions.push((memory) => allowedIds.has(memory.documentId))
  }
  if (occurredAfter !== undefined) {
    conditions.push((memory) => memory.occurredAt !== null && memory.occurredAt >= occurredAfter)
  }
  if (occurredBefore !== undefined) {
    conditions.push((memory) => memory.occurredAt !== null && memory.occurredAt < occurredBefore)
  }
  if (asOf !== undefined) conditions.push((memory) => memory.changedAt <= asOf)
  if (part === 'past') conditions.push(pastCondition(state, asOf))
  if (validAt !== undefined) {
    conditions.push(({ validFrom, validUntil }) => (
      (validFrom === null || validFrom <= validAt) && (validUntil === null || validUntil > validAt)
    ))
  }
  if (minTrust !== 'suspect') conditions.push((memory) => isAtLeast(memory.trust, minTrust))
  if (trust !== undefined) conditions.push((memory) => memory.trust === trust)
  if (undated !== undefined) conditions.push((memory) => memory.occurredAt === null)
  if (messages !== undefined) conditions.push((memory) => memory.message !== null)
  if (retainedAfter !== undefined) conditions.push((memory) => memory.retainedAt >= retainedAfter)
  if (retainedBefore !== undefined) conditions.push((memory) => memory.retainedAt < retainedBefore)
  if (conditions.length === 0) return undefined
  return (memory) => conditions.every((condition) => condition(memory))
}

/** Without a time only last versions pass, whose states are those of now. */
function pastCondition (state: NonNullable<ListFilters['state']>, asOf: number | undefined): Condition {
  return (memory) => {
    if (!isVersion(memory) || memory.redacted) return false
    const { endedAt } = memory
    if (asOf === undefined ? endedAt !== null : endedAt !== null && endedAt <= asOf) return false
    return state === 'all' || (memory.state === 'current') === (state === 'current')
  }
}

function speakerCondition (speakers: readonly string[]): Condition {
  const wanted = new Set(speakers.map(foldCase))
  return ({ speaker }) => speaker !== null && wanted.has(foldCase(speaker))
}

/**
 * Whether a memory has any, or all, of the tags; one without tags never passes, not even `all` of an empty list. The
 * tags of a memory differ, so those found can be counted: its tags are looked up, not compared with each of the others.
 */
export function tagCondition (values: readonly string[], match: 'any' | 'all'): Condition {
  const wanted = new Set(values)
  return match === 'any'
    ? ({ tags }) => tags.some((tag) => wanted.has(tag))
    : ({ tags }) => tags.length > 0 && tags.filter((tag) => wanted.has(tag)).length === wanted.size
}
