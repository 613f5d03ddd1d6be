import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type, type Static } from 'typebox'
import { disconnectSignal } from '../../http/disconnect-signal.js'
import { invalidField } from '../../lib/errors/service-error.js'
import type { RequestContext } from '../../lib/identity/context.js'
import { MetadataSchema, strict, type RetainItem } from '../../lib/memory/schemas.js'
import { idempotencyOf } from '../idempotency.js'
import { forgetAll, memoriesOf, type Part } from './documents.js'
import { CONTEXT_KEY } from './facts.js'
import { Tags } from './filters.js'
import { readInstant } from './instants.js'
import { BANK, BankParams, routeConfig, unsupported, type HindsightOptions } from './route.js'

/** The `timestamp` of what happened at no time. */
const NO_TIME = 'unset'

const Item = strict({
  content: Type.String(),
  timestamp: Type.Optional(Type.String()),
  context: Type.Optional(Type.String()),
  metadata: Type.Optional(MetadataSchema),
  document_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  tags: Type.Optional(Tags),
  update_mode: Type.Optional(Type.Enum(['replace', 'append'])),
  entities: Type.Optional(Type.Array(Type.Unknown())),
  strategy: Type.Optional(Type.String()),
  // It says how observations are made, of which there are none.
  observation_scopes: Type.Optional(Type.Unknown()),
})

const RetainBody = strict({
  items: Type.Array(Item, { minItems: 1, maxItems: 1000 }),
  async: Type.Optional(Type.Boolean()),
  document_tags: Type.Optional(Tags),
  operation_id: Type.Optional(Type.String({ format: 'uuid' })),
})

const RetainResult = Type.Object({
  success: Type.Boolean(),
  bank_id: Type.String(),
  items_count: Type.Integer(),
  async: Type.Boolean(),
})

type ItemFields = Static<typeof Item>

export const retainRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  app.post(`${BANK}/memories`, {
    config: { ...routeConfig(options, 'write'), bodyBound: 'bounds.batch_bytes' },
    bodyLimit: app.bounds.batch_bytes,
    schema: { hide: true, params: BankParams, body: RetainBody, response: { 200: RetainResult } },
  }, async (request, reply) => {
    const { params: { bank_id: bankId }, body, context } = request
    const items = body.items.map((item, index) => retainItem(item, body.document_tags ?? [], `items[${index}].`))
    const replaced = await replacedBy(app, bankId, replacedDocuments(body.items), context)
    // A client names an operation to have it done once, however often it is sent.
    const key = body.async === true ? body.operation_id : undefined
    const idempotency = await idempotencyOf(request, reply, key)
    let isReplay = false
    const repeated = idempotency && {
      ...idempotency,
      onReplay: () => {
        isReplay = true
        idempotency.onReplay?.()
      },
    }
    const { results } = await app.withRowBudget(reply, async (budget) => (
      await app.memory.retainBatch({ bank_id: bankId, items }, context, repeated, disconnectSignal(reply), budget)
    ))
    const own = new Set(results.map(({ memory_id: id }) => id))
    const others = replaced.filter(({ id }) => !own.has(id))
    const outdated = isReplay ? olderThan(newestOf(replaced.filter(({ id }) => own.has(id))), others) : others
    await forgetAll(app, bankId, outdated.map(({ id }) => id), context)
    // All is done by now, also where the client would wait for it later.
    return { success: true, bank_id: bankId, items_count: items.length, async: false }
  })
}

/**
 * What a repeat still has to forget, when the first request came no further than the store: only what is older than its
 * memories, because others were retained since. None of them stands when the document was replaced again.
 */
function olderThan (newest: string | undefined, others: readonly Part[]): Part[] {
  return newest === undefined ? [] : others.filter(({ retainedAt }) => retainedAt < newest)
}

function newestOf (parts: readonly Part[]): string | undefined {
  return parts.map(({ retainedAt }) => retainedAt).sort().at(-1)
}

function retainItem (item: ItemFields, documentTags: readonly string[], at: string): RetainItem {
  const { content, timestamp, document_id: documentId } = item
  if (item.entities !== undefined && item.entities.length > 0) {
    throw unsupported(`${at}entities`, 'no entities are kept here; name them in the content, in tags or in metadata')
  }
  if (item.strategy !== undefined) {
    throw unsupported(`${at}strategy`, 'content is stored as it is here, so there are no strategies of extraction')
  }
  if (item.update_mode !== undefined && documentId === undefined) throw invalidField(`${at}update_mode`, 'needs document_id')
  const tags = [...new Set([...item.tags ?? [], ...documentTags])]
  const metadata = metadataOf(item, at)
  return {
    content,
    ...(tags.length > 0 && { tags }),
    ...(metadata !== undefined && { metadata }),
    ...(documentId !== undefined && { document_id: documentId }),
    ...(timestamp !== undefined && timestamp !== NO_TIME && { occurred_at: readInstant(`${at}timestamp`, timestamp) }),
  }
}

function metadataOf ({ context, metadata }: ItemFields, at: string): ItemFields['metadata'] {
  if (context === undefined || context === '') return metadata
  if (metadata !== undefined && Object.hasOwn(metadata, CONTEXT_KEY) && metadata[CONTEXT_KEY] !== context) {
    throw invalidField(`${at}context`, `is kept as metadata.${CONTEXT_KEY}, which has another value`)
  }
  return { ...metadata, [CONTEXT_KEY]: context }
}

/** The documents that items take the place of: those that they name, unless they append. */
function replacedDocuments (items: readonly ItemFields[]): string[] {
  const modes = new Map<string, NonNullable<ItemFields['update_mode']>>()
  for (const [index, { document_id: id, update_mode: mode = 'replace' }] of items.entries()) {
    if (id === undefined) continue
    if ((modes.get(id) ?? mode) !== mode) {
      throw invalidField(`items[${index}].update_mode`, 'must be the same for all items of a document')
    }
    modes.set(id, mode)
  }
  return [...modes].filter(([, mode]) => mode === 'replace').map(([id]) => id)
}

/**
 * The memories that stand in documents which are replaced. They are forgotten when the new ones are stored, so that a
 * fault in between loses nothing; a repeat, or the next retain of the document, goes on then.
 * @throws ServiceError access_denied for a caller who may not forget them
 */
async function replacedBy (
  app: FastifyInstance, bankId: string, documents: readonly string[], context: RequestContext,
): Promise<Part[]> {
  if (documents.length === 0) return []
  const parts = await memoriesOf(app, bankId, documents, context)
  if (parts.length > 0) await app.memory.admit(context, 'forget', [bankId])
  return parts
}
