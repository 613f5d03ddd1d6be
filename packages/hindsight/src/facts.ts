import type { Hit, Memory } from 'memory-gateway-client'
import { Type, type Static } from 'typebox'
import { invalid, unsupported } from './gateway.js'

/**
 * The kinds of Hindsight's memories. The gateway does not classify memories: those imported from Hindsight have their
 * kind in the metadata, and all others count as `world`.
 */
const KINDS = ['world', 'experience', 'observation'] as const
export type Kind = typeof KINDS[number]
export const KindSchema = Type.Enum([...KINDS])
/** The key of the metadata in which an import stores the kind. */
const KIND_KEY = 'fact_type'
/** The key of the metadata that keeps a memory's `context`. */
export const CONTEXT_KEY = 'context'

export const Tags = Type.Array(Type.String())
export const tagFields = {
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(Type.Enum(['any', 'all', 'any_strict', 'all_strict', 'exact'])),
  tag_groups: Type.Optional(Type.Array(Type.Unknown())),
}
type TagFields = Static<ReturnType<typeof Type.Object<typeof tagFields>>>

/** In the modes `any` and `all` Hindsight also finds memories without tags, which the gateway cannot. */
export function tagFilter (
  { tags = [], tags_match: match = 'any', tag_groups: groups = [] }: TagFields,
): { tags?: string[], tags_match?: 'any' | 'all' } {
  if (groups.length > 0) {
    throw unsupported('tag_groups', 'conditions on tags cannot be nested here; use tags and tags_match')
  }
  if (tags.length === 0 && match !== 'exact') return {}
  if (match === 'any_strict') return { tags, tags_match: 'any' }
  if (match === 'all_strict') return { tags, tags_match: 'all' }
  throw unsupported(
    `tags_match ${match}`, 'use any_strict or all_strict, which find memories with any or with all of the tags',
  )
}

/** The filter for the memories of these kinds. @returns undefined when the gateway has none for them */
export function kindFilter (kinds: readonly Kind[]): { metadata?: Record<string, string> } | undefined {
  if (kinds.length === 0 || KINDS.every((kind) => kinds.includes(kind))) return {}
  const [kind, ...others] = new Set(kinds)
  return others.length === 0 && kind !== undefined && kind !== 'world' ? { metadata: { [KIND_KEY]: kind } } : undefined
}

export function kindOf ({ metadata }: Memory): Kind {
  const kind = metadata[KIND_KEY]
  return KINDS.find((one) => one === kind) ?? 'world'
}

function sharedOf (memory: Memory, text: string) {
  const context = memory.metadata[CONTEXT_KEY]
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

/** A memory as Hindsight recalls it. A long one is searched in passages and returned as the best one. */
export function factOf (hit: Hit) {
  return { ...sharedOf(hit, hit.passages?.[0]?.text ?? hit.text), type: kindOf(hit) }
}

/** A memory as Hindsight lists it. */
export function listedFactOf (memory: Memory) {
  return {
    ...sharedOf(memory, memory.text),
    fact_type: kindOf(memory),
    date: memory.occurred_at ?? memory.retained_at,
    entities: '',
    state: 'valid',
  }
}

const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/

/** An instant in the form of Hindsight's clients, ISO 8601, in UTC without an offset. @returns RFC 3339 */
export function readInstant (field: string, text: string): string {
  const parts = ISO_8601.exec(text)
  if (parts === null) throw invalid(field, 'must be an ISO 8601 date-time')
  const [, day, minute = '00:00', seconds = ':00', offset = 'Z'] = parts
  return `${day}T${minute}${seconds}${offset.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`
}
