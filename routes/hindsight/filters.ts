import { Type, type Static } from 'typebox'
import type { WireFilters } from '../../lib/memory/records.js'
import { MAX_TAGS, Tag } from '../../lib/memory/schemas.js'
import { unsupported } from './route.js'

type Filters = NonNullable<WireFilters['also']>

/**
 * The kinds of Hindsight's memories. The gateway does not classify memories: those imported from Hindsight have their
 * kind in the metadata, and all others count as `world`.
 */
export const KINDS = ['world', 'experience', 'observation'] as const
type Kind = typeof KINDS[number]
/** The metadata key in which an import stores the kind. */
const KIND_KEY = 'fact_type'

export const Tags = Type.Array(Tag, { maxItems: MAX_TAGS })
export const TagsMatch = Type.Enum(['any', 'all', 'any_strict', 'all_strict', 'exact'])
export const Kinds = Type.Array(Type.Enum([...KINDS]), { maxItems: 20 })

export const tagFields = {
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(TagsMatch),
  tag_groups: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100 })),
}

interface TagFields {
  tags?: string[]
  tags_match?: Static<typeof TagsMatch>
  tag_groups?: unknown[]
}

/** In the modes any and all Hindsight also finds memories without tags. @throws ServiceError not_supported */
export function tagFilter ({ tags = [], tags_match: match = 'any', tag_groups: groups = [] }: TagFields): Filters {
  if (groups.length > 0) {
    throw unsupported('tag_groups', 'conditions on tags cannot be nested here; use tags and tags_match')
  }
  if (match === 'exact') return { tags: { values: tags, match } }
  if (tags.length === 0) return {}
  switch (match) {
    case 'any':
    case 'all': return { tags: { values: tags, match, orUntagged: true } }
    case 'any_strict': return { tags: { values: tags, match: 'any' } }
    case 'all_strict': return { tags: { values: tags, match: 'all' } }
  }
}

/** @param wanted none: all kinds */
export function kindFilter (wanted: readonly Kind[]): Filters {
  const others = KINDS.filter((kind) => !wanted.includes(kind))
  if (wanted.length === 0 || others.length === 0) return {}
  const is = wanted.includes('world') ? 'none of' : 'one of'
  return { metadataText: { key: KIND_KEY, is, values: is === 'none of' ? others : wanted } }
}

export function kindOf (metadata: Readonly<Record<string, unknown>>): Kind {
  const kind = Object.hasOwn(metadata, KIND_KEY) ? metadata[KIND_KEY] : undefined
  return KINDS.find((one) => one === kind) ?? 'world'
}
