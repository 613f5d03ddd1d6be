import type { Memory, PatchMemoryBody } from 'memory-gateway-client'

/** What can be edited of a memory; an empty text: the memory has none. */
export interface MemoryDraft {
  content: string
  tags: string[]
  key: string
  validFrom: string
  validUntil: string
}

export function draftOf (memory: Memory): MemoryDraft {
  const { text, tags, key = '', valid_from: from = '', valid_until: until = '' } = memory
  return { content: text, tags, key, validFrom: from, validUntil: until }
}

/** The merge patch of the changes: only what differs from the memory, and null for what it is to have no more. */
export function patchOf (memory: Memory, changes: Partial<MemoryDraft>): PatchMemoryBody {
  const before = draftOf(memory)
  const { content, tags, key, validFrom, validUntil } = { ...before, ...changes }
  const orNull = (value: string) => value === '' ? null : value
  return {
    ...(content !== before.content && { content }),
    ...(JSON.stringify(tags) !== JSON.stringify(before.tags) && { tags: tags.length === 0 ? null : tags }),
    ...(key !== before.key && { key: orNull(key) }),
    ...(validFrom !== before.validFrom && { valid_from: orNull(validFrom) }),
    ...(validUntil !== before.validUntil && { valid_until: orNull(validUntil) }),
  }
}
