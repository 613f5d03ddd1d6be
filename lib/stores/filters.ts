import { isAtLeast } from '../identity/trust.js'
import type { ListFilters, Memory } from './vector-store.js'

type Condition = (memory: Memory) => boolean

/** @returns what decides whether a memory passes; undefined when there is nothing to decide */
export function compileFilters (filters: ListFilters): Condition | undefined {
  const conditions: Condition[] = []
  const { tags, metadata, occurredAfter, occurredBefore, asOf, minTrust = 'suspect' } = filters
  const { documentId, trust, retainedAfter, retainedBefore } = filters
  if (tags !== undefined) conditions.push(tagCondition(tags.values, tags.match))
  if (metadata !== undefined) {
    for (const [key, value] of Object.entries(metadata)) {
      conditions.push((memory) => Object.hasOwn(memory.metadata, key) && memory.metadata[key] === value)
    }
  }
  if (occurredAfter !== undefined) {
    conditions.push((memory) => memory.occurredAt !== null && memory.occurredAt >= occurredAfter)
  }
  if (occurredBefore !== undefined) {
    conditions.push((memory) => memory.occurredAt !== null && memory.occurredAt < occurredBefore)
  }
  if (asOf !== undefined) conditions.push((memory) => memory.retainedAt <= asOf)
  if (minTrust !== 'suspect') conditions.push((memory) => isAtLeast(memory.trust, minTrust))
  if (documentId !== undefined) conditions.push((memory) => memory.documentId === documentId)
  if (trust !== undefined) conditions.push((memory) => memory.trust === trust)
  if (retainedAfter !== undefined) conditions.push((memory) => memory.retainedAt >= retainedAfter)
  if (retainedBefore !== undefined) conditions.push((memory) => memory.retainedAt < retainedBefore)
  if (conditions.length === 0) return undefined
  return (memory) => conditions.every((condition) => condition(memory))
}

/** A memory has any, or all, of the tags; one without tags has neither, not even all of none. */
export function tagCondition (values: readonly string[], match: 'any' | 'all'): Condition {
  return match === 'all'
    ? (memory) => memory.tags.length > 0 && values.every((tag) => memory.tags.includes(tag))
    : (memory) => values.some((tag) => memory.tags.includes(tag))
}
