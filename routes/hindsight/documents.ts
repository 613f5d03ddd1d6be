import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type, type Static } from 'typebox'
import { ServiceError } from '../../lib/errors/service-error.js'
import type { RequestContext } from '../../lib/identity/context.js'
import { BankId, nullable, strict, type MemoryRecord } from '../../lib/memory/schemas.js'
import { kindOf } from './filters.js'
import { DEFAULT_PAGE, pageFields } from './list.js'
import { BANK, BankParams, routeConfig, type HindsightOptions } from './route.js'
import { walk } from './walk.js'

/** Ids of one forget. */
const FORGOTTEN_TOGETHER = 1000

const documentFields = {
  id: Type.String(),
  bank_id: Type.String(),
  content_hash: nullable(),
  created_at: Type.String(),
  updated_at: Type.String(),
  memory_unit_count: Type.Integer(),
  tags: Type.Array(Type.String()),
}
const ListedDocument = Type.Object({ ...documentFields, text_length: Type.Integer() })
const Document = Type.Object({
  ...documentFields,
  original_text: Type.String(),
  nodes_by_fact_type: Type.Record(Type.String(), Type.Integer()),
})
const Documents = Type.Object({
  items: Type.Array(ListedDocument), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer(),
})
const Deleted = Type.Object({
  success: Type.Boolean(), message: Type.String(), document_id: Type.String(), memory_units_deleted: Type.Integer(),
})
const DocumentParams = Type.Object({ bank_id: BankId, document_id: Type.String({ maxLength: 512 }) })

/** A document is all memories that name it; nothing else is kept of it. */
export const documentRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  app.get(`${BANK}/documents`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: BankParams, querystring: strict(pageFields), response: { 200: Documents } },
  }, async ({ params: { bank_id: bankId }, query: { limit = DEFAULT_PAGE, offset = 0 }, context }) => {
    const documents = new Map<string, Static<typeof ListedDocument>>()
    const release = await walk(app, {
      bankId,
      context,
      filters: undefined,
      visit: (memory) => {
        const { document_id: id } = memory
        if (id !== null) documents.set(id, withMemory(documents.get(id), id, memory))
        return { goOn: true, isKept: false }
      },
    })
    release()
    return { items: [...documents.values()].slice(offset, offset + limit), total: documents.size, limit, offset }
  })

  app.get(`${BANK}/documents/:document_id`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: DocumentParams, response: { 200: Document } },
  }, async ({ params: { bank_id: bankId, document_id: id }, context }) => {
    const memories: MemoryRecord[] = []
    const release = await walk(app, {
      bankId,
      context,
      filters: { documentIds: [id] },
      visit: (memory) => ({ goOn: memories.push(memory) > 0, isKept: true }),
    })
    try {
      return documentOf(id, memories)
    } finally {
      release()
    }
  })

  app.delete(`${BANK}/documents/:document_id`, {
    config: routeConfig(options, 'forget'),
    schema: { hide: true, params: DocumentParams, response: { 200: Deleted } },
  }, async ({ params: { bank_id: bankId, document_id: id }, context }) => {
    const memories = await memoriesOf(app, bankId, [id], context)
    const count = await forgetAll(app, bankId, memories.map((memory) => memory.id), context)
    if (count === 0) throw noDocument()
    return { success: true, message: `Document '${id}' deleted`, document_id: id, memory_units_deleted: count }
  })
}

/** A memory of a document, without its text. */
export interface Part {
  id: string
  retainedAt: string
}

/** @throws ServiceError access_denied without `read` */
export async function memoriesOf (
  app: FastifyInstance, bankId: string, documentIds: readonly string[], context: RequestContext,
): Promise<Part[]> {
  const parts: Part[] = []
  const visit = ({ memory_id: id, retained_at: retainedAt }: MemoryRecord) => (
    { goOn: parts.push({ id, retainedAt }) > 0, isKept: false }
  )
  const release = await walk(app, { bankId, context, filters: { documentIds }, visit })
  release()
  return parts
}

/** @returns how many there were */
export async function forgetAll (
  app: FastifyInstance, bankId: string, ids: readonly string[], context: RequestContext,
): Promise<number> {
  let count = 0
  for (let at = 0; at < ids.length; at += FORGOTTEN_TOGETHER) {
    const some = ids.slice(at, at + FORGOTTEN_TOGETHER)
    const { deleted_count: deleted } = await app.memory.forget({ bank_id: bankId, memory_ids: some }, context)
    count += deleted
  }
  return count
}

/** @param memory the next older one */
function withMemory (
  document: Static<typeof ListedDocument> | undefined, id: string, memory: MemoryRecord,
): Static<typeof ListedDocument> {
  const { bank_id: bankId, retained_at: retainedAt, tags, text } = memory
  return {
    id,
    bank_id: bankId,
    content_hash: null,
    created_at: retainedAt,
    updated_at: document?.updated_at ?? retainedAt,
    memory_unit_count: (document?.memory_unit_count ?? 0) + 1,
    tags: [...new Set([...document?.tags ?? [], ...tags])].sort(),
    text_length: (document?.text_length ?? 0) + text.length,
  }
}

/** @param memories newest first @throws ServiceError not_found */
function documentOf (id: string, memories: readonly MemoryRecord[]): Static<typeof Document> {
  let document: Static<typeof ListedDocument> | undefined
  const kinds: Record<string, number> = {}
  for (const memory of memories) {
    document = withMemory(document, id, memory)
    const kind = kindOf(memory.metadata)
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }
  if (document === undefined) throw noDocument()
  return {
    ...document,
    original_text: memories.map(({ text }) => text).reverse().join('\n\n'),
    nodes_by_fact_type: kinds,
  }
}

function noDocument (): ServiceError {
  return new ServiceError('not_found', 'No such document')
}
