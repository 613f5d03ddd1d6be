import type { FastifyInstance } from 'fastify'
import type { Memory } from 'memory-gateway-client'
import type { Static } from 'typebox'
import { kindOf } from './facts.js'
import { BANK, clientFor, notFound, Refusal, strict, type HindsightOptions } from './gateway.js'
import { DEFAULT_PAGE, memoriesOf, pageFields } from './pages.js'

/** The longest document, in characters. */
const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024

const Page = strict(pageFields)
interface Place { Params: { bank_id: string, document_id: string } }

/** A document consists of the memories that name it; the gateway does not store it by itself. */
export function documentRoutes (app: FastifyInstance, options: HindsightOptions): void {
  app.get<{ Params: { bank_id: string }, Querystring: Static<typeof Page> }>(`${BANK}/documents`, {
    schema: { querystring: Page },
  }, async (request, reply) => {
    const { params, query: { limit = DEFAULT_PAGE, offset = 0 } } = request
    const documents = new Map<string, Document>()
    for await (const memory of memoriesOf(clientFor(request, reply, options), params)) {
      const { document_id: id } = memory
      if (id === null) continue
      const document = documents.get(id) ?? new Document()
      documents.set(id, document)
      document.add(memory)
    }
    const items = [...documents.values()].slice(offset, offset + limit).map((document) => (
      { ...document.summary, text_length: document.length }
    ))
    return { items, total: documents.size, limit, offset }
  })

  app.get<Place>(`${BANK}/documents/:document_id`, async (request, reply) => {
    const document = new Document()
    const texts: string[] = []
    const kinds: Record<string, number> = {}
    for await (const memory of memoriesOf(clientFor(request, reply, options), request.params)) {
      document.add(memory)
      if (document.length > MAX_TEXT_CHARACTERS) throw tooLarge()
      texts.push(memory.text)
      kinds[kindOf(memory)] = (kinds[kindOf(memory)] ?? 0) + 1
    }
    if (texts.length === 0) throw noDocument()
    return { ...document.summary, original_text: texts.reverse().join('\n\n'), nodes_by_fact_type: kinds }
  })

  app.delete<Place>(`${BANK}/documents/:document_id`, async (request, reply) => {
    const { bank_id: bankId, document_id: id } = request.params
    const { deleted_count: count } = await clientFor(request, reply, options).forget({
      bank_id: bankId, document_ids: [id],
    })
    if (count === 0) throw noDocument()
    return { success: true, message: `Document '${id}' deleted`, document_id: id, memory_units_deleted: count }
  })
}

/** Collects a document from its memories, newest first. */
class Document {
  length = 0
  #newest: Memory | undefined
  #oldest: Memory | undefined
  #count = 0
  readonly #tags = new Set<string>()

  add (memory: Memory): void {
    this.#newest ??= memory
    this.#oldest = memory
    this.#count++
    this.length += memory.text.length
    for (const tag of memory.tags) this.#tags.add(tag)
  }

  get summary () {
    return {
      id: this.#newest?.document_id ?? '',
      bank_id: this.#newest?.bank_id ?? '',
      content_hash: null,
      created_at: this.#oldest?.retained_at ?? '',
      updated_at: this.#newest?.retained_at ?? '',
      memory_unit_count: this.#count,
      tags: [...this.#tags].sort(),
    }
  }
}

const noDocument = () => notFound('No such document')
const tooLarge = () => new Refusal(413, 'answer_too_large', `The document has more than ${MAX_TEXT_CHARACTERS} ` +
  'characters; GET /v1/banks/{bank_id}/memories gives its memories in pages')
