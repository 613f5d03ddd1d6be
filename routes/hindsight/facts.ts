import type { Hit, MemoryRecord } from '../../lib/memory/schemas.js'
import { Type } from 'typebox'
import { nullable } from '../../lib/memory/schemas.js'
import { kindOf } from './filters.js'

const TextMap = Type.Record(Type.String(), Type.String())

const sharedFields = {
  id: Type.String(),
  text: Type.String(),
  context: nullable(),
  occurred_start: nullable(),
  occurred_end: nullable(),
  mentioned_at: nullable(),
  document_id: nullable(),
  metadata: TextMap,
  chunk_id: nullable(),
  tags: Type.Array(Type.String()),
}

/** A memory as Hindsight recalls it. */
export const Fact = Type.Object({ ...sharedFields, type: Type.String() })
/** A memory as Hindsight lists it. */
export const ListedFact = Type.Object({
  ...sharedFields, fact_type: Type.String(), date: nullable(), entities: Type.String(), state: Type.String(),
})

/** The key of the metadata that keeps a memory's `context`. */
export const CONTEXT_KEY = 'context'

function sharedOf (memory: MemoryRecord, text: string) {
  const context = Object.hasOwn(memory.metadata, CONTEXT_KEY) ? memory.metadata[CONTEXT_KEY] : undefined
  return {
    id: memory.memory_id,
    text,
    context: typeof context === 'string' ? context : null,
    occurred_start: memory.occurred_at,
    occurred_end: memory.occurred_at,
    mentioned_at: memory.retained_at,
    document_id: memory.document_id,
    metadata: Object.fromEntries(Object.entries(memory.metadata).map(([key, value]) => [key, String(value)])),
    chunk_id: memory.memory_id,
    tags: memory.tags,
  }
}

/** A long memory is searched in passages and returned as the best one. */
export function factOf (hit: Hit) {
  return { ...sharedOf(hit, hit.passages?.[0]?.text ?? hit.text), type: kindOf(hit.metadata) }
}

export function listedFactOf (memory: MemoryRecord) {
  return {
    ...sharedOf(memory, memory.text),
    fact_type: kindOf(memory.metadata),
    date: memory.occurred_at ?? memory.retained_at,
    entities: '',
    state: 'valid',
  }
}
