import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strict } from '../../lib/memory/schemas.js'
import type { Filters } from '../../lib/stores/vector-store.js'
import { searchFor } from '../../lib/text/text-search.js'
import { ListedFact, listedFactOf } from './facts.js'
import { KINDS, kindFilter, Tags, tagFilter, TagsMatch } from './filters.js'
import { BANK, BankParams, routeConfig, unsupported, type HindsightOptions } from './route.js'
import { MAX_MEMORIES_READ, tooLong, scanMemories } from './memory-scan.js'

export const DEFAULT_PAGE = 100
const MAX_PAGE = 1000

export const pageFields = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
}
const text = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }))

const ListQuery = strict({
  ...pageFields,
  type: Type.Optional(Type.Enum([...KINDS])),
  q: text,
  state: Type.Optional(Type.Enum(['valid', 'invalidated'])),
  document_id: text,
  tags: Type.Optional(Tags),
  tags_match: Type.Optional(TagsMatch),
  consolidation_state: text,
  entity_id: text,
})

const ListResult = Type.Object({
  items: Type.Array(ListedFact), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer(),
})

export const listRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  app.get(`${BANK}/memories/list`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: BankParams, querystring: ListQuery, response: { 200: ListResult } },
  }, async ({ params: { bank_id: bankId }, query, context }) => {
    const { limit = DEFAULT_PAGE, offset = 0, q, document_id: documentId } = query
    if (query.consolidation_state !== undefined) {
      throw unsupported('consolidation_state', 'memories are not consolidated here')
    }
    if (query.entity_id !== undefined) throw unsupported('entity_id', 'there are no entities here')
    const { memory_count: count } = await app.memory.banks.describe(bankId, context)
    // Memories are never marked invalid here; they are deleted.
    if (query.state === 'invalidated') return { items: [], total: 0, limit, offset }
    const filters: Filters = {
      ...tagFilter(query),
      ...kindFilter(query.type === undefined ? [] : [query.type]),
      ...(documentId !== undefined && { documentIds: [documentId] }),
    }
    const isFiltered = Object.keys(filters).length > 0 || q !== undefined
    if (!isFiltered && offset >= count) return { items: [], total: count, limit, offset }
    // A filtered list is read to its end in any case, because its length is counted.
    if (!isFiltered && offset >= MAX_MEMORIES_READ) throw tooLong()
    const isFound = q === undefined ? undefined : searchFor(q.toLowerCase())
    const shown: Array<ReturnType<typeof listedFactOf>> = []
    let matched = 0
    await scanMemories(app, {
      bankId,
      context,
      filters,
      visit: (memory) => {
        if (isFound?.(memory.text.toLowerCase()) === false) return true
        const isKept = matched >= offset && shown.length < limit
        // Its metadata is copied here, where the event loop has turns between two memories.
        if (isKept) shown.push(listedFactOf(memory))
        matched++
        return isFiltered || shown.length < limit
      },
    })
    return { items: shown, total: isFiltered ? matched : count, limit, offset }
  })
}
