import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type, type Static } from 'typebox'
import { Semaphore } from '../../lib/concurrency/semaphore.js'
import { atCapacity, ServiceError } from '../../lib/errors/service-error.js'
import type { RequestContext } from '../../lib/identity/context.js'
import { BankId, MAX_FORGET_IDS, nullable, strict, type MemoryRecord } from '../../lib/memory/schemas.js'
import { kindOf } from './filters.js'
import { DEFAULT_PAGE, pageFields } from './list.js'
import { BANK, BankParams, routeConfig, unsupported, type HindsightOptions } from './route.js'
import { scanMemories } from './memory-scan.js'

/** The longest document, in characters: its texts are joined in one step, which takes some milliseconds. */
const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024
const MAX_TAGS = 1000
/** How long a table of documents waits for others, in milliseconds. */
const MAX_WAIT_MS = 10_000

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

/** A document consists of the memories that name it; it is not stored by itself. */
export const documentRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  // A table of ten thousand memories may keep a million tags until all are read.
  const permits = new Semaphore({ permits: 1, waitMs: MAX_WAIT_MS, timeoutError: tablesBusy })

  app.get(`${BANK}/documents`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: BankParams, querystring: strict(pageFields), response: { 200: Documents } },
  }, async ({ params: { bank_id: bankId }, query: { limit = DEFAULT_PAGE, offset = 0 }, context }, reply) => {
    const documents = new Map<string, Summary>()
    const shared = new SharedTags()
    await scanMemories(app, {
      bankId,
      context,
      reply,
      permits,
      filters: undefined,
      visit: (memory) => {
        const { document_id: id } = memory
        if (id === null) return true
        const known = documents.get(id)
        const document = known ?? summaryOf(id, memory)
        if (known === undefined) documents.set(id, document)
        addTo(document, memory, shared)
        return true
      },
    })
    const shown = [...documents.values()].slice(offset, offset + limit)
    return { items: shown, total: documents.size, limit, offset }
  })

  app.get(`${BANK}/documents/:document_id`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: DocumentParams, response: { 200: Document } },
  }, async ({ params: { bank_id: bankId, document_id: id }, context }) => {
    let document: Summary | undefined
    const texts: string[] = []
    const kinds: Record<string, number> = {}
    await scanMemories(app, {
      bankId,
      context,
      filters: { documentIds: [id] },
      visit: (memory) => {
        addTo(document ??= summaryOf(id, memory), memory)
        if (document.text_length > MAX_TEXT_CHARACTERS) throw tooLarge()
        const kind = kindOf(memory.metadata)
        kinds[kind] = (kinds[kind] ?? 0) + 1
        texts.push(memory.text)
        return true
      },
    })
    if (document === undefined) throw noDocument()
    return { ...document, original_text: texts.reverse().join('\n\n'), nodes_by_fact_type: kinds }
  })

  app.delete(`${BANK}/documents/:document_id`, {
    config: routeConfig(options, 'forget'),
    schema: { hide: true, params: DocumentParams, response: { 200: Deleted } },
  }, async ({ params: { bank_id: bankId, document_id: id }, context }) => {
    const count = await forgetDocument(app, bankId, id, context)
    if (count === 0) throw noDocument()
    return { success: true, message: `Document '${id}' deleted`, document_id: id, memory_units_deleted: count }
  })
}

/**
 * Deletes the memories of a document, whatever their number: the newest ones, then those that are the newest then.
 * @returns the number of deleted memories
 * @throws ServiceError access_denied without `read`
 */
async function forgetDocument (
  app: FastifyInstance, bankId: string, documentId: string, context: RequestContext,
): Promise<number> {
  const filters = { documentIds: [documentId] }
  let count = 0
  for (;;) {
    const ids: string[] = []
    const visit = ({ memory_id: id }: MemoryRecord) => ids.push(id) < MAX_FORGET_IDS
    await scanMemories(app, { bankId, context, filters, visit })
    if (ids.length > 0) {
      const { deleted_count: deleted } = await app.memory.forget({ bank_id: bankId, memory_ids: ids }, context)
      count += deleted
    }
    if (ids.length < MAX_FORGET_IDS) return count
  }
}

/** Collects a document from its memories, newest first. Its tags are in order. */
type Summary = Static<typeof ListedDocument>

/** @param memory the newest memory of the document */
function summaryOf (id: string, { bank_id: bankId, retained_at: retainedAt }: MemoryRecord): Summary {
  return {
    id,
    bank_id: bankId,
    content_hash: null,
    created_at: retainedAt,
    updated_at: retainedAt,
    memory_unit_count: 0,
    tags: [],
    text_length: 0,
  }
}

/** The memory that a tag takes in addition to its characters, in characters. */
const TAG_CHARACTERS = 20
/** The memory of a further reference to a tag, in characters: its place in an array that has grown. */
const REFERENCE_CHARACTERS = 8
/** A table of that many different tags grows in less than a millisecond. */
const MAX_SHARED_TAGS = 8192

/** Lets documents share the texts of their tags, because each row of a database has copies of its own. */
class SharedTags {
  readonly #tags = new Map<string, string>()

  /** @returns a text equal to the tag, and the number of characters that keeping it adds */
  share (tag: string): { text: string, kept: number } {
    const known = this.#tags.get(tag)
    if (known !== undefined) return { text: known, kept: REFERENCE_CHARACTERS }
    if (this.#tags.size < MAX_SHARED_TAGS) this.#tags.set(tag, tag)
    return { text: tag, kept: tag.length + TAG_CHARACTERS }
  }
}

/**
 * @param memory the next older memory
 * @param shared the tags of other documents that are kept too
 * @returns the number of its characters that are kept
 * @throws ServiceError not_supported
 */
function addTo (
  document: Summary, { retained_at: retainedAt, tags, text }: MemoryRecord, shared = new SharedTags(),
): number {
  document.created_at = retainedAt
  document.memory_unit_count++
  document.text_length += text.length
  let kept = 0
  for (const tag of tags) {
    const at = placeOf(tag, document.tags)
    if (document.tags[at] === tag) continue
    if (document.tags.length === MAX_TAGS) {
      throw unsupported(
        `more than ${MAX_TAGS} tags in a document`, 'GET /v1/banks/{bank_id}/memories has those of each memory',
      )
    }
    const { text: own, kept: more } = shared.share(tag)
    document.tags.splice(at, 0, own)
    kept += more
  }
  return kept
}

/**
 * Where a tag is, or belongs, among tags in order. They are in order at all times, because to sort those of a thousand
 * documents at the end would occupy the event loop.
 */
function placeOf (tag: string, tags: readonly string[]): number {
  let [low, high] = [0, tags.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (tags[middle]! < tag) low = middle + 1
    else high = middle
  }
  return low
}

function tablesBusy (): ServiceError {
  return atCapacity('server_busy', 'The server has no capacity left for another table of documents; try again')
}

function tooLarge (): ServiceError {
  return new ServiceError(
    'answer_too_large',
    `The document has more than ${MAX_TEXT_CHARACTERS} characters; GET /v1/banks/{bank_id}/memories gives its ` +
      'memories in pages',
  )
}

function noDocument (): ServiceError {
  return new ServiceError('not_found', 'No such document')
}
