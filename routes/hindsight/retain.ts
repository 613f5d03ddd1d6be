import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from 'typebox'
import { disconnectSignal } from '../../http/disconnect-signal.js'
import { invalidField } from '../../lib/errors/service-error.js'
import { MAX_BATCH_ITEMS, MAX_TAGS, MetadataSchema, strict, type RetainItem } from '../../lib/memory/schemas.js'
import { idempotencyOf } from '../idempotency.js'
import { CONTEXT_KEY } from './facts.js'
import { Tags } from './filters.js'
import { readInstant } from './instants.js'
import { BANK, BankParams, routeConfig, unsupported, type HindsightOptions } from './route.js'
import { withSentNames, type SentNames } from './sent-names.js'
import { withoutUndefined } from '../../lib/validation/members.js'

/** The `timestamp` of memories without a time. */
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
  // It configures observations, which the gateway does not make.
  observation_scopes: Type.Optional(Type.Unknown()),
})

const RetainBody = strict({
  items: Type.Array(Item, { minItems: 1, maxItems: MAX_BATCH_ITEMS }),
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
    const documents = replacedDocuments(body.items)
    // An operation id makes repeats of the request idempotent.
    const idempotency = await idempotencyOf(request, reply, body.async === true ? body.operation_id : undefined)
    const batch = { bank_id: bankId, items }
    const signal = disconnectSignal(reply)
    await withSentNames(() => sentNames(body), async () => {
      const options = { idempotency, signal }
      return documents.length === 0
        ? await app.memory.retainBatch(batch, context, options)
        : await app.memory.replaceDocuments({ ...batch, document_ids: documents }, context, options)
    })
    // The work is done already, also when the client expects to wait for it.
    return { success: true, bank_id: bankId, items_count: items.length, async: false }
  })
}

function retainItem (item: ItemFields, documentTags: readonly string[], at: string): RetainItem {
  const { content, timestamp, document_id: documentId } = item
  if (item.entities !== undefined && item.entities.length > 0) {
    throw unsupported(`${at}entities`, 'no entities are kept here; name them in the content, in tags or in metadata')
  }
  if (item.strategy !== undefined) {
    throw unsupported(`${at}strategy`, 'content is stored as it is here, so there are no strategies of extraction')
  }
  if (item.update_mode !== undefined && documentId === undefined) {
    throw invalidField(`${at}update_mode`, 'needs document_id')
  }
  const tags = [...new Set([...item.tags ?? [], ...documentTags])]
  if (tags.length > MAX_TAGS) {
    throw invalidField(`${at}tags`, `must be at most ${MAX_TAGS}, together with document_tags`)
  }
  const metadata = metadataOf(item, at)
  const isDated = timestamp !== undefined && timestamp !== NO_TIME
  return withoutUndefined({
    content,
    tags: tags.length > 0 ? tags : undefined,
    metadata,
    document_id: documentId,
    occurred_at: isDated ? readInstant(`${at}timestamp`, timestamp) : undefined,
  })
}

function metadataOf ({ context, metadata }: ItemFields, at: string): ItemFields['metadata'] {
  if (context === undefined || context === '') return metadata
  if (metadata !== undefined && Object.hasOwn(metadata, CONTEXT_KEY) && metadata[CONTEXT_KEY] !== context) {
    throw invalidField(`${at}context`, `is kept as metadata.${CONTEXT_KEY}, which has another value`)
  }
  return { ...metadata, [CONTEXT_KEY]: context }
}

/** Metadata and tags of items that have none of their own are made from other fields. */
function sentNames ({ items, document_tags: documentTags = [] }: Static<typeof RetainBody>): SentNames {
  const names = new Map<string, string>()
  for (const [index, { context, metadata, tags }] of items.entries()) {
    const at = `items[${index}].`
    if (metadata === undefined && context !== undefined) names.set(`${at}metadata`, `${at}context`)
    if (tags === undefined && documentTags.length > 0) names.set(`${at}tags`, 'document_tags')
  }
  return names
}

/** The documents that the items replace: those that they name, unless they append. */
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
